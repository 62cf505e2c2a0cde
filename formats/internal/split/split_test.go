package split

import (
	"context"
	"fmt"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/dwarf"
)

// TestManySplit: of an object with many units and none of their files,
// few names are asked for, and all ids.
func TestManySplit(t *testing.T) {
	var skeletons []*dwarf.Skeleton
	for i := range 100 {
		skeletons = append(skeletons, &dwarf.Skeleton{ID: uint64(i + 1), HasID: true, Name: fmt.Sprintf("%d.dwo", i)})
	}
	names, ids := map[string]bool{}, map[string]bool{}
	in := formattest.InputOf("libx.so.debug", nil, formats.Limits{})
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		if want.Name != "" {
			names[want.Name] = true
		} else if !want.Optional {
			ids[want.ID] = true
		}
		return nil, formats.ErrNoCompanion
	}
	s := &Units{In: in}
	if err := s.look(t.Context(), skeletons); err != nil {
		t.Fatal(err)
	}
	for _, u := range skeletons {
		if p, _, err := s.alone(t.Context(), u, s.byName); p != nil || err != nil {
			t.Fatal(p, err)
		}
	}
	if len(ids) != len(skeletons) || len(names) != probes+2 || !names["libx.so.dwp"] || !names["libx.so.debug.dwp"] {
		t.Errorf("asked for %d names and %d ids", len(names), len(ids))
	}
}
