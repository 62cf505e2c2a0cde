package sweep

import (
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// Script passes the runs of a script on that come in order and lie apart: there is nothing to settle.
type Script struct {
	// Emit gets the runs; its error comes back unchanged.
	Emit   func(*symbol.Script) error
	Counts Counts

	strings int    // of the first run
	end     uint64 // of the run before
}

// Add passes a run on. It refuses a malformed run, and a run that does not follow the runs before, as
// corrupt.
func (s *Script) Add(r *symbol.Script) error {
	if s.Counts.Runs == 0 {
		s.strings = len(r.Strings)
	}
	if r.Rank != symbol.RankScript || len(r.Ranges) == 0 || len(r.Marks) != len(r.Ranges) || len(r.Strings) != s.strings {
		return s.refuse("ranges of a script, with the strings of the first run")
	}
	n := uint32(s.strings)
	for i := range r.Scopes {
		c := &r.Scopes[i]
		if c.Parent < -1 || int(c.Parent) >= i || c.Function >= n || c.Call.File >= n {
			return s.refuse("scope %d after its parent %d, and its strings among %d", i, c.Parent, n)
		}
	}
	at := max(r.Ranges[0].Start, s.end)
	begin, withLine, withInline := at, uint64(0), uint64(0)
	for i := range r.Ranges {
		g := &r.Ranges[i]
		if g.Start != at || g.End <= at {
			return s.refuse("range %#x-%#x to begin at %#x", g.Start, g.End, at)
		}
		if g.Scope < 0 || int(g.Scope) >= len(r.Scopes) || g.At.File >= n || r.Marks[i].Name >= n || r.Marks[i].Compiled >= n {
			return s.refuse("scope %d of range %#x among %d, file %d, names %d and %d among %d",
				g.Scope, g.Start, len(r.Scopes), g.At.File, r.Marks[i].Name, r.Marks[i].Compiled, n)
		}
		if g.At.Line != 0 {
			withLine += g.End - at
		}
		if r.Scopes[g.Scope].Parent >= 0 {
			withInline += g.End - at
		}
		at = g.End
	}
	s.end = at
	s.Counts.Runs++
	s.Counts.Ranges += uint64(len(r.Ranges))
	s.Counts.Covered += at - begin
	s.Counts.WithLine += withLine
	s.Counts.WithInline += withInline
	return s.Emit(r)
}

func (s *Script) refuse(want string, args ...any) error {
	return &formats.Error{Format: "run", Section: "script", Offset: int64(s.Counts.Runs), Want: fmt.Sprintf(want, args...), Err: formats.ErrCorrupt}
}
