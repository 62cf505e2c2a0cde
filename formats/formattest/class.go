package formattest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

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

// Classes gives the classes of the one mapping in in, by name, "" for its facts; the last of those with one name.
func Classes(t testing.TB, f *formats.Format, in *formats.Input) map[string]*symbol.Class {
	t.Helper()
	obj := Open(t, f, in)
	if len(obj.Artifacts) != 1 {
		t.Fatalf("%s: %d artifacts", in.Name, len(obj.Artifacts))
	}
	classes := map[string]*symbol.Class{}
	for part := range obj.Artifacts[0].Parts {
		_, err := explode(context.Background(), f, &obj.Artifacts[0], part, formats.Takers{Class: func(c *symbol.Class) error {
			classes[strings.Clone(c.Name)] = c.Clone()
			return nil
		}})
		if err != nil {
			t.Fatalf("%s: part %d: %v", in.Name, part, err)
		}
	}
	return classes
}
