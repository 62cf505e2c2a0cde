package pqfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/sinks"
)

type dropRow struct {
	ID    int64    `parquet:"id"`
	Name  *string  `parquet:"name,optional"`
	Words []string `parquet:"words,list"`
}

func (r *dropRow) String() string {
	name := "NULL"
	if r.Name != nil {
		name = *r.Name
	}
	return fmt.Sprint(r.ID, " ", name, " ", r.Words)
}

// Rows that are left out are in no scan and no new file: of lists, with NULLs, of whole row groups.
func TestDrop(t *testing.T) {
	var rows []dropRow
	for i := range 30 {
		r := dropRow{ID: int64(i)}
		if i%3 > 0 {
			name := fmt.Sprint("n", i)
			r.Name = &name
		}
		for k := range i % 4 {
			r.Words = append(r.Words, fmt.Sprint("w", k))
		}
		rows = append(rows, r)
	}
	var file bytes.Buffer
	if err := pq.Write(&file, rows, pq.MaxRowsPerRowGroup(10)); err != nil {
		t.Fatal(err)
	}
	keys := func() (sinks.LakeKeys, error) { return sinks.LakeKeys{}, errors.New("no keys") }
	for _, gone := range [][]uint32{{0}, {29}, {3, 4, 9, 10, 22}, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19}} {
		f, err := OpenRows(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len()), keys)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Drop(gone); err != nil {
			t.Fatal(err)
		}
		var want, got, read []string
		for i := range rows {
			if !slices.Contains(gone, uint32(i)) {
				want = append(want, rows[i].String())
			}
		}
		added := &Table{Name: "answers", Columns: []Column{NewColumn("line", "INTEGER", "", Integer)}}
		var out bytes.Buffer
		x, err := f.Extend(t.Context(), &out, Extension{Table: added, Profile: sinks.LakePlain})
		if err != nil {
			t.Fatal(err)
		}
		for g, n := range f.Groups() {
			err := f.Scan(t.Context(), g, f.Leaves(), func(n int, cells []Cells) error {
				from := 0
				for i := range n {
					name := "NULL"
					if i >= len(cells[1].Null) || !cells[1].Null[i] {
						name = cells[1].Texts[i]
					}
					read = append(read, fmt.Sprint(cells[0].Ints[i], " ", name, " ", cells[2].Texts[from:cells[2].Ends[i]]))
					from = cells[2].Ends[i]
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			group, pager := NewRowGroup(added), NewPager()
			for range n {
				group.Open.Columns[0].Ints = append(group.Open.Columns[0].Ints, 1)
				group.Open.Rows++
				group.Rows++
			}
			if n > 0 {
				if err := pager.Add(group, group.Take(group.Open.Another())); err != nil {
					t.Fatal(err)
				}
			}
			if err := x.Group(t.Context(), group); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(read, want) {
			t.Errorf("without %v: scanned %q, want %q", gone, read, want)
		}
		again, err := pq.Read[dropRow](bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for i := range again {
			got = append(got, again[i].String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("without %v: written %q, want %q", gone, got, want)
		}
	}
	f, err := OpenRows(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len()), keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Drop([]uint32{1, 30}); !errors.Is(err, ErrRows) {
		t.Errorf("a row that is not there: %v", err)
	}
}
