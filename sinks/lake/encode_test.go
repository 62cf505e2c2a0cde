package lake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// manyRuns are runs with names that come again, trees of up to 9 scopes and more texts than a row group takes.
func manyRuns(ranges int) []*symbol.Run {
	rnd := rand.New(rand.NewPCG(1, 2))
	names := []string{"", "a.c"}
	for i := range 12_000 {
		names = append(names, fmt.Sprintf("_ZN4game6Engine%d%sEi", len("step")+len(fmt.Sprint(i)), fmt.Sprint("step", i)), bigName(rnd))
	}
	var runs []*symbol.Run
	pos := uint64(0)
	for done := 0; done < ranges; {
		r := &symbol.Run{Rank: symbol.RankDWARF, Strings: names, Scopes: []symbol.Scope{{Parent: -1, Function: uint32(1 + rnd.IntN(len(names)-1))}}}
		for i := range rnd.IntN(9) {
			r.Scopes = append(r.Scopes, symbol.Scope{Parent: int32(rnd.IntN(1 + i)), Function: uint32(rnd.IntN(len(names))), Call: symbol.Site{File: 1, Line: rnd.Uint32N(1e5)}})
		}
		for range 1 + rnd.IntN(20) {
			pos += rnd.Uint64N(100)
			r.Ranges = append(r.Ranges, symbol.Range{Start: pos, End: pos + 4, Scope: int32(rnd.IntN(len(r.Scopes))), At: symbol.Site{File: 1, Line: rnd.Uint32N(1e5)}})
			pos += 4
			done++
		}
		runs = append(runs, r)
	}
	return runs
}

func bigName(rnd *rand.Rand) string {
	b := make([]byte, 50+rnd.IntN(900))
	for i := range b {
		b[i] = 'a' + byte(rnd.IntN(26))
	}
	return string(b)
}

// Pages encoded beside the writer equal pages encoded in place, and parquet-go's own reader, with the
// page index and the bloom filters, finds the rows that went in.
func TestEncode(t *testing.T) {
	runs := manyRuns(40_000)
	var files [][]byte
	for _, start := range []func(func()){nil, func(f func()) { go f() }} {
		dir := t.TempDir()
		b, err := file.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		l := Open(Options{Bucket: b, Profile: sinks.LakePlain, Keys: testKeys, Scratch: t.TempDir(), Go: start})
		if _, err := write(t, l, testLoad(1), runs...); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "ranges/*/*/*.parquet"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, text)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("what is encoded beside the writer differs")
	}
	f, err := pq.OpenFile(bytes.NewReader(files[0]), int64(len(files[0])))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n < 2 {
		t.Errorf("%d row groups: the test wants some", n)
	}
	checkIndex(t, f)
	compareRows(t, f, runs)
}

