package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/sinks/sinktest"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/ingest/transfer"
	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/loads"
)

func (w *world) rotate() *keys.RotateReport {
	w.t.Helper()
	r, err := keys.Rotate(w.t.Context(), keys.RotateOptions{Store: w.store, Keyring: w.ring})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// reopened is the keyring as another process opens it.
func (w *world) reopened(s *sinks.Store) *row.Keyring {
	w.t.Helper()
	ring, err := row.OpenKeyring(w.t.Context(), s.Catalog, w.kek)
	if err != nil {
		w.t.Fatal(err)
	}
	return ring
}

// onlyNewest wants nothing to be under any version of the store key but one.
func (w *world) onlyNewest(version uint32) {
	w.t.Helper()
	use, err := w.cat.Keys.Use(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if counted, err := w.cat.Keys.Counted(w.t.Context()); err != nil || !cmp.Equal(use, counted) {
		w.t.Errorf("keys by records %v, by counters %v, %v", use, counted, err)
	}
	for _, counts := range []map[uint32]int{use.Records, use.DataKeys} {
		for v, n := range counts {
			if v != version && n > 0 {
				w.t.Errorf("%d under store key %d, want all under %d", n, v, version)
			}
		}
	}
}

// loadedTwice is a world with artifacts that have a published and a previous load.
func loadedTwice(t *testing.T, s *sinks.Store) *world {
	t.Helper()
	w := worldOf(t, s)
	for _, line := range []string{"1", "2"} {
		for i := range 6 {
			w.put(fmt.Sprintf("%d.so", i), fmt.Sprintf("FAKE\nid %s\nf 0 8 f %s\n", hookID(i), line))
		}
		w.run()
	}
	return w
}

// If any record cannot be written, with or without effect, the rotation says so, everything answers, and the next
// one goes on to the same key.
func TestRotateDies(t *testing.T) {
	for _, after := range []bool{false, true} {
		for from := int64(1); ; from++ {
			w := loadedTwice(t, mem.New())
			digest := w.verify()
			f := &flaky{from: from, until: 1 << 60, after: after}
			_, err := keys.Rotate(t.Context(), keys.RotateOptions{Store: flakyStore(w.store, f), Keyring: w.reopened(flakyStore(w.store, f))})
			keys, lerr := row.StoreKeys(t.Context(), w.store.Catalog)
			if lerr != nil {
				t.Fatal(lerr)
			}
			whole, newest := err == nil, keys[len(keys)-1]
			if w.verify() != digest {
				t.Fatalf("from %d: another content", from)
			}
			w.answers(hookID(1), 0, "f:2")
			r := w.rotate()
			if begun := newest.Finished.IsZero(); r.Resumed != begun || begun && r.Version != newest.Version {
				t.Fatalf("from %d: %+v", from, r)
			}
			w.onlyNewest(r.Version)
			if w.verify() != digest {
				t.Fatalf("from %d: another content", from)
			}
			if whole {
				if from < 10 {
					t.Fatalf("it wrote %d times only", from)
				}
				break
			}
		}
	}
}

// Readers, and an ingest, go on while keys rotate; what they wrote meanwhile is under the new key when it is over.
func TestRotateBeside(t *testing.T) {
	w := loadedTwice(t, mem.New())
	reader := *w
	reader.ring = w.reopened(w.store)
	reader.cat = catalog.New(w.store.Catalog, reader.ring)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if got := reader.ask(hookID(n%6), 0); got != "f:2" {
				t.Errorf("a reader was told %q", got)
				return
			}
		}
	})
	for i := range 5 {
		w.put(fmt.Sprintf("more%d.so", i), "FAKE\nid "+hookID(100+i)+"\nf 0 8 f 2\n")
		done := make(chan error)
		go func() { _, err := Run(t.Context(), []discover.Source{w.src}, w.o); done <- err }()
		w.rotate()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	w.onlyNewest(w.rotate().Version)
	w.verify()
}

// Old store keys go when nothing needs them, and not before the grace.
func TestRetireKeys(t *testing.T) {
	w := loadedTwice(t, mem.New())
	w.rotate()
	retire := func(now time.Time, want int) {
		t.Helper()
		gone, err := keys.Retire(t.Context(), w.store, w.ring, nil, time.Hour, now)
		if err != nil || len(gone) != want {
			t.Fatalf("%v went: %v", gone, err)
		}
	}
	retire(time.Now(), 0)
	retire(time.Now().Add(2*time.Hour), 1)
	retire(time.Now().Add(2*time.Hour), 0)
	w.verify()
	w.answers(hookID(1), 0, "f:2")
}

