package page

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// get asks for a path with headers in pairs.
func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	if err := Serve(w, r); err != nil {
		t.Fatal(err)
	}
	return w
}

// Every asset is served, plain and packed alike, under the policy.
func TestAssets(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("assets/*")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	bytes := 0
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		path := prefix + filepath.Base(name)
		if !Has(path) {
			t.Errorf("%s is not served", path)
			continue
		}
		bytes += len(text)
		plain := get(t, path)
		if plain.Body.String() != string(text) || plain.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: not the file", path)
		}
		packed := get(t, path, "Accept-Encoding", "br, gzip")
		in, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(path, err)
		}
		if got, err := io.ReadAll(in); err != nil || string(got) != string(text) {
			t.Errorf("%s: packed it differs: %v", path, err)
		}
		for _, w := range []*httptest.ResponseRecorder{plain, packed} {
			h := w.Header()
			if h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Content-Type") == "" {
				t.Errorf("%s: %v", path, h)
			}
			if again := get(t, path, "If-None-Match", h.Get("ETag"), "Accept-Encoding", h.Get("Content-Encoding")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
				t.Errorf("%s, kept: %d", path, again.Code)
			}
		}
	}
	if bytes > 300<<10 {
		t.Errorf("all assets have %d bytes: want 300 KiB at most", bytes)
	}
}

// Each page is a module and a link, and nothing else is served.
func TestPages(t *testing.T) {
	t.Parallel()
	index := get(t, "/").Body.String()
	for _, name := range Names {
		if get(t, "/"+name).Body.String() != index || !strings.Contains(index, `<a href="/`+name+`">`) || !Has(prefix+name+".js") {
			t.Errorf("%s: want a path, a link and a module", name)
		}
	}
	for _, path := range []string{"/runs/", "/runs/nightly", "/runs/manual__2026-11-01T00:00:00+00:00/x"} {
		if get(t, path).Body.String() != index {
			t.Errorf("%s: want the page of runs", path)
		}
	}
	for _, path := range []string{"/artifacts/x", "/page/", "/page/none.js", "/page/../page.go", "/page/page.go", "/none", "/index.html", ""} {
		if Has(path) {
			t.Errorf("%q is served", path)
		}
	}
}

// The example of the page is the one of testdata.
func TestExample(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(formattest.Testdata(t, "stacks/demo.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, "/page/example.txt").Body.String(); got != string(want) {
		t.Errorf("want testdata/stacks/demo.txt, got %s", got)
	}
}

// No asset names another host, but for the name space of SVG.
func TestNoOtherHost(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("assets/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rest := strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", "")
		if filepath.Ext(name) != ".txt" && strings.Contains(rest, "://") {
			t.Errorf("%s names another host", name)
		}
	}
}

// Encodings with a weight of zero are refused.
func TestAccepts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000, br": false, "x-gzip": false} {
		if accepts(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
