package lake

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/buckettest"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
	"github.com/symlake/symlake/sinks/sinktest"
)

// heads is a store that remembers the ends of logs.
type heads struct {
	mu    sync.Mutex
	heads map[string]sinks.LakeHead
}

func (h *heads) LakeHead(_ context.Context, lake string) (sinks.LakeHead, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heads[lake], nil
}

func (h *heads) AdvanceLakeHead(_ context.Context, to sinks.LakeHead) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.heads == nil {
		h.heads = map[string]sinks.LakeHead{}
	}
	if to.Number > h.heads[to.Lake].Number {
		h.heads[to.Lake] = to
	}
	return nil
}

func memoryLake(t *testing.T, b bucket.Bucket, profile string, h sinks.LakeHeads) *Lake {
	t.Helper()
	return Open(Options{Bucket: b, Profile: profile, Keys: testKeys, Scratch: t.TempDir(), Heads: h})
}

// loadNumber is a load with a number of its own.
func loadNumber(n int) *sinks.LakeLoad {
	x := testLoad(0)
	x.Artifact.Canonical = fmt.Sprint("artifact ", n)
	x.Artifact.ID = symbol.NewID(x.Artifact.Kind, x.Artifact.Canonical)
	x.Load = sinks.Load{1, 0, byte(n >> 16), byte(n >> 8), byte(n)}
	return x
}

