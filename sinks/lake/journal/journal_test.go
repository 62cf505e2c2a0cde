package journal

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/buckettest"
)

func testKeys(names string) sinks.LakeKeys {
	return sinks.LakeKeys{Names: []byte(names), Newest: 1, Master: func(_ context.Context, v uint32) ([]byte, error) {
		return bytes.Repeat([]byte{byte(v)}, 32), nil
	}}
}

func testLog(b *buckettest.Memory) *Log {
	return &Log{Bucket: b, Keys: testKeys("names"), Create: func(ctx context.Context, key string, r io.Reader) error { return b.Create(ctx, key, "", r) }}
}

func testID(n int) symbol.ID { return symbol.NewID(symbol.ELF, fmt.Sprint(n)) }

// testEntry names an artifact with three files of its own.
func testEntry(profile string, n int) *Entry {
	e := &Entry{Lake: "5a", Made: time.Unix(int64(n), 0).UTC(), Profile: profile, Run: "run"}
	live := Named{Artifact: testID(n)}
	live.Load[7] = byte(n)
	live.Revision[0] = byte(n >> 8)
	for i, at := range []*Span{&live.Rows, &live.Facts, &live.Names} {
		table := []string{"ranges", "artifacts", "names"}[i]
		path := fmt.Sprintf("%s/kind=elf/day=2026-01-02/%x.parquet", table, symbol.NewID(symbol.ELF, fmt.Sprint(table, n)))
		e.Files = append(e.Files, File{Table: table, Path: path, Rows: 10, Loads: 1, Bytes: 4096, Key: 1, Bound: true})
		*at = Span{path, uint64(i), 10}
	}
	e.Live = []Named{live}
	return e
}

