package jobs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/jobs/wire"
)

// size is what a query sums up of a function.
type size struct {
	bytes, ranges int64
	artifacts     map[string]bool
}

// sizes holds sizes by function.
type sizes map[string]*size

func (s sizes) add(function, artifact string, bytes int64) {
	x := s[function]
	if x == nil {
		x = &size{artifacts: map[string]bool{}}
		s[function] = x
	}
	x.bytes += bytes
	x.ranges++
	x.artifacts[artifact] = true
}

// largest lists at most n functions that bytes ranks highest, then by name.
func (s sizes) largest(n int, bytes func(*size) int64) []string {
	all := slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		return cmp.Or(cmp.Compare(bytes(s[b]), bytes(s[a])), strings.Compare(a, b))
	})
	return all[:min(n, len(all))]
}

// codeBytes is what look-up answers of an artifact, in bytes.
type codeBytes struct{ all, line, inline int64 }

// lookUpCode asks look-up for the first and the last position of each range of code, which lists artifact, first and last position.
// It returns the artifacts by id, and for each range the one answer that both positions have.
func lookUpCode(t *testing.T, store string, code [][]any) (known map[string]*wire.Artifact, answers []*wire.Answer) {
	t.Helper()
	known = map[string]*wire.Artifact{}
	for _, a := range artifactsOf(t, store) {
		known[a.Artifact] = a
	}
	var questions strings.Builder
	for _, r := range code {
		for _, position := range r[1:] {
			fmt.Fprintf(&questions, "%s +%#x\n", known[r[0].(string)].Names[0], int64(position.(float64)))
		}
	}
	cmd := symlake(t, "--store", store, "--json", "lookup", "--stdin")
	cmd.Stdin = strings.NewReader(questions.String())
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 2*len(code) || len(code) == 0 {
		t.Fatalf("%d answers to %d ranges", len(lines), len(code))
	}
	for i, r := range code {
		first, last := new(wire.Answer), new(wire.Answer)
		for k, a := range []*wire.Answer{first, last} {
			if err := json.Unmarshal([]byte(lines[2*i+k]), a); err != nil {
				t.Fatal(err)
			}
		}
		if len(first.Frames) == 0 || gocmp.Diff(first.Frames, last.Frames) != "" {
			t.Fatalf("the range %v has several answers: %s %s", r, lines[2*i], lines[2*i+1])
		}
		answers = append(answers, first)
	}
	return known, answers
}

// compareQueries makes the answers of the queries that sum up code from look-up's answers alone. code lists artifact, first and
// last position of each range.
func compareQueries(t *testing.T, store string, code [][]any, answers map[string][][]any) {
	t.Helper()
	known, found := lookUpCode(t, store, code)
	functions, inlined, builds, cover := sizes{}, sizes{}, map[string]sizes{"41": {}, "42": {}}, map[string]*codeBytes{}
	for i, r := range code {
		first := found[i]
		artifact, bytes := r[0].(string), int64(r[2].(float64)-r[1].(float64))+1
		functions.add(first.Frames[0].Function, artifact, bytes)
		for _, app := range known[artifact].Apps {
			if _, build, _ := strings.Cut(app, "@"); builds[build] != nil {
				builds[build].add(first.Frames[0].Function, artifact, bytes)
			}
		}
		for _, f := range first.Frames[:len(first.Frames)-1] { // the outermost one is no inlined function
			inlined.add(f.Function, artifact, bytes)
		}
		c := cover[artifact]
		if c == nil {
			c = &codeBytes{}
			cover[artifact] = c
		}
		c.all += bytes
		if first.Frames[0].Line > 0 {
			c.line += bytes
		}
		if len(first.Frames) > 1 {
			c.inline += bytes
		}
	}
	compareSizes(t, functions, inlined, builds, answers)
	for _, row := range answers["coverage"] {
		a := known[row[0].(string)]
		c := cover[a.Artifact]
		if c == nil {
			continue // a script
		}
		want := []float64{100 * a.Quality.TextCovered, 100 * float64(c.line) / float64(c.all), 100 * float64(c.inline) / float64(c.all)}
		for k, share := range want {
			if got := row[4+k].(float64); math.Abs(got-share) > 0.101 { // both are rounded
				t.Errorf("coverage of %v: share %d is %v, by look-up %.2f", row[1], k, got, share)
			}
		}
	}
}

// compareSizes compares the queries that list functions.
func compareSizes(t *testing.T, functions, inlined sizes, builds map[string]sizes, answers map[string][][]any) {
	t.Helper()
	bytes := func(x *size) int64 { return x.bytes }
	want := map[string][]string{}
	for _, f := range functions.largest(20, bytes) {
		x := functions[f]
		want["biggest_functions"] = append(want["biggest_functions"], fmt.Sprint(f, x.bytes, x.ranges, len(x.artifacts)))
	}
	for _, f := range inlined.largest(20, bytes) {
		want["inline_hot_spots"] = append(want["inline_hot_spots"], fmt.Sprint(f, inlined[f].ranges, inlined[f].bytes))
	}
	grown := sizes{}
	for build, sign := range map[string]int64{"41": -1, "42": 1} {
		for f, x := range builds[build] {
			grown.add(f, build, sign*x.bytes)
		}
	}
	maps.DeleteFunc(grown, func(_ string, x *size) bool { return x.bytes == 0 })
	for _, f := range grown.largest(50, func(x *size) int64 { return max(x.bytes, -x.bytes) }) {
		of := func(build string) int64 {
			if x := builds[build][f]; x != nil {
				return x.bytes
			}
			return 0
		}
		want["changed"] = append(want["changed"], fmt.Sprint(f, of("41"), of("42"), grown[f].bytes))
	}
	for name, rows := range want {
		var got []string
		for _, row := range answers[name] {
			row = slices.Clone(row)
			for i, v := range row {
				if n, ok := v.(float64); ok {
					row[i] = int64(n)
				}
			}
			got = append(got, fmt.Sprint(row...))
		}
		if diff := gocmp.Diff(rows, got); diff != "" {
			t.Errorf("%s (-look-up +query)\n%s", name, diff)
		}
	}
}
