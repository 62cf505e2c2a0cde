package row

// Standing says whose a source is, and how far it is trusted beside the sources of others. Every
// source without an owner belongs to one owner: "".
type Standing struct {
	Owner string `json:"owner,omitempty"`
	Rank  int    `json:"rank,omitempty"` // the higher, the more it is trusted
}

// MayReplace reports whether a source of standing s may replace what one of standing o brought.
func (s Standing) MayReplace(o Standing) bool { return s.Owner == o.Owner || s.Rank > o.Rank }

// Claimed is the standing that a source needs to replace l: that of l's own source, unless l only
// adds to an artifact of somebody else.
func (l *Loaded) Claimed() Standing {
	if l.Claim != nil {
		return *l.Claim
	}
	return l.Source.Standing
}
