package journal

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
)

// Fate is what became of a file.
type Fate uint8

// The fates of a file.
const (
	Counts  Fate = iota // its rows count, as far as Live names their loads
	Retired             // it counts no more, and stays for readers
	Deleted             // it may be gone
)

// Filed is the latest that entries say of a file.
type Filed struct {
	File
	Fate   Fate
	At     time.Time // it was retired
	Number uint64    // of the entry that says so
}

// Naming is the latest that entries say of an artifact.
type Naming struct {
	Live
	Gone   bool   // the lake names it no more
	Number uint64 // of the entry that says so
}

// Changes are what a run of entries says in the end of each file and artifact that it speaks of.
type Changes struct {
	Files map[string]Filed // by path
	Live  map[symbol.ID]Naming
}

// NewChanges returns no changes.
func NewChanges() *Changes {
	return &Changes{Files: map[string]Filed{}, Live: map[symbol.ID]Naming{}}
}

// Add adds the entry after the last.
func (c *Changes) Add(e *Entry) {
	for _, f := range e.Files {
		c.Files[f.Path] = Filed{File: f, Number: e.Number}
	}
	for _, p := range e.Retired {
		f := c.Files[p]
		f.Path = p
		f.Fate, f.At, f.Number = Retired, e.Made, e.Number
		c.Files[p] = f
	}
	for _, p := range e.Deleted {
		c.Files[p] = Filed{File: File{Path: p}, Fate: Deleted, Number: e.Number}
	}
	for _, n := range e.Live {
		c.Live[n.Artifact] = Naming{Live: n.Live, Number: e.Number}
	}
	for _, id := range e.Gone {
		c.Live[symbol.ID(id)] = Naming{Gone: true, Number: e.Number}
	}
}

// Merge adds the changes of the entries after the last.
func (c *Changes) Merge(later *Changes) {
	maps.Copy(c.Live, later.Live)
	for p, f := range later.Files {
		if was, ok := c.Files[p]; ok && f.Table == "" { // the entry that retired it has not told the rest
			fate, at, n := f.Fate, f.At, f.Number
			f = was
			f.Fate, f.At, f.Number = fate, at, n
		}
		c.Files[p] = f
	}
}

// Rows is the number of files and artifacts that the changes speak of.
func (c *Changes) Rows() int { return len(c.Files) + len(c.Live) }

// settle leaves out files and artifacts that are gone: no changes come before these.
func (c *Changes) settle() {
	maps.DeleteFunc(c.Files, func(_ string, f Filed) bool { return f.Fate == Deleted })
	maps.DeleteFunc(c.Live, func(_ symbol.ID, n Naming) bool { return n.Gone })
}

// State is all that a log says at an entry: files that count or are retired, and the artifacts that the lake names.
type State struct {
	Tail
	Made      time.Time // of the entry
	Forgotten uint64    // entries up to this number may be gone
	// Sealed counts the objects of the log from its last checkpoint on by the version of their master key. 0: plain.
	Sealed map[uint32]int
	Changes
}

// newState returns the state before the first entry.
func newState() *State { return &State{Changes: *NewChanges(), Sealed: map[uint32]int{}} }

// Apply adds the entry after the last to the state. It costs what the entry changes.
func (s *State) Apply(e *Read) {
	s.Tail, s.Made = s.To(e), e.Made
	s.Forgotten = max(s.Forgotten, e.Forgotten)
	s.Sealed[e.Key]++
	s.Add(e.Entry)
	for _, p := range e.Deleted {
		delete(s.Files, p)
	}
	for _, id := range e.Gone {
		delete(s.Changes.Live, symbol.ID(id))
	}
}

// Clone returns a state that later entries do not change.
func (s *State) Clone() *State {
	c := *s
	c.Files, c.Live, c.Sealed = maps.Clone(s.Files), maps.Clone(s.Live), maps.Clone(s.Sealed)
	return &c
}

// Find returns a file that counts.
func (c *Changes) Find(path string) (File, bool) {
	f, ok := c.Files[path]
	return f.File, ok && f.Fate == Counts
}

// Counting returns the files that count, by path.
func (c *Changes) Counting() []Filed { return c.files(Counts) }

// Retiring returns the files that are retired and not deleted, by path.
func (c *Changes) Retiring() []Filed { return c.files(Retired) }

func (c *Changes) files(fate Fate) (all []Filed) {
	for _, f := range c.Files {
		if f.Fate == fate {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b Filed) int { return strings.Compare(a.Path, b.Path) })
	return all
}
