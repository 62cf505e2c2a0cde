package query

import (
	"runtime/debug"
	"testing"
)

// A release says its own version, go install says the version of the module, a clone neither.
func TestVersionOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ release, module, sum, want string }{
		{"1.2.3", "v1.2.4", "h1:x", "1.2.3"},
		{"dev", "v1.2.4", "h1:x", "1.2.4"},
		{"dev", "(devel)", "", "dev"},
		{"dev", "v0.0.0-20260101000000-0123456789ab+dirty", "", "dev"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module, Sum: c.sum}}
		if got := versionOf(c.release, info); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
