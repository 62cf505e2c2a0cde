package formattest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// malformedError is a run that breaks the contract: never the object's fault.
type malformedError struct{ err error }

func (e *malformedError) Error() string { return "malformed run: " + e.err.Error() }

// checkKind says how a breaks what formats.Artifact promises of its kind.
func checkKind(a *formats.Artifact) error {
	script, classes := a.ExplodeScript != nil, a.ExplodeClasses != nil
	switch {
	case script != (a.Kind == symbol.SourceMap) || classes != a.Kind.HasClasses() || (a.Explode != nil) == (script || classes):
		return fmt.Errorf("artifact of kind %s with Explode %t, ExplodeScript %t, ExplodeClasses %t", a.Kind, a.Explode != nil, script, classes)
	case a.Ordered && !script:
		return fmt.Errorf("no script is in order")
	}
	return nil
}

// checker checks the runs of one part.
type checker struct {
	runs    int
	own     table
	tables  map[any]*table // that other parts have too; nil: not checked
	ordered bool           // formats.Artifact.Ordered
	end     uint64         // of the last range
	names   lasting        // nil: not checked
}

// lasting is strings as runs had them, and their clones.
type lasting map[string]string

func (l lasting) note(s string) {
	if _, ok := l[s]; !ok && l != nil {
		l[s] = strings.Clone(s)
	}
}

// check names a string that has changed.
func (l lasting) check() error {
	for is, was := range l {
		if is != was {
			return fmt.Errorf("string %q of an artifact whose strings last is %q", was, is)
		}
	}
	return nil
}

// table holds the facts about a string table.
type table struct {
	strings int      // how many there were
	seen    []string // clones of the first few, which must not change
	at      *string  // where the table is
}

// checkedStrings of each table are remembered, to see that their indices keep
// their meaning.
const checkedStrings = 4096

// check says how r breaks what symbol.Run and the limits promise.
func (c *checker) check(r *symbol.Run, lim *formats.Limits) error {
	switch {
	case r.Rank == 0:
		return fmt.Errorf("no rank")
	case r.Rank == symbol.RankScript:
		return fmt.Errorf("code of rank %d", r.Rank)
	}
	return c.checkRun(r, lim)
}

// checkScript says how s breaks what symbol.Script and the limits promise.
func (c *checker) checkScript(s *symbol.Script, lim *formats.Limits) error {
	switch {
	case s.Rank != symbol.RankScript:
		return fmt.Errorf("a script of rank %d", s.Rank)
	case len(s.Marks) != len(s.Ranges):
		return fmt.Errorf("%d marks of %d ranges", len(s.Marks), len(s.Ranges))
	}
	for _, m := range s.Marks {
		if int(m.Name) >= len(s.Strings) {
			return fmt.Errorf("name %d of %d strings", m.Name, len(s.Strings))
		}
	}
	return c.checkRun(&s.Run, lim)
}

func (c *checker) checkRun(r *symbol.Run, lim *formats.Limits) error {
	c.runs++
	switch {
	case len(r.Ranges) == 0:
		return fmt.Errorf("no ranges")
	case len(r.Ranges) > lim.RunRanges:
		return fmt.Errorf("%d ranges, limit %d", len(r.Ranges), lim.RunRanges)
	case len(r.Strings) == 0 || r.Strings[0] != "":
		return fmt.Errorf("string 0 is not empty")
	}
	if c.ordered {
		if err := c.checkOrder(r); err != nil {
			return err
		}
	}
	if err := c.checkStrings(r); err != nil {
		return err
	}
	if err := c.checkScopes(r, lim); err != nil {
		return err
	}
	return checkRanges(r)
}

// checkScopes checks what scopes refer to, and how deep they are.
func (c *checker) checkScopes(r *symbol.Run, lim *formats.Limits) error {
	depth := make([]int, len(r.Scopes))
	for i := range r.Scopes {
		s := &r.Scopes[i]
		switch {
		case s.Parent < -1 || int(s.Parent) >= i:
			return fmt.Errorf("scope %d has parent %d", i, s.Parent)
		case int(s.Function) >= len(r.Strings):
			return fmt.Errorf("function %d of %d strings", s.Function, len(r.Strings))
		case int64(len(r.Strings[s.Function])) > lim.NameBytes:
			return fmt.Errorf("a function name of %d bytes, limit %d", len(r.Strings[s.Function]), lim.NameBytes)
		case s.Parent < 0 && s.Call != symbol.Site{}:
			return fmt.Errorf("scope %d is outermost and has a call", i)
		}
		c.names.note(r.Strings[s.Function])
		if s.Parent >= 0 {
			depth[i] = depth[s.Parent] + 1
		}
		if depth[i] > lim.InlineDepth {
			return fmt.Errorf("scope %d is %d deep, limit %d", i, depth[i], lim.InlineDepth)
		}
		if err := checkSite(r, s.Call); err != nil {
			return err
		}
	}
	return nil
}

