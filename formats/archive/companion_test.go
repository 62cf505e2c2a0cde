package archive_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// What a member asks for is looked up beside it, then by the tail of its
// path, then outside the archive.
func TestCompanions(t *testing.T) {
	members := []member{
		{"lib/arm64/libx.so", "asks", 8}, {"lib/arm64/libx.dwo", "beside", 8}, {"lib/arm/libx.dwo", "other folder", 0},
		{"obj/a/foo.dwo", "a's foo", 8}, {"obj/b/foo.dwo", "b's foo", 8},
		{"lib/arm64/.debug/libx.so", "its debug twin", 0}, {"lib/arm64/libx.so.dbg", strings.Repeat("large", 100_000), 8},
	}
	body := map[string]string{}
	for _, m := range members {
		body[m.name] = m.body
	}
	for name, b := range map[string][]byte{"o.zip": makeZip(t, members...), "o.tar": makeTar(t, members...), "o.a": makeAr(members...)} {
		both(t, name, b, func(t *testing.T, in *formats.Input) {
			var outside []formats.Ref
			in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
				outside = append(outside, want)
				return nil, formats.ErrNoCompanion
			}
			ask := func(m *formats.Input, want, found string) {
				t.Helper()
				c, err := m.Companion(t.Context(), formats.Ref{Name: want})
				if found == "" {
					if !errors.Is(err, formats.ErrNoCompanion) || len(outside) == 0 || outside[len(outside)-1].Name != want {
						t.Errorf("%q: %v, %v", want, c, err)
					}
					return
				}
				if err != nil {
					t.Errorf("%q: %v", want, err)
					return
				}
				got, err := io.ReadAll(io.NewSectionReader(c.Bytes, 0, c.Size))
				if err != nil || string(got) != body[found] || c.Name != name+"!"+found || in.Mapped != nil && string(c.Mapped) != body[found] {
					t.Errorf("%q: %s, %d bytes, %v", want, c.Name, len(got), err)
				}
				if c.Release != nil {
					if err := c.Release(); err != nil {
						t.Error(err)
					}
				}
			}
			_, obj, err := formats.Open(t.Context(), list, in)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			err = obj.Members(t.Context(), func(m *formats.Input) error {
				n++
				if !strings.HasSuffix(m.Name, "!lib/arm64/libx.so") {
					return nil
				}
				ask(m, "libx.dwo", "lib/arm64/libx.dwo")
				ask(m, "../arm/libx.dwo", "lib/arm/libx.dwo")
				ask(m, "/build/obj/b/foo.dwo", "obj/b/foo.dwo")
				ask(m, "C:\\build\\obj\\b\\foo.dwo", "obj/b/foo.dwo")
				ask(m, "foo.dwo", "obj/a/foo.dwo")             // the first
				ask(m, "libx.so", "lib/arm64/.debug/libx.so")  // not itself
				ask(m, "libx.so.dbg", "lib/arm64/libx.so.dbg") // whole, though larger than the head
				ask(m, "../../../../etc/passwd", "")           // outside
				ask(m, "none", "")
				ask(m, "../arm/", "lib/arm/libx.dwo") // any file of a folder
				ask(m, ".debug/", "lib/arm64/.debug/libx.so")
				ask(m, "../../lib/", "") // has folders alone
				_, err := m.Companion(t.Context(), formats.Ref{ID: "build-id:00"})
				if !errors.Is(err, formats.ErrNoCompanion) || outside[len(outside)-1].ID != "build-id:00" {
					t.Errorf("by id: %v", err)
				}
				return nil
			})
			if err != nil || n != len(members) {
				t.Errorf("%d members, %v", n, err)
			}
		})
	}
}

// A member of an inner archive finds what lies in the outer one; a damaged
// companion is an error, not an absence.
func TestCompanionsAcross(t *testing.T) {
	inner := makeTar(t, member{"libx.so", "asks", 0}, member{"bad.dwo", "in the tar", 0})
	b := makeZip(t, member{"in/o.tgz", string(makeGzip(t, inner)), 8}, member{"out.dwo", "in the zip", 8}, member{"BROKEN.dwo", strings.Repeat("text ", 1000), 8})
	in := formattest.InputOf("o.zip", flipAt(t, b, "BROKEN.dwo", 20), formats.Limits{})
	asked := false
	var dive func(in *formats.Input) error
	dive = func(in *formats.Input) error {
		_, obj, err := formats.Open(t.Context(), list, in)
		if err == nil && obj != nil && obj.Members != nil {
			return obj.Members(t.Context(), dive)
		}
		if strings.HasSuffix(in.Name, "!libx.so") {
			asked = true
			for want, name := range map[string]string{"out.dwo": "o.zip!out.dwo", "bad.dwo": "o.zip!in/o.tgz!o.tar!bad.dwo"} {
				c, err := in.Companion(t.Context(), formats.Ref{Name: want})
				if err != nil || c.Name != name {
					t.Errorf("%s: %v, %v", want, c, err)
				}
			}
			if _, err := in.Companion(t.Context(), formats.Ref{Name: "BROKEN.dwo"}); !errors.Is(err, formats.ErrCorrupt) {
				t.Errorf("damaged: %v", err)
			}
		}
		return nil
	}
	if err := dive(in); err != nil || !asked {
		t.Error(err, asked)
	}
}
