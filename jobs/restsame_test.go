package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// A row gets what lookup and symbolicate say of the same place and the same text.
func TestRestSame(t *testing.T) {
	store, raw, out := filepath.Join(t.TempDir(), "store"), t.TempDir(), filepath.Join(t.TempDir(), "out")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Testdata(t, "elf"), formattest.Testdata(t, "macho"), formattest.Testdata(t, "js"), "--rejected-code", "0")
	var stacks []string
	files, err := filepath.Glob(formattest.Testdata(t, "stacks") + "/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".expected.txt") {
			continue
		}
		line, _ := json.Marshal(map[string]string{"stack": string(text)})
		rows.Write(append(line, '\n'))
		stacks = append(stacks, file)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(raw, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("stacks.ndjson", rows.String())
	var places []string
	rows.Reset()
	for at := range 200 {
		places = append(places, fmt.Sprintf("%#x", 0x4600+7*at))
		fmt.Fprintf(&rows, `{"artifact":"%s","address":"%s","frame0":"stepped"}`+"\n", restArtifact, places[at])
	}
	write("frames.ndjson", rows.String())
	restReport(t, []int{0}, "--store", store, "symbolicate", "--input", raw, "--output", out)
	got := folder(t, out)

	asked, _ := mustRun(t, []int{0}, append([]string{"--store", store, "--json", "lookup", restArtifact}, places...)...)
	answers, lines := json.NewDecoder(strings.NewReader(asked)), strings.Split(strings.TrimSpace(got["frames.ndjson"]), "\n")
	found := 0
	for _, line := range lines {
		var a wire.Answer
		var r struct {
			restLine
			Inlines []restLine
		}
		if err := answers.Decode(&a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		want := restLines(a.Frames, 0, "")
		have := append([]restLine{{Function: r.Function, File: r.File, Line: r.Line, Col: r.Col}}, r.Inlines...)
		if r.Status != string(a.Status) || a.Status == "found" && fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("%s\nlookup: %s %v", line, a.Status, want)
		}
		found += len(want)
	}
	if found < 100 {
		t.Errorf("%d functions were compared", found)
	}
	lines, found = strings.Split(strings.TrimSpace(got["stacks.ndjson"]), "\n"), 0
	for i, file := range stacks {
		var r restRow
		if err := json.Unmarshal([]byte(lines[i]), &r); err != nil {
			t.Fatal(err)
		}
		records, _ := mustRun(t, []int{0}, "--store", store, "--json", "symbolicate", file)
		var want, have []restLine
		frame := 0
		for dec := json.NewDecoder(strings.NewReader(records)); dec.More(); {
			var s wire.Stack
			if err := dec.Decode(&s); err != nil {
				t.Fatal(err)
			}
			for _, thread := range s.Threads {
				for _, a := range thread.Frames {
					if len(a.Frames) == 0 {
						want = append(want, restLine{Frame: frame, Status: string(a.Status)})
					}
					want = append(want, restLines(a.Frames, frame, string(a.Status))...)
					frame++
				}
			}
		}
		if have = r.Chain; frame == 0 {
			have = nil // the row is marked invalid
		}
		if fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("%s: %v\nsymbolicate: %v", filepath.Base(file), have, want)
		}
		found += len(want)
	}
	if found < 50 {
		t.Errorf("%d functions of stacks were compared", found)
	}
}

func restLines(frames []wire.Frame, frame int, status string) (lines []restLine) {
	for _, f := range frames {
		lines = append(lines, restLine{Function: f.Function, File: f.File, Line: int(f.Line), Col: int(f.Column), Frame: frame, Status: status})
	}
	return lines
}