// appendTo appends an entry, and makes a checkpoint if one is due.
func appendTo(t *testing.T, l *Log, tail Tail, e *Entry) Tail {
	t.Helper()
	r, err := l.Append(t.Context(), tail, e)
	if err == nil {
		if tail = tail.To(r); tail.Due() {
			tail, err = l.Checkpoint(t.Context(), tail, nil, false)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return tail
}

// fill writes a log of n entries.
func fill(t *testing.T, l *Log, profile string, n int) Tail {
	t.Helper()
	var tail Tail
	for i := range n {
		tail = appendTo(t, l, tail, testEntry(profile, i))
	}
	return tail
}

func verify(t *testing.T, l *Log) (problems []string) {
	t.Helper()
	if err := l.Verify(t.Context(), func(err error) { problems = append(problems, err.Error()) }); err != nil {
		t.Fatal(err)
	}
	return problems
}

// A reader makes the same state of a checkpoint and the entries after it as of all entries.
func TestState(t *testing.T) {
	for _, profile := range []string{sinks.LakePlain, sinks.LakeSealed} {
		t.Run(profile, func(t *testing.T) {
			b := buckettest.NewMemory()
			l := testLog(b)
			rnd := rand.New(rand.NewPCG(1, 2))
			want := newState()
			var tail Tail
			var counting, retired []string
			for n := range 300 {
				e := testEntry(profile, rnd.IntN(1<<12))
				if rnd.IntN(3) == 0 && len(want.Live) > 0 {
					for id := range want.Live {
						e.Gone = append(e.Gone, ID(id))
						break
					}
				}
				if len(counting) > 0 && rnd.IntN(3) == 0 {
					e.Retired, counting = counting[:1], counting[1:]
					retired = append(retired, e.Retired...)
				}
				if len(retired) > 3 {
					e.Deleted, retired = retired[:1:1], retired[1:]
				}
				for _, f := range e.Files {
					if !slices.Contains(counting, f.Path) && !slices.Contains(retired, f.Path) {
						counting = append(counting, f.Path)
					}
				}
				r, err := l.Append(t.Context(), tail, e)
				if err != nil {
					t.Fatal(err)
				}
				want.Apply(r)
				if tail = tail.To(r); tail.Due() {
					if tail, err = l.Checkpoint(t.Context(), tail, nil, false); err != nil {
						t.Fatal(err)
					}
				}
				if n%17 != 0 && !tail.Due() && tail.Checkpoint != tail.Number {
					continue
				}
				got, err := l.State(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, want)
			}
			if problems := verify(t, l); len(problems) > 0 {
				t.Error(problems)
			}
			half, err := l.State(t.Context(), 150)
			if err != nil {
				t.Fatal(err)
			}
			later, err := l.After(t.Context(), half.Tail)
			if err != nil || len(later) != 150 {
				t.Fatal(len(later), err)
			}
			for _, e := range later {
				half.Apply(e)
			}
			same(t, half, want)
			if _, err := l.State(t.Context(), 301); !errors.Is(err, bucket.ErrNotFound) {
				t.Errorf("the state after the end: %v", err)
			}
		})
	}
}

func same(t *testing.T, got, want *State) {
	t.Helper()
	if got.Number != want.Number || got.MAC != want.MAC || got.Lake != want.Lake || got.Profile != want.Profile || !got.Made.Equal(want.Made) {
		t.Fatalf("%+v, want %+v", got.Tail, want.Tail)
	}
	if !maps.Equal(got.Live, want.Live) {
		t.Fatalf("at %d: live differs: %s", got.Number, cmp.Diff(want.Live, got.Live))
	}
	if !maps.EqualFunc(got.Files, want.Files, func(a, b Filed) bool {
		return a.At.Equal(b.At) && a.File == b.File && a.Fate == b.Fate && a.Number == b.Number
	}) {
		t.Fatalf("at %d: files differ: %s", got.Number, cmp.Diff(want.Files, got.Files))
	}
}

// Everything that can be done to a log without its keys is seen by a reader and by Verify, but for the end that is cut off.
func TestTampering(t *testing.T) {
	const entries = 40 // a checkpoint at 1 and at 33
	for _, profile := range []string{sinks.LakePlain, sinks.LakeSealed} {
		other := buckettest.NewMemory()
		var tail Tail
		for i := range entries {
			e := testEntry(profile, i)
			e.Run = "other"
			tail = appendTo(t, testLog(other), tail, e)
		}
		foreign := buckettest.NewMemory() // another lake with the same keys
		tail = Tail{}
		for i := range entries {
			e := testEntry(profile, i)
			e.Lake = "77"
			tail = appendTo(t, testLog(foreign), tail, e)
		}
		flip := func(b []byte, at int) []byte {
			b = bytes.Clone(b)
			b[at] ^= 1
			return b
		}
		for _, c := range []struct {
			name string
			do   func(b *buckettest.Memory)
			want string // of the error
			keys string // of the reader, if others
			old  bool   // a reader of the end does not need it
		}{
			{name: "removed", want: "entry 36 is missing", do: func(b *buckettest.Memory) { b.Put(EntryKey(36), nil) }},
			{name: "removed old entry", old: true, want: "entry 7 is missing", do: func(b *buckettest.Memory) { b.Put(EntryKey(7), nil) }},
			{name: "removed entry of a checkpoint", want: "entry 33 is missing", do: func(b *buckettest.Memory) { b.Put(EntryKey(33), nil) }},
			{name: "swapped", want: "entry 36", do: func(b *buckettest.Memory) {
				one, two := b.Get(EntryKey(36)), b.Get(EntryKey(37))
				b.Put(EntryKey(36), two)
				b.Put(EntryKey(37), one)
			}},
			{name: "replaced by an older one", want: "entry 40", do: func(b *buckettest.Memory) { b.Put(EntryKey(40), b.Get(EntryKey(39))) }},
			{name: "of the same lake's other history", want: "entry 35 does not follow entry 34", do: func(b *buckettest.Memory) { b.Put(EntryKey(35), other.Get(EntryKey(35))) }},
			{name: "of another lake", want: "entry 36 belongs to lake 77", do: func(b *buckettest.Memory) { b.Put(EntryKey(36), foreign.Get(EntryKey(36))) }},
			{name: "edited at the begin", want: "entry 38: its MAC is wrong", do: func(b *buckettest.Memory) { b.Put(EntryKey(38), flip(b.Get(EntryKey(38)), 3)) }},
			{name: "edited in the middle", want: "entry 38: its MAC is wrong", do: func(b *buckettest.Memory) {
				text := b.Get(EntryKey(38))
				b.Put(EntryKey(38), flip(text, len(text)/2))
			}},
			{name: "edited MAC", want: "entry 38: its MAC is wrong", do: func(b *buckettest.Memory) {
				text := b.Get(EntryKey(38))
				b.Put(EntryKey(38), flip(text, len(text)-8))
			}},
			{name: "cut off", want: "entry 38: it does not end with a MAC", do: func(b *buckettest.Memory) { b.Put(EntryKey(38), b.Get(EntryKey(38))[:100]) }},
			{name: "emptied", want: "entry 38: it does not end with a MAC", do: func(b *buckettest.Memory) { b.Put(EntryKey(38), []byte{}) }},
			{name: "wrong keys", keys: "others", want: "its MAC is wrong", do: func(*buckettest.Memory) {}},
			{name: "checkpoint edited", want: "checkpoint 33: its MAC is wrong", do: func(b *buckettest.Memory) { b.Put(CheckpointKey(33), flip(b.Get(CheckpointKey(33)), 9)) }},
			{name: "checkpoint swapped", want: "checkpoint 33", do: func(b *buckettest.Memory) { b.Put(CheckpointKey(33), b.Get(CheckpointKey(1))) }},
			{name: "checkpoint of another history", want: "another entry 33", do: func(b *buckettest.Memory) {
				b.Put(CheckpointKey(33), foreign.Get(CheckpointKey(33)))
				for _, key := range foreign.Keys(PartDir) {
					b.Put(key, foreign.Get(key))
				}
			}},
			{name: "part edited", want: "a part of a checkpoint was changed", do: func(b *buckettest.Memory) {
				key := partsOf(t, b, 33)[0].Path
				b.Put(key, flip(b.Get(key), 200))
			}},
			{name: "part cut off", want: "a part of a checkpoint has", do: func(b *buckettest.Memory) {
				key := partsOf(t, b, 33)[0].Path
				b.Put(key, b.Get(key)[:200])
			}},
			{name: "log removed", want: "entry 33 is missing", do: func(b *buckettest.Memory) {
				for _, key := range b.Keys(EntryDir) {
					b.Put(key, nil)
				}
			}},
		} {
			t.Run(profile+" "+c.name, func(t *testing.T) {
				b := buckettest.NewMemory()
				l := testLog(b)
				fill(t, l, profile, entries)
				if problems := verify(t, l); len(problems) > 0 {
					t.Fatal(problems)
				}
				c.do(b)
				if c.keys != "" {
					l.Keys = testKeys(c.keys)
				}
				_, err := l.State(t.Context(), 0)
				switch {
				case c.old && err != nil:
					t.Errorf("a reader: %v", err)
				case !c.old && (!errors.Is(err, ErrBroken) || !errors.Is(err, sinks.ErrCorrupt) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "run symlake ingest")):
					t.Errorf("a reader: %v, want %q", err, c.want)
				}
				if problems := verify(t, l); !strings.Contains(strings.Join(problems, "\n"), c.want) {
					t.Errorf("Verify: %q, want %q", problems, c.want)
				}
			})
		}
	}
}

func partsOf(t *testing.T, b *buckettest.Memory, number uint64) []Part {
	t.Helper()
	c, err := testLog(b).ReadCheckpoint(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	return c.Parts
}

// An entry of another version says so.
func TestNewer(t *testing.T) {
	b := buckettest.NewMemory()
	l := testLog(b)
	fill(t, l, sinks.LakePlain, 2)
	e := testEntry(sinks.LakePlain, 3)
	e.Format, e.Number = Format+1, 3
	line, _, err := write(t.Context(), l.Keys, entryKind, sinks.LakePlain, 3, e)
	if err != nil {
		t.Fatal(err)
	}
	b.Put(EntryKey(3), line)
	if _, err := l.State(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "use a newer symlake") {
		t.Error(err)
	}
}

// Nothing of a sealed log stands in clear but numbers and the id of its key.
func TestSealed(t *testing.T) {
	b := buckettest.NewMemory()
	fill(t, testLog(b), sinks.LakeSealed, 34)
	for _, key := range b.Keys("_") {
		for _, word := range []string{"ranges", testID(3).String(), "2026-01-02", `"run"`} {
			if bytes.Contains(b.Get(key), []byte(word)) {
				t.Errorf("%s holds %q", key, word)
			}
		}
	}
}

// Many writers at once: each entry has one writer, and none is lost.
func TestWriters(t *testing.T) {
	b := buckettest.NewMemory()
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			l := testLog(b)
			for n := range each {
				for {
					tail, err := l.Tail(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					r, err := l.Append(t.Context(), tail, testEntry(sinks.LakePlain, w*each+n))
					if errors.Is(err, bucket.ErrChanged) {
						continue
					}
					if err == nil {
						if tail = tail.To(r); tail.Due() {
							_, err = l.Checkpoint(t.Context(), tail, nil, false)
						}
					}
					if err != nil {
						t.Error(err)
						return
					}
					break
				}
			}
		})
	}
	wg.Wait()
	l := testLog(b)
	s, err := l.State(t.Context(), 0)
	if err != nil || s.Number != writers*each || len(s.Live) != writers*each {
		t.Fatalf("%d entries, %d artifacts: %v", s.Number, len(s.Live), err)
	}
	if problems := verify(t, l); len(problems) > 0 {
		t.Error(problems)
	}
}

