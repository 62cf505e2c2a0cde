package row

import (
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Loaded is one complete load of an artifact.
type Loaded struct {
	Load       sinks.Load
	Artifact   symbol.Artifact
	KeyVersion uint32 // of the store key that wraps the data key
	WrappedKey []byte // the sealed data key; nil: destroyed
	Format     string // name of the format that read it
	Parser     int    // its version
	Rank       symbol.Rank
	Fence      Fence
	Rows       uint64 // of ranges or classes
	Ranges     uint64 // or classes
	Members    uint64 // of the classes
	TextRows   uint64 // that hold texts of sources, without their directory; 0: there is none either
	TextsLeft  uint64 // texts that came and are not served
	// Unwind says which rows of call frame information there are, with the number of their rules; nil: there are none.
	Unwind       Fence
	UnwindRanges uint64 // of call frame information
	UnwindBytes  uint64 // keys and values of their rows and of the table of rules; Bytes has them, too
	Bytes        uint64 // keys and values of all rows, the dictionary too
	Dropped      Dropped
	Quality      symbol.Quality
	Digest       [32]byte // over the content alone: equal for equal content under any keys, load and time
	Source       Source
	// Claim is the standing that replacing this load takes, where it differs from Source's: the load adds to an artifact
	// that belongs to somebody else, or that somebody else confirmed. nil: Source's.
	Claim  *Standing
	Layout symbol.Layout
	At     time.Time
	By     WorkerID // the account that tells of it
	Copied bool     // from another store, without the ledger's entry of its object
}

// Dropped counts the ranges that no row could hold, and where the first was.
type Dropped struct {
	Ranges uint64 `json:"ranges"`
	First  uint64 `json:"first"` // position
}

// Source is the object that a load was read from.
type Source struct {
	URL    string `json:"url"`
	Member string `json:"member,omitempty"`
	ETag   string `json:"etag,omitempty"`
	Size   int64  `json:"size"`
	Standing
}

// Standing says to which owner a source belongs, and how far it is trusted beside other sources. Every
// source without an owner belongs to one owner: "".
type Standing struct {
	Owner string `json:"owner,omitempty"`
	Rank  int    `json:"rank,omitempty"` // the higher, the more it is trusted
}

// MayReplace reports whether a source of standing s may replace what one of standing o brought.
func (s Standing) MayReplace(o Standing) bool { return s.Owner == o.Owner || s.Rank > o.Rank }

// Claimed is the standing that a source needs to replace l: the standing of l's own source, unless l
// only adds to an artifact of another owner.
func (l *Loaded) Claimed() Standing {
	if l.Claim != nil {
		return *l.Claim
	}
	return l.Source.Standing
}

// UnwindRows is the number of rows of call frame information, without the table of their rules.
func (l *Loaded) UnwindRows() (n uint64) {
	for _, b := range l.Unwind {
		if b < 0x80 { // the last byte of a number
			n++
		}
	}
	return max(n, 1) - 1
}
