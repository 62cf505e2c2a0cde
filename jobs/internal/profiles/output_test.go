package profiles

import (
	"errors"
	"fmt"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/all"
)

// formNamed returns a form by its name.
func formNamed(t *testing.T, name string) *profile.Format {
	t.Helper()
	for _, f := range all.Formats {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no form is called %s", name)
	return nil
}

// said describes an output.
func said(o Output, err error) string {
	switch {
	case errors.Is(err, ErrOutput):
		return "refused"
	case err != nil:
		return err.Error()
	case o.Form == nil:
		return fmt.Sprintf("own %v", o.Pack)
	}
	return fmt.Sprintf("%s %v", o.Form.Name, o.Pack)
}

func TestFile(t *testing.T) {
	t.Parallel()
	pprof := formNamed(t, "pprof")
	for name, want := range map[string]string{
		"x.pb.gz": "own true", "x.svg": "svg false", "X.SVG": "svg false", "x.svg.gz": "svg true", "x.html": "html false", "x.speedscope.json": "speedscope false", "x.speedscope.json.gz": "speedscope true",
		"x.collapsed": "collapsed false", "x.folded": "collapsed false", "x.ndjson": "ndjson false", "x": "own false", "x.json": "own false", "x.bin": "own false", "x.docx": "own false", "x.gz": "own true", "x.pftrace": "refused",
	} {
		if got := said(File(pprof, name)); got != want {
			t.Errorf("%s of pprof is %s, want %s", name, got, want)
		}
	}
	perfetto := formNamed(t, "perfetto")
	for name, want := range map[string]string{"x.pftrace": "own false", "x.perfetto-trace": "own false", "x.pftrace.gz": "own true", "x.pb.gz": "pprof false"} {
		if got := said(File(perfetto, name)); got != want {
			t.Errorf("%s of Perfetto is %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]bool{"x.svg": true, "x.pb.gz": true, "x.speedscope.json": true, "x.html.gz": true, "x.pftrace": true, "x.txt": false, "x.ndjson": false, "x.json": false, "x.json.gz": false, "x": false, "x.gz": false} {
		if Asks(name) != want {
			t.Errorf("%s asks for a profile: %v", name, !want)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	pprof := formNamed(t, "pprof")
	for name, want := range map[string]string{"": "own false", "pprof": "own false", "pb.gz": "own false", "svg": "svg false", "html": "html false", "speedscope.json": "speedscope false", "folded": "collapsed false", "docx": "refused", "perfetto": "refused", "gz": "refused"} {
		if got := said(Named(pprof, name)); got != want {
			t.Errorf("%q of pprof is %s, want %s", name, got, want)
		}
	}
	for accept, want := range map[string]string{"": "own false", "*/*": "own false", "text/html,application/xhtml+xml,*/*;q=0.8": "html false", "image/svg+xml": "svg false", "nonsense; ;": "own false"} {
		if got := said(Accepted(pprof, accept), nil); got != want {
			t.Errorf("Accept %q of pprof is %s, want %s", accept, got, want)
		}
	}
}
