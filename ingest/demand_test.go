package ingest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks/bucket/debuginfod"
	"github.com/symlake/symlake/sinks/bucket/debuginfod/debuginfodtest"
	"github.com/symlake/symlake/sinks/catalog"
)

// A server is asked for builds that look-ups missed, and again after ever longer pauses.
func TestDemandedBuilds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := debuginfodtest.Start(t)
	broken := false
	s.Before = func(rw http.ResponseWriter, _ *http.Request) bool {
		if broken {
			http.Error(rw, "out of order", http.StatusServiceUnavailable)
		}
		return broken
	}
	b, _, err := debuginfod.Open(s.Source, debuginfod.Options{Pauses: []time.Duration{}})
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Repeat("12", 20)
	for _, name := range []catalog.Wanted{
		{Name: id, Asked: 3},
		{Name: "libcart.so", Asked: 9},
		{Name: strings.Repeat("AB", 16), File: "/system/lib64/libc.so.6", Asked: 2},
		{Name: strings.Repeat("cd", 16), File: "game", Asked: 9}, // as a UUID
		{Name: strings.Repeat("ef", 32), Kind: "java", Asked: 9},
		{Name: "abc", Asked: 9},
	} {
		if err := w.cat.Demand.AddWanted(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	src := discover.Source{Bucket: b, Exclude: []string{"**/executable"}}
	run := func() ([]string, error) {
		_, err := Run(t.Context(), []discover.Source{src}, w.o)
		return s.Asked(), err
	}
	first := "/buildid/" + id + "/debuginfo"
	both := []string{first, "/buildid/" + strings.Repeat("ab", 16) + "/debuginfo"}
	pause := time.Hour
	for range 12 {
		asked, err := run()
		slices.Sort(asked)
		if err != nil || !slices.Equal(asked, both) {
			t.Fatalf("asked %q, %v", asked, err)
		}
		w.now = w.now.Add(pause - time.Second)
		if asked, err := run(); err != nil || len(asked) > 0 {
			t.Fatalf("asked %q before %v are over, %v", asked, pause, err)
		}
		w.now = w.now.Add(time.Second)
		pause = min(2*pause, 7*24*time.Hour)
	}
	// A server out of order is asked in the next run, and fails this one.
	broken = true
	for range 2 {
		if _, err := run(); err == nil || !strings.Contains(err.Error(), "503 Service Unavailable: out of order") {
			t.Errorf("out of order: %v", err)
		}
	}
	broken = false
	if asked, err := run(); err != nil || len(asked) != 2 {
		t.Errorf("asked %q, %v", asked, err)
	}
	// A dry run notes nothing, and --retry-like runs do not wait.
	w.o.Force = true
	if asked, _ := run(); len(asked) != 2 {
		t.Errorf("forced: asked %q", asked)
	}
	if o, err := w.cat.Ledger.Get(t.Context(), s.Source+first); err != nil || o == nil || o.State != catalog.ObjectGone || o.Attempts != 14 {
		t.Errorf("%+v, %v", o, err)
	}
	// The store has the build meanwhile.
	w.o.Force = false
	w.put("a", "FAKE\nid "+id+"\nf 0 9 f")
	if _, err := Run(t.Context(), []discover.Source{w.src}, w.o); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(30 * 24 * time.Hour)
	if asked, err := run(); err != nil || slices.Contains(asked, first) {
		t.Errorf("asked %q, %v", asked, err)
	}
}
