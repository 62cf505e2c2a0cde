package equality

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// rowsOf writes rows to a Parquet file and opens it.
func rowsOf[T any](t testing.TB, all []T, options ...pq.WriterOption) *pqfile.Rows {
	t.Helper()
	var b bytes.Buffer
	if err := pq.Write(&b, all, options...); err != nil {
		t.Fatal(err)
	}
	f, err := pqfile.OpenRows(t.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), func() (sinks.LakeKeys, error) { return sinks.LakeKeys{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// columnsOf are all columns of a file.
func columnsOf(f *pqfile.Rows) (all []Column) {
	for _, l := range f.Leaves() {
		all = append(all, Column{Leaf: l})
	}
	return all
}

func matches(t testing.TB, s *Set, f *pqfile.Rows, columns []Column, sequence int64) (all []uint32) {
	t.Helper()
	if err := s.Matches(t.Context(), f, columns, sequence, func(row uint32) error { all = append(all, row); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

type narrow struct {
	A *int32   `parquet:"a,optional"`
	B *string  `parquet:"b,optional"`
	C *float32 `parquet:"c,optional"`
	D int32    `parquet:"d,decimal(2:9)"`
	E bool     `parquet:"e"`
}

type wide struct {
	A *int64   `parquet:"a,optional"`
	B *string  `parquet:"b,optional,dict"`
	C *float64 `parquet:"c,optional"`
	D int64    `parquet:"d,decimal(2:18)"`
	E bool     `parquet:"e"`
}

func some[T any](v T) *T { return &v }

// Values are equal in any width of a file, NULL equals NULL alone, and a commit deletes rows of earlier ones.
func TestSet(t *testing.T) {
	s := NewSet(new(Budget))
	deleted := rowsOf(t, []narrow{{some(int32(-1)), some("x"), some(float32(0.5)), -125, true}, {nil, nil, nil, 300, false}, {some(int32(7)), some(""), some(float32(math.NaN())), 0, false}})
	if err := s.Add(t.Context(), deleted, columnsOf(deleted), 5); err != nil {
		t.Fatal(err)
	}
	data := rowsOf(t, []wide{
		{some(int64(-1)), some("x"), some(0.5), -125, true},
		{some(int64(-1)), some("x"), some(0.5), -125, false},
		{some(int64(-1)), some("x"), some(0.25), -125, true},
		{some(int64(math.MaxUint32)), some("x"), some(0.5), -125, true},
		{nil, nil, nil, 300, false},
		{nil, some(""), nil, 300, false},
		{some(int64(7)), some(""), some(math.NaN()), 0, false},
	})
	if got := matches(t, s, data, columnsOf(data), 4); !slices.Equal(got, []uint32{0, 4, 6}) {
		t.Errorf("rows %v are deleted", got)
	}
	if got := matches(t, s, data, columnsOf(data), 5); got != nil {
		t.Errorf("rows %v of the same commit are deleted", got)
	}
	// A later deletion of the same row reaches more files.
	if err := s.Add(t.Context(), deleted, columnsOf(deleted), 9); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), deleted, columnsOf(deleted), 3); err != nil {
		t.Fatal(err)
	}
	if got := matches(t, s, data, columnsOf(data), 8); !slices.Equal(got, []uint32{0, 4, 6}) {
		t.Errorf("after another deletion, rows %v are deleted", got)
	}
	// A column that the file lacks has one value.
	columns := columnsOf(data)
	columns[0].Value = Number(7)
	columns[1].Value = Text("")
	if got := matches(t, s, data, columns, 4); !slices.Equal(got, []uint32{6}) {
		t.Errorf("with constants, rows %v are deleted", got)
	}
}

// Rows keep their numbers beyond row groups and pages.
func TestMany(t *testing.T) {
	type row struct {
		A int64 `parquet:"a"`
	}
	var all []row
	for i := range 10_000 {
		all = append(all, row{int64(i)})
	}
	f := rowsOf(t, all, pq.MaxRowsPerRowGroup(3000), pq.PageBufferSize(4096))
	s := NewSet(new(Budget))
	one := rowsOf(t, []row{{0}, {2999}, {3000}, {9999}, {10_000}})
	if err := s.Add(t.Context(), one, columnsOf(one), 1); err != nil {
		t.Fatal(err)
	}
	if got := matches(t, s, f, columnsOf(f), 0); !slices.Equal(got, []uint32{0, 2999, 3000, 9999}) {
		t.Errorf("rows %v are deleted", got)
	}
	stop := errors.New("stop")
	if err := s.Matches(t.Context(), f, columnsOf(f), 0, func(uint32) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("emit's error: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Add(ctx, f, columnsOf(f), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled read: %v", err)
	}
}

// Rows beyond the budget are refused, and so are columns that hold lists.
func TestRefused(t *testing.T) {
	type row struct {
		A string   `parquet:"a"`
		L []string `parquet:"l,list"`
	}
	f := rowsOf(t, []row{{A: strings.Repeat("x", 100)}, {A: strings.Repeat("y", 100)}})
	b := &Budget{bytes: MaxBytes - 200}
	if err := NewSet(b).Add(t.Context(), f, columnsOf(f)[:1], 1); !errors.Is(err, ErrTooMany) || !strings.Contains(err.Error(), fmt.Sprint(MaxBytes)) {
		t.Errorf("beyond the budget: %v", err)
	}
	if err := NewSet(new(Budget)).Add(t.Context(), f, columnsOf(f), 1); !errors.Is(err, ErrColumn) {
		t.Errorf("a list: %v", err)
	}
}

// Twice the rows cost twice the allocations at most.
func TestLinear(t *testing.T) {
	type row struct {
		A int64 `parquet:"a"`
	}
	cost := func(n int) float64 {
		var all []row
		for i := range n {
			all = append(all, row{int64(i % 100)})
		}
		f := rowsOf(t, all)
		return testing.AllocsPerRun(2, func() {
			s := NewSet(new(Budget))
			if err := s.Add(t.Context(), f, columnsOf(f), 1); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, four := cost(10_000), cost(40_000); four > 4.4*one {
		t.Errorf("%v allocations of 10,000 rows, %v of 40,000", one, four)
	}
}

// FuzzRows reads damaged files of deletions.
func FuzzRows(f *testing.F) {
	var b bytes.Buffer
	if err := pq.Write(&b, []narrow{{some(int32(1)), some("x"), nil, 3, true}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := pqfile.OpenRows(t.Context(), bytes.NewReader(b), int64(len(b)), func() (sinks.LakeKeys, error) { return sinks.LakeKeys{}, errors.New("none") })
		if err != nil {
			return
		}
		s := NewSet(new(Budget))
		err = s.Add(t.Context(), rows, columnsOf(rows), 1)
		if err != nil && !errors.Is(err, pqfile.ErrRows) && !errors.Is(err, ErrColumn) && !errors.Is(err, ErrTooMany) {
			t.Fatal(err)
		}
	})
}