// What a commit and a cold reader cost does not grow with the commits before.
func TestCost(t *testing.T) {
	b := buckettest.NewMemory()
	l := testLog(b)
	var tail Tail
	var perCommit, perRead []int
	var written []int64
	for n, size := range []int{256, 512, 1024, 2048} {
		before, _, wrote := b.Counts()
		from := int(tail.Number)
		for i := from; i < size; i++ {
			// As a new process: it knows nothing of the log.
			cold, err := l.Tail(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tail = appendTo(t, l, cold, testEntry(sinks.LakePlain, i))
		}
		now, _, wroteNow := b.Counts()
		perCommit = append(perCommit, 100*(now-before)/(size-from))
		written = append(written, (wroteNow-wrote)/int64(size-from))
		if _, err := l.State(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		after, _, _ := b.Counts()
		perRead = append(perRead, after-now)
		if n > 0 && (perCommit[n] > perCommit[0]+50 || written[n] > 2*written[0]) {
			t.Errorf("a commit takes %d requests and %d bytes, the first %d and %d", perCommit[n]/100, written[n], perCommit[0]/100, written[0])
		}
		if perRead[n] > 2*Every+2*20 {
			t.Errorf("a cold read takes %d requests", perRead[n])
		}
	}
	t.Logf("requests a hundred commits: %v, bytes a commit: %v, requests a cold read: %v", perCommit, written, perRead)
}

// The log tells what it says of artifacts at an entry, and in a plain lake without reading parts that do not speak of them.
func TestFind(t *testing.T) {
	const n = 6*Every + 7
	for _, profile := range []string{sinks.LakePlain, sinks.LakeSealed} {
		b := buckettest.NewMemory()
		l := testLog(b)
		tail := fill(t, l, profile, n)
		gone := testEntry(profile, n)
		gone.Gone = []ID{ID(testID(n + 50))}
		appendTo(t, l, tail, gone)
		for _, c := range []struct {
			number uint64
			ids    []symbol.ID
			want   bool
		}{
			{n + 1, []symbol.ID{testID(0)}, true},
			{n + 1, []symbol.ID{testID(n + 9), testID(n)}, true},
			{n + 1, []symbol.ID{testID(n + 50)}, true},
			{n, []symbol.ID{testID(n), testID(n + 50)}, false},
			{n - Every, []symbol.ID{testID(n - Every)}, false},
			{n - Every, []symbol.ID{testID(n - Every - 1)}, true},
			{3, []symbol.ID{testID(2)}, true},
			{3, []symbol.ID{testID(3)}, false},
			{0, []symbol.ID{testID(0)}, false},
			{n + 1, nil, false},
		} {
			got, err := l.Find(t.Context(), c.number, c.ids)
			if (len(got) > 0) != c.want || err != nil {
				t.Errorf("%s: up to %d of %v: %v, %v", profile, c.number, c.ids, got, err)
			}
			if len(got) == 0 {
				continue
			}
			s, err := l.State(t.Context(), c.number)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range c.ids {
				want, told := s.Changes.Live[id]
				if n, ok := got[id]; told && n != want || !told && ok && !n.Gone {
					t.Errorf("%s: up to %d of %v: %+v, the whole state says %+v", profile, c.number, id, n, want)
				}
			}
		}
		if profile == sinks.LakeSealed {
			continue
		}
		last, err := l.newestCheckpoint(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := l.ReadCheckpoint(t.Context(), last)
		if err != nil {
			t.Fatal(err)
		}
		hit := 0
		for i := range 200 {
			for _, p := range c.Parts {
				of, err := l.partEntry(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				groups, err := l.mayHold(t.Context(), p, of, []symbol.ID{testID(n + 100 + i)})
				if err != nil {
					t.Fatal(err)
				}
				if len(groups) > 0 {
					hit++
				}
			}
		}
		if hit > 20*len(c.Parts) {
			t.Errorf("filters of %d parts let %d of 200 pass", len(c.Parts), hit)
		}
		for _, p := range b.Keys(PartDir) {
			b.Put(p, []byte("PAR1 damaged PAR1"))
		}
		if _, err := l.Find(t.Context(), n+1, []symbol.ID{testID(n + 9)}); !errors.Is(err, ErrBroken) {
			t.Errorf("damaged parts: %v", err)
		}
	}
}

// Twice the entry, or twice the part, takes at most 2.6 times the memory to read.
func TestLinear(t *testing.T) {
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	keys := testKeys("names")
	for _, profile := range []string{sinks.LakePlain, sinks.LakeSealed} {
		var entry, part []uint64
		for _, n := range []int{2000, 4000} {
			e := testEntry(profile, 0)
			for i := range n {
				one := testEntry(profile, i)
				e.Files, e.Live = append(e.Files, one.Files...), append(e.Live, one.Live...)
			}
			line, _, err := write(t.Context(), keys, entryKind, profile, 1, e)
			if err != nil {
				t.Fatal(err)
			}
			entry = append(entry, allocated(func() {
				if _, _, err := read(t.Context(), keys, entryKind, 1, line, new(Entry)); err != nil {
					t.Fatal(err)
				}
			}))
			c := NewChanges()
			c.Add(e)
			var file bytes.Buffer
			if err := c.encode(&file, nil); err != nil {
				t.Fatal(err)
			}
			part = append(part, allocated(func() {
				got, err := decode(t.Context(), keys, file.Bytes())
				if err != nil || !maps.Equal(got.Live, c.Live) {
					t.Fatal(err)
				}
			}))
		}
		if entry[1] > entry[0]*26/10 || part[1] > part[0]*26/10 {
			t.Errorf("%s: an entry allocates %d bytes, a part %d", profile, entry, part)
		}
	}
}

// FuzzEntry reads any bytes as the line of an entry: with a right MAC as a writer without sense would make it.
func FuzzEntry(f *testing.F) {
	keys := testKeys("names")
	for _, profile := range []string{sinks.LakePlain, sinks.LakeSealed} {
		line, _, err := write(context.Background(), keys, entryKind, profile, 7, testEntry(profile, 1))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line[:len(line)-macSize])
		f.Add(line)
	}
	f.Add([]byte(`{"format":1,"number":7,"key":"symlake-lake-1","nonce":"AAAA","sealed":"AAAA"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := signed(keys, checkpointKind, b); err == nil {
			t.Fatal("a line of an entry passes for a checkpoint")
		}
		line, _ := sign(keys, entryKind, append(bytes.Clone(b), '}'))
		var e Entry
		if _, _, err := read(t.Context(), keys, entryKind, 7, line, &e); err != nil {
			return
		}
		s := newState()
		s.Apply(&Read{Entry: &e})
		line, _, err := write(t.Context(), keys, entryKind, sinks.LakePlain, 7, &e)
		var again Entry
		if err == nil {
			_, _, err = read(t.Context(), keys, entryKind, 7, line, &again)
		}
		if err != nil || !reflect.DeepEqual(e.Live, again.Live) || len(e.Files) != len(again.Files) {
			t.Fatalf("%q is written as %q: %v", b, line, err)
		}
	})
}

// FuzzPart reads any bytes as a part of a checkpoint.
func FuzzPart(f *testing.F) {
	c := NewChanges()
	c.Add(testEntry(sinks.LakePlain, 1))
	var file bytes.Buffer
	if err := c.encode(&file, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decode(t.Context(), testKeys("names"), b)
		if err != nil {
			return
		}
		var file bytes.Buffer
		if err := c.encode(&file, nil); err != nil {
			t.Fatal(err)
		}
		again, err := decode(t.Context(), testKeys("names"), file.Bytes())
		if err != nil || !maps.Equal(again.Live, c.Live) || len(again.Files) != len(c.Files) {
			t.Fatalf("%x: %v", b, err)
		}
	})
}

// The form of keys and MACs is durable.
func TestDurable(t *testing.T) {
	for got, want := range map[string]string{
		EntryKey(1234):    "_log/00000000000000001/00000000000000001234.json",
		CheckpointKey(33): "_checkpoint/18446744073709551582-00000000000000000033.json",
		hex.EncodeToString(sliceOf(macOf(testKeys("names"), entryKind, []byte(`{"a":1}`)))): "d3a43e20aa1a7bb9095e335c3b67d119",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, key := range []string{"_log/00000000000000001/1234.json", "_log/00000000000000002/00000000000000001234.json", "_log/00000000000000001234.json", ""} {
		if n, ok := EntryNumber(key); ok {
			t.Errorf("%q is entry %d", key, n)
		}
	}
}
