package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	wideID   = "000102030405060708090a0b0c0d0e0f0" // of wideStore's library
	wideName = 60_000                              // bytes of its function's name
)

// wideStore is a store of answers that are much larger than questions: a function with a long name, a mapping in which one
// name stands for thousands of methods, and a script with long lines of source.
func wideStore(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	var sym, mapping, source strings.Builder
	fmt.Fprintf(&sym, "MODULE Linux x86_64 %s libwide.so\nFILE 0 wide.c\nFUNC 1000 1000 0 %s\n1000 1000 7 0\n", strings.ToUpper(wideID), strings.Repeat("n", wideName))
	mapping.WriteString("# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n# pg_map_id: 1234567\nshop.Wide -> a:\n")
	for i := range 3000 {
		fmt.Fprintf(&mapping, "    void method%d%s() -> b\n", i, strings.Repeat("x", 200))
	}
	line := strings.Repeat("s", 60<<10)
	for range 200 {
		source.WriteString(line + "\n")
	}
	text, err := json.Marshal(source.String())
	if err != nil {
		t.Fatal(err)
	}
	js := `{"version":3,"file":"wide.js","sources":["wide.ts"],"sourcesContent":[` + string(text) + `],"names":[],"mappings":"` + "AAoGA" + `"}`
	for name, body := range map[string]string{"libwide.so.sym": sym.String(), "mapping.txt": mapping.String(), "wide.js.map": js} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", "--sources-content", dir)
	return store
}

// question is a request.
type question struct{ method, path, kind, body string }

// wideRequests are small and want large answers, one of each endpoint and form.
func wideRequests(frames int) map[string]question {
	native := "pid: 1, tid: 1, name: main  >>> shop <<<\nbacktrace:\n"
	var pairs, queries strings.Builder
	for i := range frames {
		native += fmt.Sprintf("      #%02d pc %08x  libwide.so (BuildId: %s)\n", i, 0x1000+i%0x800, wideID)
		fmt.Fprintf(&pairs, "[0,%d],", 0x1000+i%0x800)
		fmt.Fprintf(&queries, `{"artifact":%q,"position":"+0x%x"},`, wideID, 0x1000+i%0x800)
	}
	quoted, _ := json.Marshal(native)
	wide := func(output string) string {
		return `{"stacks":[{"text":` + string(quoted) + `}],"output":"` + output + `"}`
	}
	return map[string]question{
		"text":     {"POST", "/v1/symbolicate", "text/plain", native},
		"ndjson":   {"POST", "/v1/symbolicate?output=records", "text/plain", native},
		"explain":  {"POST", "/v1/symbolicate?explain=true", "text/plain", native},
		"records":  {"POST", "/v1/symbolicate", "application/json", wide("records")},
		"texts":    {"POST", "/v1/symbolicate", "application/json", wide("text")},
		"both":     {"POST", "/v1/symbolicate", "application/json", wide("both")},
		"tecken":   {"POST", "/symbolicate/v5", "application/json", `{"memoryMap":[["libwide.so","` + wideID + `"]],"stacks":[[` + strings.TrimSuffix(pairs.String(), ",") + `]]}`},
		"lookup":   {"POST", "/v1/lookup", "application/json", `{"queries":[` + strings.TrimSuffix(queries.String(), ",") + `]}`},
		"context":  {"POST", "/v1/lookup", "application/json", `{"context":100,"queries":[` + strings.TrimSuffix(strings.Repeat(`{"artifact":"wide.js","position":"1:0"},`, frames/100+1), ",") + `]}`},
		"retraced": {"POST", "/v1/symbolicate?output=records&artifact=mapping.txt", "text/plain", "java.lang.Error\n" + strings.Repeat("\tat a.b(Unknown Source)\n", frames/10)},
	}
}

// answered asks and gives status, body and the trailer.
func (s *serving) answered(t testing.TB, q question) (code int, text, trailer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), q.method, s.url+q.path, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", q.kind)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", q.method, q.path, err)
	}
	return res.StatusCode, string(body), res.Trailer.Get("Symlake-Error")
}

// peakBytes is the most memory that a server had at once.
func (s *serving) peakBytes(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.run.Process.Pid))
	if err != nil {
		t.Skip("SKIP: this system does not tell what a process takes")
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
