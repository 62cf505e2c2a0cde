package formattest

import (
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// Aliases are the symbols at each address of an image.
type Aliases map[uint64][]string

// Same reports whether two names belong to one address.
func (a Aliases) Same(x, y string) bool {
	for _, at := range a {
		if slices.Contains(at, x) && slices.Contains(at, y) {
			return true
		}
	}
	return false
}

// Renamed gives the reason why a native image's frames differ from an oracle's
// in names alone, "" where they differ in anything else or without a reason.
// more, which may be nil, knows further reasons for the outermost function.
func (a Aliases) Renamed(want, got []symbol.Frame, more func(want, got string) string) string {
	if len(want) != len(got) {
		return ""
	}
	reason := ""
	for i, w := range want {
		g := got[i]
		name := g.Linkage
		if g.Linkage = w.Linkage; g != w {
			return ""
		}
		if name == w.Linkage {
			continue
		}
		if strings.HasSuffix(name, "::"+w.Linkage) {
			reason = "a name without linkage name is qualified here"
			continue
		}
		if i < len(want)-1 {
			return ""
		}
		if more != nil {
			if reason := more(w.Linkage, name); reason != "" {
				return reason
			}
		}
		if !a.Same(name, w.Linkage) {
			return ""
		}
		return "of several names at one address, ours is DWARF's"
	}
	return reason
}

// Fixtures are the paths of several development fixtures, see Fixture.
func Fixtures(t testing.TB, names ...string) []string {
	t.Helper()
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = Fixture(t, n)
	}
	return paths
}

// Oracles asks the oracle about each of several development fixtures, 10,000
// addresses each, 1,000 in a short run.
func Oracles(t *testing.T, f *formats.Format, names []string, known func(t *testing.T, path string) Known) {
	n := 10000
	if testing.Short() {
		n = 1000
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			path := Fixture(t, name)
			Oracle(t, f, path, n, uint64(i), known(t, path))
		})
	}
}
