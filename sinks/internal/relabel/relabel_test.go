package relabel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

type element struct {
	X int64  `parquet:"p3"`
	Y string `parquet:"p4"`
}

type row struct {
	A    int64             `parquet:"p1"`
	Gone string            `parquet:"p9"`
	L    []element         `parquet:"p2,list"`
	M    map[string]string `parquet:"p5"`
}

func written(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	err := pq.Write(&b, []row{{1, "x", []element{{10, "a"}, {11, "b"}}, map[string]string{"k": "v"}}, {2, "y", nil, nil}}, pq.KeyValueMetadata("ARROW:schema", "old"), pq.KeyValueMetadata("note", "stays"),
		pq.SortingWriterConfig(pq.SortingColumns(pq.Ascending("p1"), pq.Ascending("p9"))))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func label(path string, _ int) (string, bool) {
	name, ok := map[string]string{"p1": "a", "p2": "list of", "p2.p3": "x", "p2.p4": "y", "p5": "m"}[path]
	return name, ok
}

// Columns have other names, also within lists, columns without a name are gone, and the rows are as they were.
func TestRelabel(t *testing.T) {
	text := written(t)
	r, size, err := Open(bytes.NewReader(text), int64(len(text)), label)
	if err != nil {
		t.Fatal(err)
	}
	f, err := pqfile.OpenRows(t.Context(), r, size, func() (sinks.LakeKeys, error) { return sinks.LakeKeys{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, l := range f.Leaves() {
		paths = append(paths, l.Path)
	}
	if want := []string{"a", "list of.x", "list of.y", "m.key_value.key", "m.key_value.value"}; !slices.Equal(paths, want) {
		t.Errorf("columns %q, want %q", paths, want)
	}
	if f.Meta("ARROW:schema") != "" || f.Meta("note") != "stays" {
		t.Errorf("the notes are %q and %q", f.Meta("ARROW:schema"), f.Meta("note"))
	}
	var got string
	err = f.Scan(t.Context(), 0, f.Leaves(), func(rows int, cells []pqfile.Cells) error {
		got += fmt.Sprint(rows, cells[0].Ints, cells[1].Ints, cells[2].Texts, cells[2].Ends, cells[4].Texts)
		return nil
	})
	if want := "2 [1 2] [10 11] [a b] [2 2] [v]"; err != nil || got != want {
		t.Errorf("rows %s, want %s: %v", got, want, err)
	}
	// The whole is a file that another reader takes, wherever its parts meet.
	whole, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(io.NewSectionReader(r, 0, size), whole); err != nil {
		t.Error(err)
	}
	p, err := pq.OpenFile(bytes.NewReader(whole), size, pq.SkipPageIndex(true))
	if err != nil {
		t.Fatal(err)
	}
	sorted := p.Metadata().RowGroups[0].SortingColumns
	if len(sorted) != 1 || sorted[0].ColumnIdx != 0 {
		t.Errorf("rows are sorted by %v", sorted)
	}
}

// A file that is cut or encrypted is refused.
func TestDamaged(t *testing.T) {
	text := written(t)
	for _, c := range []struct {
		text  []byte
		words string
	}{
		{nil, "0 bytes"}, {text[:len(text)-1], ""},
		{append(bytes.Clone(text[:len(text)-4]), "PARE"...), "encrypted"},
		{append(bytes.Clone(text[:len(text)-8]), "\xff\xff\xff\x7fPAR1"...), "a footer of"},
	} {
		if _, _, err := Open(bytes.NewReader(c.text), int64(len(c.text)), label); !errors.Is(err, pqfile.ErrRows) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%d bytes: %v, want %q", len(c.text), err, c.words)
		}
	}
}

// Twice the columns cost twice the allocations at most.
func TestLinear(t *testing.T) {
	cost := func(columns int) float64 {
		g := pq.Group{}
		for i := range columns {
			g[fmt.Sprint("c", i)] = pq.Leaf(pq.Int64Type)
		}
		var b bytes.Buffer
		w := pq.NewWriter(&b, pq.NewSchema("x", g))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(2, func() {
			if _, _, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()), func(path string, _ int) (string, bool) { return "n" + path, true }); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, four := cost(200), cost(800); four > 4.4*one {
		t.Errorf("%v allocations of 200 columns, %v of 800", one, four)
	}
}

// FuzzOpen reads damaged footers.
func FuzzOpen(f *testing.F) {
	f.Add(written(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, size, err := Open(bytes.NewReader(b), int64(len(b)), label)
		if err != nil {
			if !errors.Is(err, pqfile.ErrRows) {
				t.Fatal(err)
			}
			return
		}
		if _, err := io.ReadAll(io.NewSectionReader(r, 0, size)); err != nil {
			t.Fatal(err)
		}
	})
}
