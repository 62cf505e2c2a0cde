package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/bucket/s3"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/iceberg/icebergtest"
)

// testTable has a column of text and one of numbers.
func testTable(name string) Table {
	text := pqfile.NewColumn("artifact", "VARCHAR", "an id", pqfile.Text)
	text.ID = 1
	number := pqfile.NewColumn("range_end", "BIGINT", "a position", pqfile.Long)
	number.ID = 2
	return Table{&pqfile.Table{Name: name, Doc: "a table", Columns: []pqfile.Column{text, number}, Sorted: []string{"artifact", "range_end"}}, 3, 4}
}

// world is a folder with data files, and the state that tables are to show.
type world struct {
	t    *testing.T
	dir  string
	s3   *s3test.Server // nil: the folder is the lake; else the lake is in its bucket
	b    bucket.Bucket
	now  time.Time
	st   State
	all  []File
	rows map[string][]string // by file
	was  map[string][]File   // states by their marks
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	b, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return worldIn(t, dir, b)
}

// newWorldS3 is a world in a bucket of a server, below a prefix.
func newWorldS3(t *testing.T, server *s3test.Server, prefix string) *world {
	t.Helper()
	b, err := s3.Open(t.Context(), "lake", prefix+"/", s3.Options{Endpoint: server.Endpoint, Region: s3test.Region, PathStyle: true})
	if err != nil {
		t.Fatal(err)
	}
	w := worldIn(t, "lake/"+prefix, b)
	w.s3 = server
	return w
}

func worldIn(t *testing.T, dir string, b bucket.Bucket) *world {
	w := &world{t: t, dir: dir, b: b, now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), rows: map[string][]string{}, was: map[string][]File{}}
	w.st.Lake = "lake"
	return w
}

func (w *world) open(c Catalog) *Tables {
	tables, err := Open(Options{Bucket: w.b, Tables: []Table{testTable("one"), testTable("two")}, Catalog: c, Now: func() time.Time { return w.now }})
	if err != nil {
		w.t.Fatal(err)
	}
	return tables
}

