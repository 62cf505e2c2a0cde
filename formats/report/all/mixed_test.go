package all

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// parts gathers the objects and the members' values of a JSON value.
func parts(v any, objects *[]map[string]any, values *[]any) {
	switch v := v.(type) {
	case map[string]any:
		*objects = append(*objects, v)
		for _, x := range v {
			*values = append(*values, x)
			parts(x, objects, values)
		}
	case []any:
		for _, x := range v {
			parts(x, objects, values)
		}
	}
}

// TestMixedEvents mixes the members of all events at random. Without answers the text stays, and with answers it stays JSON.
func TestMixedEvents(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(formattest.Testdata(t, "events"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no events", err)
	}
	var objects []map[string]any
	var values []any
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if json.Unmarshal(b, &v) == nil {
			parts(v, &objects, &values)
		}
	}
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		mixed := map[string]any{}
		for range 1 + r.IntN(4) {
			for k, v := range objects[r.IntN(len(objects))] {
				mixed[k] = v
				if r.IntN(8) == 0 {
					mixed[k] = values[r.IntN(len(values))]
				}
			}
		}
		text, err := json.Marshal([]any{mixed, objects[r.IntN(len(objects))]})
		if err != nil || len(text) > 20_000 {
			continue
		}
		if seed%2 == 0 {
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, text, "", "  "); err != nil {
				t.Fatal(err)
			}
			text = pretty.Bytes()
		}
		var out bytes.Buffer
		for _, s := range split(t, string(text), report.Options{}) {
			if err := report.Print(&out, s, anyAnswers(s, r)); err != nil {
				t.Fatal(err)
			}
		}
		if !json.Valid(out.Bytes()) {
			t.Fatalf("seed %d: %s\nwas printed as\n%s", seed, text, out.Bytes())
		}
	}
}

// anyAnswers returns answers of up to three functions.
func anyAnswers(s *report.Report, r *rand.Rand) (answers [][]symbol.Answer) {
	for _, th := range s.Threads {
		list := make([]symbol.Answer, len(th.Frames))
		for i := range list {
			var chain []symbol.Frame
			for k := range r.IntN(4) {
				chain = append(chain, symbol.Frame{Function: "a.b.c\"d", File: `/x/\y.kt`, Line: uint32(k), Column: 3})
			}
			if len(chain) > 0 || th.Frames[i].Managed != nil {
				list[i] = symbol.Answer{Status: symbol.Found, Frames: chain}
			}
		}
		answers = append(answers, list)
	}
	return answers
}