// Resealed loads hold the same, under keys and in rows that are not the old ones.
func TestReseal(t *testing.T) {
	w := loadedTwice(t, mem.New())
	digest := w.verify()
	id := symbol.NewID(symbol.ELF, hookID(3))
	old := w.record(hookID(3))
	r, err := keys.Reseal(t.Context(), keys.ResealOptions{Store: w.store, Keyring: w.ring, Artifacts: []symbol.ID{id}, MemoryBytes: 1 << 20,
		Scratch: t.TempDir(), Owner: "reseal", Now: func() time.Time { return w.now }})
	if err != nil || r.Artifacts != 1 || r.Loads != 2 {
		t.Fatalf("%+v %v", r, err)
	}
	now := w.record(hookID(3))
	for _, l := range [][2]*row.Loaded{{old.Published, now.Published}, {old.Previous, now.Previous}} {
		if l[0].Load == l[1].Load || bytes.Equal(l[0].WrappedKey, l[1].WrappedKey) || l[0].Digest != l[1].Digest {
			t.Errorf("%+v became %+v", l[0], l[1])
		}
	}
	if w.verify() != digest {
		t.Error("another content")
	}
	w.answers(hookID(3), 0, "f:2")
	collect(t, w)
	for _, l := range []*row.Loaded{old.Published, old.Previous} {
		prefix := row.LoadPrefix(id, l.Load)
		err := w.store.Blocks.Scan(t.Context(), sinks.Span{From: prefix, Stop: stored.After(prefix)}, func(r sinks.Row) error {
			return fmt.Errorf("row %x is still there", r.Key)
		})
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := upkeep.Rollback(t.Context(), w.projection(), id); err != nil {
		t.Fatal(err)
	}
	w.answers(hookID(3), 0, "f:1")
	w.verify()
}

func collect(t *testing.T, w *world) {
	t.Helper()
	if _, err := gc.Run(t.Context(), gc.Options{Store: w.store, Keyring: w.ring, Grace: 1, Alone: true, Now: func() time.Time { return w.now.Add(2 * record.LeaseTime) }}); err != nil {
		t.Fatal(err)
	}
}

// holding are the files of a folder that hold some of these bytes.
func holding(t *testing.T, dir string, some [][]byte) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if slices.ContainsFunc(some, func(s []byte) bool { return bytes.Contains(text, s) }) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// watched notes every value that a catalog's records of artifacts ever had.
type watched struct {
	sinks.Catalog
	mu   sync.Mutex
	seen map[string][][]byte // by key
}

func (c *watched) swap(ctx context.Context, ch sinks.Change) error {
	c.mu.Lock()
	if ch.Key[0] == 'a' && ch.New != nil {
		c.seen[string(ch.Key)] = append(c.seen[string(ch.Key)], ch.New)
	}
	c.mu.Unlock()
	return sinktest.SwapOne(ctx, c.Catalog, ch)
}

func (c *watched) Swap(ctx context.Context, key, old, new []byte) error {
	return c.swap(ctx, sinks.Change{Key: key, Old: old, New: new})
}

func (c *watched) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	return sinktest.SwapEach(changes, func(ch sinks.Change) error { return c.swap(ctx, ch) })
}

// pieces cuts what an artifact's record has been into pieces of 16 bytes.
func (c *watched) pieces(id symbol.ID) (all [][]byte) {
	for _, v := range c.seen["a"+string(id[:])] {
		all = append(all, slices.Collect(slices.Chunk(v[:len(v)/16*16], 16))...)
	}
	return all
}

