package jobs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// memberRow is a row of the table classes as dump.py prints it.
type memberRow struct {
	Table, Artifact, Class, Member, Type, Params string
	Kind                                         string `json:"member_kind"`
	Original                                     string `json:"original_member"`
	In                                           string `json:"declared_in"`
	First                                        int    `json:"first_line"`
	Last                                         int    `json:"last_line"`
	From                                         int    `json:"original_first_line"`
	To                                           int    `json:"original_last_line"`
}

// scriptRow is a row of the table ranges, of a source map.
type scriptRow struct {
	lakeRow
	Name    string
	Ignored int
}

// Engines read the same rows of scripts and mappings, each in a profile, and they are what look-up answers.
func TestReadersScriptsAndMappings(t *testing.T) {
	t.Parallel()
	readersDir(t)
	for _, c := range []struct {
		profile string
		engines []string
	}{{"plain", []string{"duckdb", "polars"}}, {"sealed", []string{"pyarrow", "spark"}}} {
		store := filepath.Join(t.TempDir(), "store")
		mustRun(t, []int{0, 3}, "--store", store, "--lake-profile", c.profile, "ingest", formattest.Testdata(t, "js"), formattest.Testdata(t, "r8/mapping.txt"))
		keys := ""
		if c.profile == "sealed" {
			keys, _ = mustRun(t, []int{0}, "--store", store, "--json", "keys", "export", "--lake")
		}
		var first []string
		for _, engine := range c.engines {
			rows, err := dump(t, engine, filepath.Join(store, "lake"), keys)
			if err != nil {
				t.Fatalf("%s: %v", engine, err)
			}
			if first == nil {
				first = rows
			} else if diff := cmp.Diff(first, rows); diff != "" {
				t.Errorf("%s reads other rows than %s (-%s +%s)\n%s", engine, c.engines[0], c.engines[0], engine, diff)
			}
		}
		scripts, members := 0, 0
		var questions bytes.Buffer
		var want []string
		names := namesOf(t, store)
		var rows []memberRow
		for _, line := range first {
			var s scriptRow
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatal(err)
			}
			if s.Table == "ranges" && s.Start>>32 < 1<<30 { // above stand tables of functions, which no position of a script asks for
				scripts++
				fmt.Fprintf(&questions, "%s %d:%d\n", names[s.Artifact], s.Start>>32+1, uint32(s.Start))
				want = append(want, fmt.Sprintf("%s%s %v", s.frames(), s.Name, s.Ignored == 1))
			}
			if s.Table == "classes" {
				var m memberRow
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					t.Fatal(err)
				}
				rows = append(rows, m)
			}
		}
		for _, m := range rows {
			if m.Kind != "method" || m.First == 0 || m.First != m.Last {
				continue
			}
			members++
			fmt.Fprintf(&questions, "%s %s.%s:%d\n", names[m.Artifact], m.Class, m.Member, m.First)
			want = append(want, fmt.Sprintf("%s.%s.%s(%s)%s:%d", "has ", m.In, m.Original, m.Params, m.Type, m.From))
		}
		if scripts < 1000 || members < 5 {
			t.Fatalf("%s: %d rows of scripts, %d of members", c.profile, scripts, members)
		}
		cmd := symlake(t, "--store", store, "--json", "lookup", "--stdin")
		cmd.Stdin = &questions
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		answers := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(answers) != len(want) {
			t.Fatalf("%d answers to %d questions", len(answers), len(want))
		}
		for i, line := range answers {
			var a wire.Answer
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatal(err)
			}
			if method, ok := strings.CutPrefix(want[i], "has ."); ok {
				if !hasFrame(&a, method) {
					t.Errorf("%s: the lake has %s, look-up %s", a.Position, method, line)
				}
				continue
			}
			got := ""
			for _, f := range a.Frames {
				got += fmt.Sprintf("%s %s %s:%d:%d\n", f.Function, f.Linkage, f.File, f.Line, f.Column)
			}
			if len(a.Frames) > 0 {
				got += fmt.Sprintf("%s %v", a.Frames[0].Name, a.Frames[0].Ignored)
			}
			if got != want[i] {
				t.Errorf("%s %s (-lake +lookup)\n%s", a.Artifact, a.Position, cmp.Diff(want[i], got))
			}
		}
	}
}

// hasFrame reports whether an answer has a frame of a method at a line.
func hasFrame(a *wire.Answer, method string) bool {
	for _, chain := range append([][]wire.Frame{a.Frames}, a.Alternatives...) {
		for _, f := range chain {
			if fmt.Sprintf("%s:%d", f.Linkage, f.Line) == method {
				return true
			}
		}
	}
	return false
}

// artifactsOf gives all artifacts of a store.
func artifactsOf(t *testing.T, store string) (all []*wire.Artifact) {
	t.Helper()
	out, _ := mustRun(t, []int{0}, "--store", store, "--json", "artifacts")
	for line := range strings.Lines(out) {
		a := new(wire.Artifact)
		if err := json.Unmarshal([]byte(line), a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// namesOf gives a name of each artifact of a store.
func namesOf(t *testing.T, store string) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, a := range artifactsOf(t, store) {
		names[a.Artifact] = a.Names[0]
	}
	return names
}
