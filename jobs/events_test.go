package jobs

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

var updateEvents = flag.Bool("update-events", false, "write testdata/events/expected again")

// shopMapping is the id of testdata/r8/shop.map.txt, for frames that name no mapping.
const shopMapping = "89a3f476d274c700f1e6babfebf4009d1cab0556636efe206b13edafc49717fa"

// eventRow is a row of the table in testdata/events/README.md.
type eventRow struct {
	name             string
	frames, answered int
}

// eventRows reads the table, which has a row for each event in the folder.
func eventRows(t *testing.T, dir string) (rows []eventRow) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\| (\\d+) \\| (\\d+) \\|").FindAllSubmatch(readme, -1) {
		frames, _ := strconv.Atoi(string(m[2]))
		answered, _ := strconv.Atoi(string(m[3]))
		rows = append(rows, eventRow{string(m[1]), frames, answered})
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	recipes := []string{"README.md", "Events.java", "jvm.sh", "scripts.mjs", "scripts.sh"}
	for _, f := range files {
		known := slices.ContainsFunc(rows, func(r eventRow) bool { return r.name == f.Name() })
		if !f.IsDir() && !known && !slices.Contains(recipes, f.Name()) {
			t.Errorf("%s has no row in the table of events", f.Name())
		}
	}
	return rows
}

// TestEvents asks for events of all services at once: each frame is recognized and gets its answer, and nothing else of an
// event changes. If that fails, it names the event.
func TestEvents(t *testing.T) {
	t.Parallel()
	dir := formattest.Testdata(t, "events")
	rows := eventRows(t, dir)
	if len(rows) < 80 {
		t.Fatalf("%d events", len(rows))
	}
	store := filepath.Join(t.TempDir(), "store")
	bundle, err := os.ReadFile(formattest.Testdata(t, "js/index.android.bundle.composed.map"))
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "index.android.bundle.map") // events of bytecode mean this map of the bundle
	if err := os.WriteFile(named, bundle, 0o600); err != nil {
		t.Fatal(err)
	}
	ingest := []string{"--store", store, "--lake", "off", "ingest", filepath.Join(dir, "symbols"), named}
	for _, object := range []string{"elf/libgame-arm64-dw5.so", "macho/libgame.dylib.dSYM", "r8/shop.map.txt", "js/app.min.js", "js/app.min.js.map", "dart/app.android-arm64.symbols", "dart/obfuscation-map.json"} {
		ingest = append(ingest, formattest.Testdata(t, object))
	}
	mustRun(t, []int{0}, ingest...)
	ask := func(global string, rows ...eventRow) string {
		args := []string{"--store", store, "--log-level", "error", "symbolicate", "--artifact", shopMapping}
		if global != "" {
			args = append([]string{global}, args...)
		}
		for _, r := range rows {
			args = append(args, filepath.Join(dir, r.name))
		}
		out, _ := mustRun(t, []int{0}, args...)
		return out
	}
	expected := func(r eventRow) string { return filepath.Join(dir, "expected", r.name) }
	var all bytes.Buffer
	var want eventRow
	for _, r := range rows {
		if *updateEvents {
			if err := os.WriteFile(expected(r), []byte(ask("", r)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(expected(r))
		if err != nil {
			t.Fatal(err)
		}
		if rest := json.NewDecoder(bytes.NewReader(text)); filepath.Ext(r.name) != ".txt" {
			for err == nil {
				err = rest.Decode(new(json.RawMessage))
			}
			if err != io.EOF {
				t.Errorf("the answer to %s is no JSON: %s", r.name, err)
			}
		}
		all.Write(text)
		want.frames += r.frames
		want.answered += r.answered
	}
	if got := ask("", rows...); got != all.String() {
		for _, r := range rows {
			text, _ := os.ReadFile(expected(r))
			if diff := cmp.Diff(string(text), ask("", r)); diff != "" {
				t.Errorf("%s: %s", r.name, diff)
			}
		}
		t.Error("answers differ")
	}
	if got := countEvents(t, ask("--json", rows...)); got != want {
		for _, r := range rows {
			if got := countEvents(t, ask("--json", r)); got.frames != r.frames || got.answered != r.answered {
				t.Errorf("%s: %d frames, %d answered; want %d and %d", r.name, got.frames, got.answered, r.frames, r.answered)
			}
		}
		t.Errorf("%d frames, %d answered; want %d and %d", got.frames, got.answered, want.frames, want.answered)
	}
}

// countEvents counts frames and answers of records.
func countEvents(t *testing.T, out string) (n eventRow) {
	t.Helper()
	for line := range strings.Lines(out) {
		var s wire.Stack
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		for _, th := range s.Threads {
			for i := range th.Frames {
				n.frames++
				if th.Frames[i].Status == "found" {
					n.answered++
				}
			}
		}
	}
	return n
}