// The whole of a shredding in the embedded store: of the records that held the wrapped keys of any of its loads no piece
// is left in any file, of its text none in the lake's; its rows are not found; it answers nothing; ingest, another parser, rollback and copy leave it
// so until force.
func TestShred(t *testing.T) {
	dir, lakeDir := filepath.Join(t.TempDir(), "store"), t.TempDir()
	if err := file.Create(dir); err != nil {
		t.Fatal(err)
	}
	s, err := file.Open(dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	watch := &watched{Catalog: s.Catalog, seen: map[string][][]byte{}}
	s.Catalog = watch
	w := worldOf(t, s)
	w.o.Lake = plainLake(t, lakeDir)
	reader, err := file.Open(dir, file.Options{ReadOnly: true}) // stays open all the time
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, line := range []string{"1", "2", "3"} {
		w.put("secret.so", "FAKE\nid "+idA+"\nf 0 8 theSecretFunction "+line+"\n")
		w.put("other.so", "FAKE\nid "+idB+"\nf 0 8 anotherFunction "+line+"\n")
		w.run()
		w.now = w.now.Add(time.Hour)
	}
	id := symbol.NewID(symbol.ELF, idA)
	wrapped := watch.pieces(id) // every one of them had a wrapped key, but the first
	clear := [][]byte{[]byte("theSecretFunction")}
	for what, files := range map[string][]string{"keys": holding(t, dir, wrapped), "lake": holding(t, lakeDir, clear)} {
		if len(files) == 0 {
			t.Fatalf("no file has its %s", what)
		}
	}
	another := loadedTwice(t, mem.New())
	if err := w.cat.Audit.Add(t.Context(), audit.Event{At: w.now, Who: "me", What: "copied", Detail: "2 artifacts to hbase://far:1/away"}); err != nil {
		t.Fatal(err)
	}

	shred := func() *keys.ShredReport {
		t.Helper()
		r, err := keys.Shred(t.Context(), keys.ShredOptions{Store: s, Keyring: w.ring, Lake: w.o.Lake, Artifacts: []symbol.ID{id}, Alone: true, Now: func() time.Time { return w.now }})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := shred()
	if r.Loads != 3 || r.LakeFiles == 0 {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"secret.so", "hbase://far:1/away", "backups and snapshots of " + dir, "TTL"} {
		if !strings.Contains(strings.Join(r.Left, "\n"), want) {
			t.Errorf("what is left does not name %s: %q", want, r.Left)
		}
	}
	gone := func() {
		t.Helper()
		if files := holding(t, dir, wrapped); len(files) > 0 {
			t.Errorf("%v hold pieces of its records", files)
		}
		err := s.Blocks.Scan(t.Context(), sinks.Span{From: id[:], Stop: stored.After(id[:])}, func(r sinks.Row) error {
			return fmt.Errorf("row %x is still found", r.Key)
		})
		if err != nil {
			t.Error(err)
		}
		if files := holding(t, lakeDir, clear); len(files) > 0 {
			t.Errorf("%v hold its text", files)
		}
		rec := w.record(idA)
		if rec.State != catalog.Shredded || len(rec.Published.WrappedKey) > 0 || len(rec.Previous.WrappedKey) > 0 {
			t.Errorf("%+v", rec)
		}
		if _, err := loads.Open(w.ring, id, rec.Published); !errors.Is(err, row.ErrShredded) {
			t.Error(err)
		}
	}
	gone()
	w.answers(idB, 0, "anotherFunction:3")
	w.verify()

	// Nothing brings it back.
	w.put("secret.so", "FAKE\nid "+idA+"\nf 0 8 theSecretFunction 4\n")
	w.put("again.so", "FAKE\nid "+idA+"\nf 0 8 theSecretFunction 4\n")
	w.run()
	w.o.Formats[0], w.o.Rederive = fake(2), true
	w.run()
	w.o.Rederive = false
	if _, err := upkeep.Rollback(t.Context(), w.projection(), id); !errors.Is(err, upkeep.ErrNoPrevious) {
		t.Errorf("rolled back: %v", err)
	}
	another.put("secret.so", "FAKE\nid "+idA+"\nf 0 8 theSecretFunction 4\n")
	another.run()
	copied := transfer.Options{From: transfer.Store{Store: another.store, Keyring: another.ring}, To: transfer.Store{Store: s, Keyring: w.ring}, Artifacts: []symbol.ID{id}, Owner: "copy", Run: "copy"}
	if c, err := transfer.Copy(t.Context(), copied); err != nil || c.Artifacts.Copied != 0 {
		t.Errorf("%+v %v", c, err)
	}
	collect(t, w)
	if _, err := projection.Compact(t.Context(), projection.CompactOptions{Stores: w.projection(), Grace: 1}); err != nil {
		t.Fatal(err)
	}
	if rec := w.record(idA); rec.State != catalog.Shredded || len(rec.Published.WrappedKey) > 0 {
		t.Fatalf("%+v", rec)
	}
	if files := holding(t, lakeDir, clear); len(files) > 0 {
		t.Errorf("%v hold its text", files)
	}
	w.verify()
	shred() // once more, which changes nothing
	w.verify()

	w.o.Force = true
	w.run()
	if rec := w.record(idA); rec.State != catalog.Live {
		t.Fatalf("%+v", rec)
	}
	w.answers(idA, 0, "theSecretFunction:4")
	w.verify()
}

// A death in the middle of shredding leaves either all keys or none in use, and the next one ends it.
func TestShredDies(t *testing.T) {
	ids := []symbol.ID{symbol.NewID(symbol.ELF, hookID(1)), symbol.NewID(symbol.ELF, hookID(2))}
	for _, after := range []bool{false, true} {
		for from := int64(1); ; from++ {
			w := loadedTwice(t, mem.New())
			o := keys.ShredOptions{Store: flakyStore(w.store, &flaky{from: from, until: 1 << 60, after: after}), Keyring: w.ring, Artifacts: ids}
			_, err := keys.Shred(t.Context(), o)
			w.verify()
			if err == nil {
				if from < 4 {
					t.Fatalf("it wrote %d times only", from-1)
				}
				break
			}
			o.Store = w.store
			if _, err := keys.Shred(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			for i := 1; i <= 2; i++ {
				if rec := w.record(hookID(i)); rec.State != catalog.Shredded || len(rec.Published.WrappedKey)+len(rec.Previous.WrappedKey) > 0 {
					t.Fatalf("from %d: %+v", from, rec)
				}
				prefix := ids[i-1][:]
				next := append(slices.Clone(prefix), bytes.Repeat([]byte{0xff}, 20)...)
				err := w.store.Blocks.Scan(t.Context(), sinks.Span{From: prefix, Stop: next}, func(r sinks.Row) error {
					return fmt.Errorf("row %x is still there", r.Key)
				})
				if err != nil {
					t.Fatalf("from %d: %v", from, err)
				}
			}
			w.answers(hookID(3), 0, "f:2")
		}
	}
}
