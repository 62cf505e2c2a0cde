package ingest

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/survey"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/loads"
	"github.com/symlake/symlake/sinks/sinktest"
)

// The fake format is lines of words: "FAKE", then
//
//	id HEX | rank N | file NAME | companion ID | need ID NAME
//	f START END FUNCTION [LINE] | part | broken | fail | table TEXT | code TEXT
//
// What begins with "u" is call frame information, see fakeUnwind.
// need appends the wanted file's functions, or notes it as missing; by its name alone with the word "name" as ID.
func fake(version int) *formats.Format {
	return &formats.Format{Name: "fake", Version: version,
		Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("FAKE")) },
		Open:   openFake,
	}
}

var errEnvironment = errors.New("the disk is on fire")

func openFake(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	text, err := in.View(0, in.Size)
	if err != nil {
		return nil, err
	}
	a := formats.Artifact{Rank: symbol.RankDWARF}
	a.Kind, a.End = symbol.ELF, 1<<40
	obj := &formats.Object{}
	parts := [][]string{nil}
	var needs [][]string
	for _, line := range strings.Split(string(text), "\n")[1:] {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		switch w[0] {
		case "id":
			a.Canonical = w[1]
			a.Names = append(a.Names, symbol.Name{Kind: symbol.NameBuildID, Text: w[1]}, symbol.Name{Kind: symbol.NameFile, Text: formats.Base(in.Name)})
		case "rank":
			var r int
			fmt.Sscan(w[1], &r)
			a.Rank = symbol.Rank(r)
		case "companion":
			obj.Companions = append(obj.Companions, w[1])
		case "need":
			needs = append(needs, w[1:])
		case "part":
			parts = append(parts, nil)
		case "table":
			a.Table = sha256.Sum256([]byte(w[1]))
		case "code":
			code := sha256.Sum256([]byte(w[1]))
			a.CodeDigest = func(context.Context) ([32]byte, error) { return code, nil }
		case "broken":
			return nil, &formats.Error{Format: "fake", Section: "text", Want: "whole lines", Err: formats.ErrCorrupt}
		default:
			parts[len(parts)-1] = append(parts[len(parts)-1], line)
		}
	}
	if a.Canonical == "" {
		return obj, nil
	}
	a.ID = symbol.NewID(a.Kind, a.Canonical)
	a.Parts = len(parts)
	a.Explode = func(ctx context.Context, part int, emit func(*symbol.Run) error) (q symbol.Quality, err error) {
		q.Units = 1
		lines := parts[part]
		if part == 0 {
			for _, n := range needs {
				want := formats.Ref{ID: n[0], Name: n[1]}
				if want.ID == "name" {
					want.ID = ""
				}
				c, err := in.Companion(ctx, want)
				if errors.Is(err, formats.ErrNoCompanion) {
					if want.ID != "" {
						q.Missing = append(q.Missing, want.ID)
					}
					continue
				}
				if err != nil {
					return q, err
				}
				more, err := c.View(0, c.Size)
				if err != nil {
					return q, err
				}
				lines = append(append([]string{}, lines...), strings.Split(string(more), "\n")...)
				if err := release(c); err != nil {
					return q, err
				}
			}
		}
		run := &symbol.Run{Rank: a.Rank, Strings: []string{"", "file.c"}}
		for _, line := range lines {
			var start, end uint64
			var name string
			var no uint32
			switch {
			case line == "fail":
				return q, errEnvironment
			case !strings.HasPrefix(line, "f "):
				continue
			}
			fmt.Sscan(line[2:], &start, &end, &name, &no)
			run.Strings = append(run.Strings, name)
			run.Scopes = []symbol.Scope{{Parent: -1, Function: uint32(len(run.Strings) - 1)}}
			run.Ranges = []symbol.Range{{Start: start, End: end, At: symbol.Site{File: 1, Line: no}}}
			if err := emit(run); err != nil {
				return q, err
			}
		}
		return q, nil
	}
	fakeUnwind(in, &a, obj, string(text))
	obj.Artifacts = []formats.Artifact{a}
	return obj, nil
}

// world is a folder of objects and a store.
type world struct {
	t     *testing.T
	dir   string
	store *sinks.Store
	kek   sinks.KEK
	ring  *row.Keyring
	cat   *catalog.Catalog
	now   time.Time
	o     Options
	src   discover.Source

	lakeDir string            // of o.Lake, where a test needs the folder
	owners  []discover.Source // what runs go over, instead of src
	from    *world            // another store
	dying   *sinktest.Mortal  // the process that is to die
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOf(t, mem.New())
}