// Each way to take away the end of a log is seen by the next process, if the store remembers the end.
func TestRolledBack(t *testing.T) {
	for _, profile := range []string{sinks.LakeSealed, sinks.LakePlain} {
		for _, c := range []struct {
			name string
			want string
			do   func(b, before *buckettest.Memory)
		}{
			{"the last entry is gone", "its log ends at entry 4, and the store has seen entry 5", func(b, _ *buckettest.Memory) { b.Put(journal.EntryKey(5), nil) }},
			{"the lake is an older copy", "its log ends at entry 2, and the store has seen entry 5", func(b, before *buckettest.Memory) {
				for _, key := range b.Keys("") {
					b.Put(key, before.Get(key))
				}
			}},
			{"the log is gone", "its log ends at entry 0, and the store has seen entry 5", func(b, _ *buckettest.Memory) {
				for _, key := range b.Keys("_") {
					if !strings.HasPrefix(key, manifestDir) {
						b.Put(key, nil)
					}
				}
			}},
			{"another history", "entry 5 of its log is not the one that the store has seen", func(b, before *buckettest.Memory) {
				for _, key := range b.Keys("") {
					b.Put(key, before.Get(key))
				}
				l := memoryLake(t, b, profile, nil)
				for n := 10; n < 13; n++ {
					if _, err := write(t, l, loadNumber(n), testRun(0, "f")); err != nil {
						t.Fatal(err)
					}
				}
			}},
			{"another history that went on", "entry 5 of its log is not the one that the store has seen", func(b, before *buckettest.Memory) {
				for _, key := range b.Keys("") {
					b.Put(key, before.Get(key))
				}
				l := memoryLake(t, b, profile, nil)
				for n := 10; n < 20; n++ {
					if _, err := write(t, l, loadNumber(n), testRun(0, "f")); err != nil {
						t.Fatal(err)
					}
				}
			}},
		} {
			t.Run(profile+" "+c.name, func(t *testing.T) {
				b, before, store := buckettest.NewMemory(), buckettest.NewMemory(), &heads{}
				l := memoryLake(t, b, profile, store)
				for n := range 5 {
					if n == 2 {
						for _, key := range b.Keys("") {
							before.Put(key, b.Get(key))
						}
					}
					if _, err := write(t, l, loadNumber(n), testRun(0, "f")); err != nil {
						t.Fatal(err)
					}
				}
				c.do(b, before)
				for what, err := range map[string]error{
					"Begin": func() error { _, err := memoryLake(t, b, profile, store).Begin(t.Context()); return err }(),
					"Live":  func() error { _, err := memoryLake(t, b, profile, store).Live(t.Context()); return err }(),
				} {
					if !errors.Is(err, sinks.ErrCorrupt) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "remove the lake and run symlake ingest") {
						t.Errorf("%s: %v, want %q", what, err, c.want)
					}
				}
				// A lake that was removed is made anew.
				for _, key := range b.Keys("") {
					b.Put(key, nil)
				}
				if _, err := write(t, memoryLake(t, b, profile, store), loadNumber(1), testRun(0, "f")); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A store that has seen less than the log holds, because a process died between the two, is no error.
func TestHeadBehind(t *testing.T) {
	b, store := buckettest.NewMemory(), &heads{}
	l := memoryLake(t, b, sinks.LakeSealed, store)
	for n := range 3 {
		if n == 2 {
			l.o.Heads = nil
		}
		if _, err := write(t, l, loadNumber(n), testRun(0, "f")); err != nil {
			t.Fatal(err)
		}
	}
	next := memoryLake(t, b, sinks.LakeSealed, store)
	if noted, err := next.Noted(t.Context()); err != nil || noted {
		t.Errorf("noted %v, %v", noted, err)
	}
	if err := next.Note(t.Context()); err != nil {
		t.Fatal(err)
	}
	if noted, err := next.Noted(t.Context()); err != nil || !noted {
		t.Errorf("noted %v, %v", noted, err)
	}
}

// A sealed file under the name of another file of its size does not open.
func TestSwappedFile(t *testing.T) {
	b := buckettest.NewMemory()
	l := memoryLake(t, b, sinks.LakeSealed, nil)
	for n := range 2 {
		if _, err := write(t, l, loadNumber(n), testRun(0, "f")); err != nil {
			t.Fatal(err)
		}
	}
	files := b.Keys("ranges/")
	one, two := b.Get(files[0]), b.Get(files[1])
	if len(one) != len(two) {
		t.Fatalf("files of %d and %d bytes", len(one), len(two))
	}
	b.Put(files[0], two)
	b.Put(files[1], one)
	var problems []string
	err := l.Verify(t.Context(), func(symbol.ID, sinks.Load, uint64) {}, func(where string, err error) { problems = append(problems, where) })
	if err != nil || len(problems) != 2 {
		t.Errorf("%q, %v", problems, err)
	}
}

// A process that dies at any write of commits, checkpoints, a drop and a compaction leaves a whole log, and the next one
// goes on.
func TestDeaths(t *testing.T) {
	const loads = journal.Every + 3
	export := func(_ context.Context, id symbol.ID, b sinks.LakeBatch) (*sinks.LakeLoad, error) {
		for n := range loads {
			if x := loadNumber(n); x.Artifact.ID == id {
				if b == nil {
					return x, nil
				}
				return x, errors.Join(b.Load(&x.Artifact, x.Load), b.Write(testRun(0, "f")))
			}
		}
		return nil, nil
	}
	act := func(l *Lake) error {
		ctx := context.Background()
		live, err := l.Live(ctx)
		if err != nil {
			return err
		}
		for n := range loads {
			x := loadNumber(n)
			if _, there := live[x.Artifact.ID]; there {
				continue
			}
			b, err := l.Begin(ctx)
			if err != nil {
				return err
			}
			if err := errors.Join(b.Load(&x.Artifact, x.Load), b.Write(testRun(0, "f"))); err != nil {
				return err
			}
			if _, err := b.Commit(ctx, []*sinks.LakeLoad{x}); err != nil {
				return err
			}
		}
		if _, err := l.Compact(ctx, sinks.LakeCompact{Export: export, Grace: time.Nanosecond, Now: func() time.Time { return time.Now().Add(time.Hour) }}); err != nil {
			return err
		}
		return l.Drop(ctx, []symbol.ID{loadNumber(0).Artifact.ID})
	}
	// All but the last commits, with their checkpoint, are made once.
	first := buckettest.NewMemory()
	for n := range journal.Every - 1 {
		if _, err := write(t, memoryLake(t, first, sinks.LakePlain, nil), loadNumber(n), testRun(0, "f")); err != nil {
			t.Fatal(err)
		}
	}
	stride := 1
	if testing.Short() {
		stride = 7
	}
	died := true
	for at := 1; died; at += stride {
		for _, after := range []bool{false, true} {
			b, store := first.Clone(), &heads{}
			m := &sinktest.Mortal{At: at, After: after}
			dying := memoryLake(t, m.Bucket(b), sinks.LakePlain, store)
			dying.o.Go = func(f func()) { go f() } // then files get their places at once
			err := act(dying)
			if died = m.Dead(); died == (err == nil) {
				t.Fatalf("death at write %d: %v", at, err)
			}
			l := memoryLake(t, b, sinks.LakePlain, store)
			if err := act(l); err != nil {
				t.Fatalf("after a death at write %d (%v): %v", at, after, err)
			}
			for id, n := range rangesOf(t, l) {
				if n != 1 {
					t.Errorf("death at write %d: %s has %d rows", at, id, n)
				}
			}
			if live, err := l.Live(t.Context()); err != nil || len(live) != loads-1 {
				t.Errorf("death at write %d: %d artifacts, %v", at, len(live), err)
			}
		}
	}
}

// old makes a lake as earlier versions left it: manifests and the table live in place of a log.
func old(t *testing.T, b *buckettest.Memory, profile string) {
	t.Helper()
	l := memoryLake(t, b, profile, nil)
	s, err := l.State(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) pqfile.Column { return pqfile.NewColumn(name, "VARCHAR", "", pqfile.Text) }
	table := &pqfile.Table{Name: liveTable, Columns: []pqfile.Column{text("artifact"), text("load"), text("revision"), text("file"), text("facts"), text("names")}}
	o, err := l.open(t.Context(), table, liveTable, profile, true, false)
	if err != nil {
		t.Fatal(err)
	}
	for id, n := range s.Live {
		if err := o.put(id.String(), hex.EncodeToString(n.Load[:]), hex.EncodeToString(n.Revision[:]), n.Rows.File, n.Facts.File, n.Names.File); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := map[string]any{"format": 1, "number": 7, "made": time.Unix(1, 0).UTC(), "profile": profile, "live": o.File, "retired": []any{map[string]any{"path": "ranges/kind=elf/day=2026-01-01/00000000000000000000000000000000.parquet", "at": time.Unix(1, 0).UTC()}}}
	var files []journal.File
	for _, f := range s.Counting() {
		files = append(files, f.File)
	}
	m["files"] = files
	body, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range b.Keys("_") {
		b.Put(key, nil)
	}
	b.Put(manifestKey(7), append(body, '\n'))
}

// A lake of an earlier version is read as it is, and the first change or a compaction moves it into a log, also if processes
// die on the way. An earlier version refuses the last manifest.
func TestTakeOver(t *testing.T) {
	for _, profile := range []string{sinks.LakeSealed, sinks.LakePlain} {
		for _, by := range []string{"commit", "compact", "drop"} {
			t.Run(profile+" "+by, func(t *testing.T) {
				act := func(l *Lake) (err error) {
					switch by {
					case "commit":
						_, err = write(t, l, loadNumber(3), testRun(0, "g", "h"))
					case "compact":
						_, err = l.Compact(context.Background(), sinks.LakeCompact{Export: func(context.Context, symbol.ID, sinks.LakeBatch) (*sinks.LakeLoad, error) {
							return nil, errors.New("nothing is to be rewritten")
						}, TargetBytes: 1})
					case "drop":
						err = l.Drop(context.Background(), []symbol.ID{loadNumber(0).Artifact.ID})
					}
					return err
				}
				died := true
				for at := 0; died; at++ {
					b, store := buckettest.NewMemory(), &heads{}
					l := memoryLake(t, b, profile, nil)
					for n := range 3 {
						if _, err := write(t, l, loadNumber(n), testRun(0, "f", "g")); err != nil {
							t.Fatal(err)
						}
					}
					old(t, b, profile)
					if counts := rangesOf(t, memoryLake(t, b, profile, store)); len(counts) != 3 {
						t.Fatalf("%d artifacts, as it was", len(counts))
					}
					if at > 0 {
						m := &sinktest.Mortal{At: at}
						if err := act(memoryLake(t, m.Bucket(b), profile, store)); (err != nil) != m.Dead() {
							t.Fatalf("death at write %d: %v", at, err)
						}
						died = m.Dead()
						if counts := rangesOf(t, memoryLake(t, b, profile, store)); died && len(counts) != 3 && (by != "drop" || len(counts) != 2) && (by != "commit" || len(counts) != 4) {
							t.Errorf("death at write %d: %d artifacts", at, len(counts))
						}
					}
					l = memoryLake(t, b, profile, store)
					live, err := l.Live(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if _, there := live[loadNumber(3).Artifact.ID]; by != "commit" || !there {
						if err := act(l); err != nil {
							t.Fatal(err)
						}
					}
					rangesOf(t, l)
					s, err := l.State(t.Context(), 0)
					if err != nil || s.Number == 0 {
						t.Fatalf("%+v, %v", s, err)
					}
					for id, n := range s.Live {
						if n.Rows.Rows != 2 || n.Facts.Rows != 1 || n.Names.Rows != 1 {
							t.Errorf("%s: %+v", id, n.Live)
						}
					}
					if _, there := s.Files["ranges/kind=elf/day=2026-01-01/00000000000000000000000000000000.parquet"]; !there {
						t.Error("the retired file is forgotten")
					}
					// What an earlier version reads: the newest manifest must be of form 1.
					keys := b.Keys(manifestDir)
					var m struct{ Format, Number int }
					if err := json.Unmarshal(b.Get(keys[len(keys)-1]), &m); err != nil || m.Format == 1 || m.Number != 8 {
						t.Errorf("the last manifest is %+v, %v", m, err)
					}
				}
			})
		}
	}
}

// Several processes find an old lake at once: one moves it, and the changes of all are there.
func TestTakeOverRace(t *testing.T) {
	b := buckettest.NewMemory()
	if _, err := write(t, memoryLake(t, b, sinks.LakePlain, nil), loadNumber(0), testRun(0, "f")); err != nil {
		t.Fatal(err)
	}
	old(t, b, sinks.LakePlain)
	store := &heads{}
	var wg sync.WaitGroup
	for n := 1; n <= 8; n++ {
		wg.Go(func() {
			if _, err := write(t, memoryLake(t, b, sinks.LakePlain, store), loadNumber(n), testRun(0, "f")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if counts := rangesOf(t, memoryLake(t, b, sinks.LakePlain, store)); len(counts) != 9 {
		t.Errorf("%d artifacts", len(counts))
	}
}

// Fresh loads are named without the state of the lake, but not twice.
func TestFresh(t *testing.T) {
	b := buckettest.NewMemory()
	one, two := memoryLake(t, b, sinks.LakePlain, nil), memoryLake(t, b, sinks.LakePlain, nil)
	if _, err := write(t, one, loadNumber(0), testRun(0, "f")); err != nil {
		t.Fatal(err)
	}
	x := loadNumber(1)
	x.Fresh = true
	first, err := one.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Load(&x.Artifact, x.Load), first.Write(testRun(0, "f"))); err != nil {
		t.Fatal(err)
	}
	again := loadNumber(1)
	if _, err := write(t, two, again, testRun(0, "f")); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Commit(t.Context(), []*sinks.LakeLoad{x}); !errors.Is(err, sinks.ErrConflict) {
		t.Errorf("a load was put there twice: %v", err)
	}
	y := loadNumber(2)
	y.Fresh = true
	if _, err := write(t, memoryLake(t, b, sinks.LakePlain, nil), y, testRun(0, "f")); err != nil {
		t.Fatal(err)
	}
	if counts := rangesOf(t, one); len(counts) != 3 {
		t.Errorf("%d artifacts", len(counts))
	}
}

// A compaction forgets old entries and checkpoints once a checkpoint is older than the grace, and no reader needs them.
func TestForgetting(t *testing.T) {
	b, store := buckettest.NewMemory(), &heads{}
	l := memoryLake(t, b, sinks.LakePlain, store)
	for n := range 3 * journal.Every {
		if _, err := write(t, l, loadNumber(n), testRun(0, "f")); err != nil {
			t.Fatal(err)
		}
	}
	export := func(_ context.Context, id symbol.ID, to sinks.LakeBatch) (*sinks.LakeLoad, error) {
		for n := range 3 * journal.Every {
			if x := loadNumber(n); x.Artifact.ID == id {
				if to != nil {
					return x, errors.Join(to.Load(&x.Artifact, x.Load), to.Write(testRun(0, "f")))
				}
				return x, nil
			}
		}
		return nil, nil
	}
	before, _ := b.Bytes(journal.EntryDir)
	if _, err := l.Compact(t.Context(), sinks.LakeCompact{Export: export}); err != nil {
		t.Fatal(err)
	}
	if now, _ := b.Bytes(journal.EntryDir); now < before {
		t.Errorf("%d entries within the grace, were %d", now, before)
	}
	later := func() time.Time { return time.Now().Add(25 * time.Hour) }
	for range 2 {
		if _, err := memoryLake(t, b, sinks.LakePlain, store).Compact(t.Context(), sinks.LakeCompact{Export: export, Now: later}); err != nil {
			t.Fatal(err)
		}
	}
	entries, _ := b.Bytes(journal.EntryDir)
	checkpoints, _ := b.Bytes(journal.CheckpointDir)
	parts, _ := b.Bytes(journal.PartDir)
	if entries > 4 || checkpoints > 3 || parts > 6 {
		t.Errorf("%d entries, %d checkpoints, %d parts", entries, checkpoints, parts)
	}
	if counts := rangesOf(t, memoryLake(t, b, sinks.LakePlain, store)); len(counts) != 3*journal.Every {
		t.Errorf("%d artifacts", len(counts))
	}
}

// After a batch and a compaction of many artifacts, a reader begins at an entry that names none.
func TestShortEnd(t *testing.T) {
	b, store := buckettest.NewMemory(), &heads{}
	l := memoryLake(t, b, sinks.LakePlain, store)
	all := map[symbol.ID]*sinks.LakeLoad{}
	for _, n := range []int{1, endMost + 1} {
		batch, err := l.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var loads []*sinks.LakeLoad
		for range n {
			x := loadNumber(len(all))
			all[x.Artifact.ID] = x
			loads = append(loads, x)
			if err := errors.Join(batch.Load(&x.Artifact, x.Load), batch.Write(testRun(0, "f"))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := batch.Commit(t.Context(), loads); err != nil {
			t.Fatal(err)
		}
	}
	var ends []uint64
	check := func(what string) {
		t.Helper()
		tail, err := l.log.Tail(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last, err := l.log.Entry(t.Context(), tail.Number)
		if err != nil || len(last.Live) > 0 || tail.Checkpoint != tail.Number {
			t.Errorf("%s: the log ends with %d artifacts at entry %d, its checkpoint is %d: %v", what, len(last.Live), tail.Number, tail.Checkpoint, err)
		}
		ends = append(ends, tail.Number)
	}
	check("a batch")
	for range 2 {
		l = memoryLake(t, b, sinks.LakePlain, store)
		_, err := l.Compact(t.Context(), sinks.LakeCompact{Export: func(_ context.Context, id symbol.ID, to sinks.LakeBatch) (*sinks.LakeLoad, error) {
			x := all[id]
			if to == nil {
				return x, nil
			}
			return x, errors.Join(to.Load(&x.Artifact, x.Load), to.Write(testRun(0, "f")))
		}})
		if err != nil {
			t.Fatal(err)
		}
		check("a compaction")
	}
	if ends[1] != ends[2] {
		t.Errorf("a compaction with nothing to do went from entry %d to %d", ends[1], ends[2])
	}
	if counts := rangesOf(t, memoryLake(t, b, sinks.LakePlain, store)); len(counts) != endMost+2 {
		t.Errorf("%d artifacts", len(counts))
	}
}

// FuzzManifest reads any bytes as a manifest.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"format":1,"number":7,"profile":"plain","live":{"path":"live/x.parquet"},"files":[{"table":"ranges","path":"x"}]}`))
	f.Add([]byte(`{"format":2,"number":7,"profile":"sealed","lake":"5a","from":6}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseManifest(manifestKey(7), b)
		if err == nil && (m.Number != 7 || m.Format == manifestOfLog && m.Lake == "") {
			t.Errorf("%q is %+v", b, m)
		}
	})
}