// checkRanges checks that ranges touch, and what they refer to.
func checkRanges(r *symbol.Run) error {
	for i := range r.Ranges {
		g := &r.Ranges[i]
		switch {
		case g.Start >= g.End:
			return fmt.Errorf("range %d is [%#x, %#x)", i, g.Start, g.End)
		case i > 0 && r.Ranges[i-1].End != g.Start:
			return fmt.Errorf("range %d starts at %#x, the one before ends at %#x", i, g.Start, r.Ranges[i-1].End)
		case g.Scope < 0 || int(g.Scope) >= len(r.Scopes):
			return fmt.Errorf("range %d has scope %d of %d", i, g.Scope, len(r.Scopes))
		}
		if err := checkSite(r, g.At); err != nil {
			return err
		}
	}
	return nil
}

func checkSite(r *symbol.Run, s symbol.Site) error {
	if int(s.File) >= len(r.Strings) {
		return fmt.Errorf("file %d of %d strings", s.File, len(r.Strings))
	}
	return nil
}

// checkOrder: what promises to be in order is, and has all its strings from the first.
func (c *checker) checkOrder(r *symbol.Run) error {
	if r.Ranges[0].Start < c.end {
		return fmt.Errorf("range %#x after one that ends at %#x", r.Ranges[0].Start, c.end)
	}
	c.end = r.Ranges[len(r.Ranges)-1].End
	if c.runs > 1 {
		if len(r.Strings) != c.own.strings {
			return fmt.Errorf("%d strings after %d", len(r.Strings), c.own.strings)
		}
		return nil
	}
	seen := make(map[string]bool, len(r.Strings))
	for _, s := range r.Strings {
		if seen[s] {
			return fmt.Errorf("string %q stands there twice", s)
		}
		seen[s] = true
	}
	return nil
}

// checkStrings: tables only grow, and an index keeps its meaning.
func (c *checker) checkStrings(r *symbol.Run) error {
	t := &c.own
	if r.Table != nil && c.tables != nil {
		if t = c.tables[r.Table]; t == nil {
			t = &table{}
			c.tables[r.Table] = t
		}
	}
	if len(r.Strings) < t.strings {
		return fmt.Errorf("%d strings after %d", len(r.Strings), t.strings)
	}
	// All are compared when the table has moved, one after the other when not.
	from, to := 0, len(t.seen)
	if at := &r.Strings[0]; at == t.at && to > 0 {
		from = c.runs % to
		to = from + 1
	} else {
		t.at = at
	}
	for i := from; i < to; i++ {
		if s := t.seen[i]; r.Strings[i] != s {
			return fmt.Errorf("string %d was %q and is %q", i, s, r.Strings[i])
		}
	}
	for i := len(t.seen); i < min(len(r.Strings), checkedStrings); i++ {
		t.seen = append(t.seen, strings.Clone(r.Strings[i]))
	}
	t.strings = len(r.Strings)
	return nil
}

// checkClass says how c breaks what symbol.Class and the limits promise.
func checkClass(c *symbol.Class, lim *formats.Limits) error {
	byName := func(a, b symbol.Member) int { return strings.Compare(a.Name, b.Name) }
	byClass := func(a, b symbol.ClassFile) int { return strings.Compare(a.Class, b.Class) }
	switch {
	case (c.Facts != nil) != (c.Name == ""):
		return fmt.Errorf("facts and a class in one")
	case len(c.Members) > lim.ClassLines:
		return fmt.Errorf("%d members, limit %d", len(c.Members), lim.ClassLines)
	case !slices.IsSortedFunc(c.Members, byName):
		return fmt.Errorf("members are not sorted by name")
	case !slices.IsSortedFunc(c.Files, byClass):
		return fmt.Errorf("files are not sorted by class")
	}
	if c.Facts != nil && !slices.IsSorted(c.Facts.Packages) {
		return fmt.Errorf("packages are not sorted")
	}
	for i := range c.Members {
		m := &c.Members[i]
		if m.Method == nil {
			return fmt.Errorf("member %d is about nothing", i)
		}
		for _, l := range []symbol.Lines{m.Lines, m.From} {
			if l.Count > 2 || l.Count == 1 && l.First != l.Last || l.Count == 0 && l != (symbol.Lines{}) {
				return fmt.Errorf("member %d has lines %+v", i, l)
			}
		}
		for _, rule := range m.Rules {
			if rule.Kind == 0 {
				return fmt.Errorf("member %d has a rule without a kind", i)
			}
		}
	}
	return nil
}