// add writes a file of a table with rows; all of them count.
func (w *world) add(table, kind string, rows ...string) {
	w.t.Helper()
	var b bytes.Buffer
	t, pager := testTable(table).Table, pqfile.NewPager()
	x, err := pqfile.NewWriter(&b, t, nil, true, pager)
	if err != nil {
		w.t.Fatal(err)
	}
	g := pqfile.NewRowGroup(t)
	for i, r := range rows {
		s := g.Open
		s.Columns[0].Ints = append(s.Columns[0].Ints, g.Dicts[0].Add(g.Dicts[0].Texts.Add(r)))
		s.Columns[1].Longs = append(s.Columns[1].Longs, int64(i))
		s.Rows++
		g.Rows++
	}
	s := g.Take(g.Open.Another())
	if err := errors.Join(pager.Add(g, s), x.Write(g), x.Close()); err != nil {
		w.t.Fatal(err)
	}
	path := fmt.Sprintf("%s/kind=%s/day=2026-01-02/%d.parquet", table, kind, len(w.rows))
	if err := w.b.Create(context.Background(), path, "", &b); err != nil {
		w.t.Fatal(err)
	}
	e, _, err := w.b.Stat(context.Background(), path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.rows[path] = rows
	w.all = append(w.all, File{Table: table, Path: path, Kind: kind, Day: "2026-01-02", Rows: uint64(len(rows)), Bytes: e.Size, Live: []Span{{0, uint64(len(rows))}}})
	w.st.Log++
	w.st.Made = w.now
}

// cut makes a row of a file count no more.
func (w *world) cut(file int, row uint64) {
	f := &w.all[file]
	var live []Span
	for _, s := range f.Live {
		if row < s.First || row >= s.First+s.Rows {
			live = append(live, s)
			continue
		}
		for _, part := range []Span{{s.First, row - s.First}, {row + 1, s.First + s.Rows - row - 1}} {
			if part.Rows > 0 {
				live = append(live, part)
			}
		}
	}
	f.Live = live
	w.st.Log++
	w.st.Made = w.now
}

// want are the rows of a table that count, sorted.
func (w *world) want(table string) (all []string) {
	for _, f := range w.all {
		if f.Table != table {
			continue
		}
		for _, s := range f.Live {
			all = append(all, w.rows[f.Path][s.First:s.First+s.Rows]...)
		}
	}
	slices.Sort(all)
	return all
}

// state is what the tables are to show. w.st numbers the log.
func (w *world) state() *State {
	st, all := w.st, slices.Clone(w.all)
	st.Files = func(context.Context) ([]File, error) { return all, nil }
	st.Mark = fmt.Sprint(st.Lake, st.Log)
	w.was[st.Mark] = all
	was := maps.Clone(w.was)
	st.Since = func(_ context.Context, log uint64, mark string) (*Changes, error) {
		before, ok := was[mark]
		if !ok || mark != fmt.Sprint(st.Lake, log) {
			return nil, nil
		}
		return changesOf(before, all), nil
	}
	return &st
}

// changesOf compares two states.
func changesOf(before, now []File) *Changes {
	c := &Changes{Died: map[string][]Span{}}
	find := func(all []File, path string) *File {
		for i := range all {
			if all[i].Path == path {
				return &all[i]
			}
		}
		return nil
	}
	for i := range now {
		if find(before, now[i].Path) == nil {
			c.Came = append(c.Came, now[i])
		}
	}
	for i := range before {
		f, path := &before[i], before[i].Path
		kept := find(now, path)
		if kept == nil {
			c.Gone = append(c.Gone, path)
			continue
		}
		lives := func(row uint64) bool {
			return slices.ContainsFunc(kept.Live, func(s Span) bool { return row >= s.First && row < s.First+s.Rows })
		}
		for _, s := range f.Live {
			for row := s.First; row < s.First+s.Rows; row++ {
				if !lives(row) {
					c.Died[path] = append(c.Died[path], Span{row, 1})
				}
			}
		}
	}
	return c
}

// try publishes.
func (w *world) try(t *Tables) []Result {
	w.t.Helper()
	all, err := t.Publish(context.Background(), w.state(), false)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// publish publishes, and wants no table to be behind.
func (w *world) publish(t *Tables) []Result {
	w.t.Helper()
	all := w.try(t)
	for _, r := range all {
		if r.Err != nil {
			w.t.Fatal(r.Err)
		}
	}
	return all
}

// table is a table as readers see it.
func (w *world) table(name string) *icebergtest.Table {
	w.t.Helper()
	if w.s3 != nil {
		return icebergtest.OpenS3(w.t, w.s3.Root, w.dir, name)
	}
	return icebergtest.Open(w.t, w.dir, name)
}

// check compares the tables of the folder with what counts.
func (w *world) check() {
	w.t.Helper()
	for _, name := range []string{"one", "two"} {
		x := w.table(name)
		if diff := cmp.Diff(w.want(name), x.Rows(w.t, x.Current, "artifact")); diff != "" {
			w.t.Fatalf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// mortal dies at a write: before it, or after it is done.
type mortal struct {
	bucket.Bucket
	left  int
	after bool
	dead  bool
}

var errDead = errors.New("the process died")

func (m *mortal) die(write func() error) error {
	if m.dead {
		return errDead
	}
	if m.left--; m.left >= 0 {
		return write()
	}
	if m.dead = true; m.after {
		if err := write(); err != nil {
			return err
		}
	}
	return errDead
}

func (m *mortal) Create(ctx context.Context, key, etag string, r io.Reader) error {
	return m.die(func() error { return m.Bucket.Create(ctx, key, etag, r) })
}

func (m *mortal) Delete(ctx context.Context, keys []string) error {
	return m.die(func() error { return m.Bucket.Delete(ctx, keys) })
}
