package debuginfod_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/debuginfod"
)

func TestOpenStore(t *testing.T) {
	for _, c := range []struct{ place, url, key, fault string }{
		{"symstore://symbols.example", "symstore://symbols.example/", "", ""},
		{"symstore+http://host:80/a/b/", "symstore+http://host:80/a/b/", "", ""},
		{"symstore://host/a/app.pdb/4DEA2ECEF0FB9A8A4C4C44205044422E1/app.pd_", "symstore://host/a/", "app.pdb/4DEA2ECEF0FB9A8A4C4C44205044422E1/app.pd_", ""},
		{"symstore://", "", "", "want symstore://HOST"},
		{"symstore://u:secret@host", "", "", "no password"},
		{"debuginfod://host", "", "", "want symstore://HOST"},
	} {
		s, key, err := debuginfod.OpenStore(c.place, debuginfod.Options{})
		switch {
		case c.fault != "":
			if !errors.Is(err, bucket.ErrUsage) || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", c.place, err)
			}
		case err != nil || s.URL("") != c.url || key != c.key:
			t.Errorf("%s: %q %q, %v", c.place, s.URL(""), key, err)
		}
	}
}

func TestModuleKeys(t *testing.T) {
	s, _, err := debuginfod.OpenStore("symstore://host", debuginfod.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const id = "4DEA2ECEF0FB9A8A4C4C44205044422E1"
	pdb := []string{"app.pdb/" + id + "/app.pdb", "app.pdb/" + id + "/app.pd_", "app.pdb/" + id + "/app.sym"}
	for _, c := range []struct {
		file, id string
		want     []string
	}{
		{`C:\Program Files\app.exe`, "4dea2ece-f0fb-9a8a-4c4c-44205044422e-1", pdb},
		{"app.pdb", strings.ToLower(id), pdb},
		{"app.dll", "5f0000001C000", []string{"app.dll/5F0000001c000/app.dll", "app.dll/5F0000001c000/app.dl_"}},
		{"app.dll", "4dea2ece-f0fb-9a8a-4c4c-44205044422e", nil}, // without an age
		{"app.dll", "app.dll", nil},
		{"", id, nil},
	} {
		if got := s.ModuleKeys(c.file, c.id); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.file, c.id, got, c.want)
		}
	}
}

// A file comes by its key, and others cost no request.
func TestStoreRead(t *testing.T) {
	t.Parallel()
	asked := 0
	const key = "a b.dll/5F0000001c000/a b.dll"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/s/"+key {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, "an image")
	}))
	defer server.Close()
	s, _, err := debuginfod.OpenStore("symstore+http://"+strings.TrimPrefix(server.URL, "http://")+"/s", debuginfod.Options{Pauses: []time.Duration{}})
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := s.Stat(t.Context(), key)
	if err != nil || e.Size != 8 || e.File != "a b.dll" {
		t.Fatalf("%+v, %v", e, err)
	}
	got := make(memory, 8)
	if err := s.Fetch(t.Context(), e, got); err != nil || string(got) != "an image" {
		t.Errorf("%q, %v", got, err)
	}
	asked = 0
	for _, other := range []string{"", "index2.txt", "a/../b", "buildid/abcd/debuginfo", "a/5F000000/b"} {
		if _, _, err := s.Stat(t.Context(), other); !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("%s: %v", other, err)
		}
	}
	if asked != 0 {
		t.Errorf("asked %d times", asked)
	}
	if err := s.Create(t.Context(), key, "", nil); err == nil || s.Delete(t.Context(), []string{key}) == nil {
		t.Error("the server takes files")
	}
}
