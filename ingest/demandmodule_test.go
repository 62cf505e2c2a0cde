package ingest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks/bucket/debuginfod"
	"github.com/symlake/symlake/sinks/catalog"
)

// A symbol server is asked for modules that look-ups missed, file by file, until it has one; then no more.
func TestDemandedModules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const id = "4DEA2ECEF0FB9A8A4C4C44205044422E1"
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		if strings.HasSuffix(r.URL.Path, ".sym") {
			io.WriteString(rw, "FAKE\nid 4dea2ece\nf 0 9 f")
			return
		}
		http.NotFound(rw, r)
	}))
	defer server.Close()
	s, _, err := debuginfod.OpenStore("symstore+http://"+strings.TrimPrefix(server.URL, "http://"), debuginfod.Options{Pauses: []time.Duration{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []catalog.Wanted{
		{Name: "4dea2ece-f0fb-9a8a-4c4c-44205044422e-1", File: `C:\app.exe`, Asked: 3},
		{Name: strings.Repeat("12", 20), File: "libc.so", Asked: 9},
		{Name: strings.Repeat("cd", 16), File: "game", Asked: 9},
	} {
		if err := w.cat.Demand.AddWanted(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range [][]string{{".pdb", ".pd_", ".sym"}, nil} {
		asked = nil
		if _, err := Run(t.Context(), []discover.Source{{Bucket: s}}, w.o); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, end := range want {
			paths = append(paths, "/app.pdb/"+id+"/app"+end)
		}
		mu.Lock()
		got := slices.Compact(asked)
		mu.Unlock()
		if len(want) > 0 && !slices.Equal(got, paths) || len(want) == 0 && slices.Contains(got, "/app.pdb/"+id+"/app.pdb") {
			t.Errorf("asked %q, want %q", got, paths)
		}
	}
	o, err := w.cat.Ledger.Get(t.Context(), s.URL("app.pdb/"+id+"/app.sym"))
	if err != nil || o == nil || o.State != catalog.ObjectLoaded {
		t.Errorf("%+v, %v", o, err)
	}
}