// Rows of a large load are written out once it has all of them. Rows of a small load wait for more.
func TestEndLoad(t *testing.T) {
	for _, c := range []struct {
		ranges int
		waits  bool
	}{{1000, true}, {10_000, false}} {
		l := testLake(t, t.TempDir(), sinks.LakePlain)
		inner, err := l.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, x := inner.(*batch), testLoad(1)
		if err := b.Load(&x.Artifact, x.Load); err != nil {
			t.Fatal(err)
		}
		rows := uint64(0)
		for _, r := range manyRuns(c.ranges) {
			rows += uint64(len(r.Ranges))
			if err := b.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		b.EndLoad()
		if o := b.outputs[0]; o.g.Rows > 0 != c.waits || o.rows() != rows {
			t.Errorf("%d ranges: %d rows of %d wait", rows, o.g.Rows, o.rows())
		}
		if _, err := b.Commit(t.Context(), []*sinks.LakeLoad{x}); err != nil {
			t.Fatal(err)
		}
		if got := rangesOf(t, l)[x.Artifact.ID]; got != rows {
			t.Errorf("%d rows, want %d", got, rows)
		}
	}
}

// What fails while a load is written out early fails the commit.
func TestEndLoadFails(t *testing.T) {
	for name, start := range map[string]func(func()){"in place": nil, "beside": func(f func()) { go f() }} {
		l := testLake(t, t.TempDir(), sinks.LakePlain)
		l.o.Go = start
		inner, err := l.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, x := inner.(*batch), testLoad(1)
		if err := b.Load(&x.Artifact, x.Load); err != nil {
			t.Fatal(err)
		}
		runs := manyRuns(10_000)
		if err := b.Write(runs[0]); err != nil {
			t.Fatal(err)
		}
		b.outputs[0].w.w = &short{left: 3000}
		for _, r := range runs[1:] {
			if err := b.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		b.EndLoad()
		if _, err := b.Commit(t.Context(), []*sinks.LakeLoad{x}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", name, err)
		}
		if live, err := l.Live(t.Context()); err != nil || len(live) > 0 {
			t.Errorf("%s: %d artifacts, %v", name, len(live), err)
		}
	}
}

// meeting creates no data file before another one comes.
type meeting struct {
	bucket.Bucket
	here chan string
}

func (m *meeting) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if strings.HasSuffix(key, ".parquet") && !strings.HasPrefix(key, "_") {
		select {
		case m.here <- key:
		case <-m.here:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return m.Bucket.Create(ctx, key, etag, r)
}

// Files of a batch get their places at once, if the lake may start goroutines.
func TestFinishAtOnce(t *testing.T) {
	b, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := Open(Options{Bucket: &meeting{b, make(chan string)}, Profile: sinks.LakePlain, Keys: testKeys, Scratch: t.TempDir(), Go: func(f func()) { go f() }})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only a lake that makes them one by one waits for it
	defer cancel()
	batch, err := l.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	x := testLoad(1)
	x.Artifact.Names = nil // two files
	err = errors.Join(batch.Load(&x.Artifact, x.Load), batch.Write(testRun(0, "f")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Commit(ctx, []*sinks.LakeLoad{x}); err != nil {
		t.Fatal(err)
	}
}

// checkIndex compares the bounds of pages with their values, and asks the bloom filters for every function.
func checkIndex(t *testing.T, f *pq.File) {
	t.Helper()
	for i, g := range f.RowGroups() {
		for _, at := range []int{atArtifact, atLoad, atStart, atEnd} {
			c := g.ColumnChunks()[at]
			index, err := c.ColumnIndex()
			if err != nil {
				t.Fatal(err)
			}
			offsets, err := c.OffsetIndex()
			if err != nil {
				t.Fatal(err)
			}
			pages := c.Pages()
			row := int64(0)
			for p := 0; ; p++ {
				page, err := pages.ReadPage()
				if err == io.EOF {
					if p != index.NumPages() || p != offsets.NumPages() {
						t.Errorf("group %d, column %d: %d pages, the index has %d and %d", i, at, p, index.NumPages(), offsets.NumPages())
					}
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				low, high, _ := page.Bounds()
				if !pq.Equal(low, index.MinValue(p)) || !pq.Equal(high, index.MaxValue(p)) || offsets.FirstRowIndex(p) != row {
					t.Errorf("group %d, column %d, page %d: %v to %v from row %d, the index says %v to %v from %d", i, at, p, low, high, row, index.MinValue(p), index.MaxValue(p), offsets.FirstRowIndex(p))
				}
				row += page.NumRows()
			}
			pages.Close()
		}
		functions := g.ColumnChunks()[atFunction]
		values := make([]pq.Value, 1000)
		pages := functions.Pages()
		for {
			page, err := pages.ReadPage()
			if err != nil {
				break
			}
			n, _ := page.Values().ReadValues(values)
			for _, v := range values[:n] {
				if ok, err := functions.BloomFilter().Check(v); err != nil || !ok {
					t.Fatalf("the bloom filter does not know %v (%v)", v, err)
				}
			}
		}
		pages.Close()
		if ok, err := functions.BloomFilter().Check(pq.ValueOf("nobody")); err != nil || ok && i == 0 {
			t.Errorf("the bloom filter knows nobody (%v)", err)
		}
	}
}

// rangeRow is a row of ranges as parquet-go's reader gives it.
type rangeRow struct {
	Start   int64  `parquet:"range_start"`
	End     int64  `parquet:"range_end"`
	Linkage string `parquet:"linkage"`
	File    string `parquet:"file"`
	Line    int32  `parquet:"line"`
	Depth   int32  `parquet:"depth"`
	Inlines []struct {
		Linkage string `parquet:"linkage"`
		Line    int32  `parquet:"line"`
	} `parquet:"inlines,list"`
}

func compareRows(t *testing.T, f *pq.File, runs []*symbol.Run) {
	t.Helper()
	r := pq.NewGenericReader[rangeRow](f)
	defer r.Close()
	row := make([]rangeRow, 1)
	for _, run := range runs {
		for i, g := range run.Ranges {
			if n, err := r.Read(row); n != 1 {
				t.Fatalf("row at %d: %v", g.Start, err)
			}
			chain := run.Chain(i, nil)
			got := row[0]
			if got.Start != int64(g.Start) || got.End != int64(g.End) || int(got.Depth) != len(chain) || len(got.Inlines) != len(chain)-1 ||
				got.Linkage != chain[0].Linkage || got.File != chain[0].File || got.Line != int32(chain[0].Line) {
				t.Fatalf("%+v, want %+v", got, chain)
			}
			for k, in := range got.Inlines {
				if in.Linkage != chain[k+1].Linkage || in.Line != int32(chain[k+1].Line) {
					t.Fatalf("%+v, want %+v", got, chain)
				}
			}
		}
	}
}

// A disk that is full ends a file in an error, also where the library passes over it.
func TestDiskFull(t *testing.T) {
	for _, profile := range []string{sinks.LakeSealed, sinks.LakePlain} {
		for _, space := range []int64{0, 4, 3000, 100_000} {
			l := testLake(t, t.TempDir(), profile)
			o, err := l.open(context.Background(), tableRanges(), "ranges/kind=elf/day=2026-01-01", profile, true, false)
			if err != nil {
				t.Fatal(err)
			}
			o.w.w = &short{left: space}
			w := newRanges(o)
			w.begin(testLoad(1).Artifact.ID, symbol.ELF, "load")
			for _, r := range manyRuns(2000) {
				if err = w.add(r, nil); err != nil {
					break
				}
			}
			if err == nil {
				err = o.finish(t.Context())
			}
			if err == nil {
				t.Errorf("%s, %d bytes: no error", profile, space)
			}
			o.drop()
		}
	}
}

// Wherever in a file the disk is full, its first bytes and its footer too, the error of the write comes back: the library
// for sealed files panics at some places and passes over others.
func TestDiskFullAnywhere(t *testing.T) {
	l := testLake(t, t.TempDir(), sinks.LakeSealed)
	o, err := l.open(t.Context(), tableRanges(), "ranges/kind=elf/day=2026-01-01", sinks.LakeSealed, true, false)
	if err != nil {
		t.Fatal(err)
	}
	defer o.drop()
	w := newRanges(o)
	w.begin(testLoad(1).Artifact.ID, symbol.ELF, "load")
	for _, r := range manyRuns(3) {
		if err := w.add(r, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.page(); err != nil {
		t.Fatal(err)
	}
	encode := func(to io.Writer, profile string) error {
		var key *pqfile.FileKey
		if profile == sinks.LakeSealed {
			key = &pqfile.FileKey{Key: make([]byte, 16), Material: "material"}
		}
		e, err := pqfile.NewWriter(to, tableRanges(), key, true, o.pager)
		if err == nil {
			err = e.Write(o.g)
		}
		if err == nil {
			err = e.Close()
		}
		return err
	}
	for _, profile := range []string{sinks.LakeSealed, sinks.LakePlain} {
		var whole bytes.Buffer
		if err := encode(&whole, profile); err != nil {
			t.Fatal(err)
		}
		size := int64(whole.Len())
		for space := int64(0); space < size; space++ {
			if space > 64 && space < size-64 { // between the first bytes and the last ones, a prime step meets every kind of place
				space = min(space+61, size-64)
			}
			if err := encode(&short{left: space}, profile); !errors.Is(err, io.ErrShortWrite) {
				t.Fatalf("%s, %d bytes of %d: %v", profile, space, size, err)
			}
		}
	}
}

// short takes so many bytes.
type short struct{ left int64 }

func (s *short) Write(b []byte) (int, error) {
	if s.left -= int64(len(b)); s.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}