func worldOf(t *testing.T, s *sinks.Store) *world {
	t.Helper()
	key := kek.Ephemeral()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, key)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: t.TempDir(), store: s, kek: key, ring: ring, cat: catalog.New(s.Catalog, ring), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.src = discover.Source{Bucket: folder(t, w.dir)}
	w.o = Options{Store: s, Keyring: ring, Formats: []*formats.Format{fake(1), &archive.Zip}, Workers: 2, MemoryBytes: 16 << 20,
		Scratch: t.TempDir(), Run: "run", Owner: "test", Now: func() time.Time { return w.now },
		Alive: func(string, string) (alive, known bool) { return false, true }} // whoever left a lease was killed
	return w
}

func folder(t *testing.T, dir string) bucket.Bucket {
	t.Helper()
	b, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (w *world) put(key, text string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func release(in *formats.Input) error {
	if in.Release == nil {
		return nil
	}
	return in.Release()
}

// zip makes an archive of pairs of name and text.
func zipped(t *testing.T, pairs ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		f, err := z.Create(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// run is one ingest, a millisecond after the one before: a load is named by its millisecond and 16 random bits, so that
// two of one instant have the same name once in 65,536.
func (w *world) run() *report.Report {
	w.t.Helper()
	w.now = w.now.Add(time.Millisecond)
	r, err := Run(w.t.Context(), []discover.Source{w.src}, w.o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) object(key string) *catalog.Object {
	w.t.Helper()
	o, err := w.cat.Ledger.Get(w.t.Context(), w.src.Bucket.URL(key))
	if err != nil {
		w.t.Fatal(err)
	}
	if o == nil {
		w.t.Fatalf("%s is not in the ledger", key)
	}
	return o
}

func (w *world) is(key string, s catalog.ObjectState) {
	w.t.Helper()
	if o := w.object(key); o.State != s {
		w.t.Fatalf("%s is %s (%s), want %s", key, o.State, o.Reason, s)
	}
}

func (w *world) record(id string) *catalog.Record {
	w.t.Helper()
	r, err := w.cat.Artifacts.Get(w.t.Context(), symbol.NewID(symbol.ELF, id))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// ask answers a position from the published load: function and line, or "".
func (w *world) ask(id string, pos uint64) string {
	w.t.Helper()
	r := w.record(id)
	if r == nil || r.Published == nil {
		return "no artifact"
	}
	opened, err := loads.Open(w.ring, r.ID, r.Published)
	if err != nil {
		w.t.Fatal(err)
	}
	get := func(s sinks.Span) (got sinks.Row) {
		err := w.store.Blocks.First(w.t.Context(), []sinks.Span{s}, func(_ int, r sinks.Row, err error) {
			if err != nil {
				w.t.Fatal(err)
			}
			got = r
		})
		if err != nil {
			w.t.Fatal(err)
		}
		return got
	}
	if s, ok := opened.Dictionary(); ok {
		if err := opened.SetDictionary(get(s)); err != nil {
			w.t.Fatal(err)
		}
	}
	i, ok := opened.Index(pos)
	if !ok {
		return "outside"
	}
	b, err := opened.Block(i, get(opened.Row(i)))
	if err != nil {
		w.t.Fatal(err)
	}
	frames, found := b.Find(pos, nil)
	if !found {
		return ""
	}
	return fmt.Sprintf("%s:%d", frames[0].Linkage, frames[0].Line)
}

func (w *world) answers(id string, pos uint64, want string) {
	w.t.Helper()
	if got := w.ask(id, pos); got != want {
		w.t.Fatalf("%s at %d: %q, want %q", id, pos, got, want)
	}
}

// verify expects a sound store and gives its digest.
func (w *world) verify() string {
	w.t.Helper()
	r, err := verify.Run(w.t.Context(), verify.Options{Store: w.store, Keyring: w.ring})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range r.Problems {
		w.t.Errorf("%s: %s", p.Where, p.Error)
	}
	if _, is := w.o.Store.Catalog.(sinks.Counter); is {
		counted(w.t, w.cat)
	}
	return r.Digest
}

// counted fails unless the counters that a store keeps with its writes say what its records say.
func counted(t *testing.T, c *catalog.Catalog) {
	t.Helper()
	brief, err := survey.Brief(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := survey.Take(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	runs := func(s *survey.Survey) map[string]map[string]int {
		m := map[string]map[string]int{}
		for _, r := range s.Runs {
			if len(r.Objects) > 0 {
				m[r.Run] = r.Objects
			}
		}
		return m
	}
	if d := cmp.Diff(runs(whole), runs(brief)); d != "" {
		t.Errorf("runs by records and by counters: %s", d)
	}
	for _, s := range []*survey.Survey{brief, whole} {
		s.Read, s.Taken, s.Took, s.Runs, s.Oldest = 0, time.Time{}, 0, nil, s.Oldest.Truncate(time.Second)
	}
	if d := cmp.Diff(whole, brief); d != "" {
		t.Errorf("records and counters: %s", d)
	}
}
