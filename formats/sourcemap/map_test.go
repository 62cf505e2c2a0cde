package sourcemap

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// pieceLength is how many segments of a line come at once.
const pieceLength = 512

// exploded is a map's ranges, to be looked up.
type exploded struct {
	artifact formats.Artifact
	ranges   []answer
}

// answer is a range with its frames.
type answer struct {
	symbol.Range
	symbol.Mark
	frames []symbol.Frame
}

func (x *exploded) at(pos uint64) []symbol.Frame {
	i := sort.Search(len(x.ranges), func(i int) bool { return x.ranges[i].Start > pos }) - 1
	if i < 0 || pos >= x.ranges[i].End {
		return nil
	}
	frames := x.ranges[i].frames
	if flags := x.ranges[i].Flags; flags&symbol.Linear != 0 {
		frames = append([]symbol.Frame(nil), frames...)
		at := flags.At(symbol.Site{Line: frames[0].Line, Column: frames[0].Column}, x.ranges[i].Start, pos)
		frames[0].Line, frames[0].Column = at.Line, at.Column
	}
	return frames
}

// place is the answer at a line and a column, both from 0.
func (x *exploded) place(line, column uint32) []symbol.Frame {
	return x.at(uint64(line)<<32 | uint64(column))
}

// explodeAll reads a map to the end. Ranges must come in order within a part.
func explodeAll(in *formats.Input) (*exploded, error) {
	ctx := context.Background()
	_, obj, err := formats.Open(ctx, []*formats.Format{&Format}, in)
	if err != nil {
		return nil, err
	}
	if obj == nil || len(obj.Artifacts) == 0 {
		return nil, nil
	}
	if obj.Close != nil {
		defer obj.Close()
	}
	x := &exploded{artifact: obj.Artifacts[0]}
	for part := range x.artifact.Parts {
		_, err := x.artifact.ExplodeScript(ctx, part, func(r *symbol.Script) error {
			for i, g := range r.Ranges {
				x.ranges = append(x.ranges, answer{g, r.Marks[i], r.Chain(i, nil)})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	sort.SliceStable(x.ranges, func(i, j int) bool { return x.ranges[i].Start < x.ranges[j].Start })
	return x, nil
}

// folder is an input with companions beside it.
func folder(t testing.TB, path string) *formats.Input {
	t.Helper()
	in := inputOf(t, path)
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		for _, end := range []string{"", ".gz"} {
			if p := filepath.Join(filepath.Dir(path), filepath.Base(want.Name)+end); want.Name != "" {
				if _, err := os.Stat(p); err == nil {
					return inputOf(t, p), nil
				}
			}
		}
		return nil, formats.ErrNoCompanion
	}
	return in
}

// inputOf reads a file, compressed or not.
func inputOf(t testing.TB, path string) *formats.Input {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		path = strings.TrimSuffix(path, ".gz")
	}
	return formattest.InputOf(filepath.Base(path), b, formats.Limits{})
}

func mustExplode(t testing.TB, in *formats.Input) *exploded {
	t.Helper()
	x, err := explodeAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if x == nil {
		t.Fatalf("%s: no map", in.Name)
	}
	return x
}

func readJSON(t testing.TB, path string, to any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatal(path, err)
	}
}

// Of many segments at one column the first answers for it and the last for what follows, however long the line is.
func TestEqualColumns(t *testing.T) {
	for _, n := range []int{2, 3, pieceLength - 1, pieceLength, pieceLength + 1, 3 * pieceLength} {
		mappings := "AAAA,CAAC" + strings.Repeat(",AACA", n) + ",GAAA"
		in := formattest.InputOf("a.js.map", []byte(`{"version":3,"sources":["a"],"mappings":"`+mappings+`"}`), formats.Limits{})
		for _, in := range []*formats.Input{in, formattest.Unmapped(in)} {
			x := mustExplode(t, in)
			for column, want := range []uint32{1, 1, uint32(n) + 1, uint32(n) + 1, uint32(n) + 1} {
				if f := x.place(0, uint32(column)); len(f) != 1 || f[0].Line != want {
					t.Errorf("%d segments, column %d: %+v, want line %d", n, column, f, want)
				}
			}
		}
	}
}
