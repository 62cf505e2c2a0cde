package jobs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// lookup --context prints the source's own lines, if ingest was told to keep them and only then, and no text
// of them stands in the store in clear.
func TestExcerpts(t *testing.T) {
	t.Parallel()
	file := formattest.Testdata(t, "js/app.min.js.map")
	var m struct{ Sources, SourcesContent []string }
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kept, plain := filepath.Join(dir, "kept"), filepath.Join(dir, "plain")
	mustRun(t, []int{0}, "--store", kept, "--lake", "off", "ingest", "--sources-content", file)
	mustRun(t, []int{0}, "--store", plain, "--lake", "off", "ingest", file)
	ask := func(store string, more ...string) wire.Answer {
		out, _ := mustRun(t, []int{0}, append([]string{"--store", store, "--json", "lookup", "app.min.js", "1:60"}, more...)...)
		var a wire.Answer
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatal(err, out)
		}
		if len(a.Frames) == 0 {
			t.Fatal(out)
		}
		return a
	}
	f := ask(kept, "--context", "2").Frames[0]
	var text []string
	for i, s := range m.Sources {
		if strings.HasSuffix(f.File, strings.TrimLeft(s, "./")) {
			text = strings.Split(strings.TrimSuffix(m.SourcesContent[i], "\n"), "\n")
		}
	}
	first := max(int(f.Line)-2, 1)
	want := text[first-1 : min(int(f.Line)+2, len(text))]
	if f.Context == nil || int(f.Context.First) != first || strings.Join(f.Context.Lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:%d: %+v, want from %d: %q", f.File, f.Line, f.Context, first, want)
	}
	if f := ask(kept).Frames[0]; f.Context != nil {
		t.Errorf("nobody asked for %+v", f.Context)
	}
	if f := ask(plain, "--context", "2").Frames[0]; f.Context != nil {
		t.Errorf("%+v from a store that keeps no texts", f.Context)
	}
	out, _ := mustRun(t, []int{0}, "--store", kept, "lookup", "--context", "1", "app.min.js", "1:60")
	if !strings.Contains(out, " >: "+text[f.Line-1]+"\n") {
		t.Errorf("%s: want the line %q", out, text[f.Line-1])
	}
	// Stacks say the same.
	trace := filepath.Join(dir, "trace.txt")
	if err := os.WriteFile(trace, []byte("Error: x\n    at f (https://shop.example/app.min.js:1:61)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s wire.Stack
	out, _ = mustRun(t, []int{0}, "--store", kept, "--json", "symbolicate", "--context", "2", trace)
	if err := json.Unmarshal([]byte(out), &s); err != nil || len(s.Threads) != 1 || len(s.Threads[0].Frames) != 1 {
		t.Fatal(err, out)
	}
	if lines := s.Threads[0].Frames[0].Frames; len(lines) == 0 || !reflect.DeepEqual(lines[0].Context, f.Context) {
		t.Errorf("%s: want the lines %+v", out, f.Context)
	}
	mustRun(t, []int{2}, "--store", kept, "symbolicate", "--context", "2", trace)
	mustRun(t, []int{0}, "--store", kept, "verify")
	longest := ""
	for _, line := range text {
		if len(line) > len(longest) {
			longest = line
		}
	}
	err = filepath.WalkDir(kept, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), strings.TrimSpace(longest)) {
			t.Errorf("%s holds %q in clear", path, longest)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
