package formattest

import (
	"context"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

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
