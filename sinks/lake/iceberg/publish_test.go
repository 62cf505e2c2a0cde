package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/internal/icemeta"
	"github.com/symlake/symlake/sinks/lake/iceberg/icebergtest"
)

// A table shows what counts; publishing the same again changes nothing.
func TestPublish(t *testing.T) {
	w := newWorld(t)
	tables := w.open(Catalog{})
	w.add("one", "elf", "a", "b", "c")
	w.add("one", "macho", "d")
	w.add("two", "elf", "x")
	w.publish(tables)
	w.check()
	w.cut(0, 1)
	for _, r := range w.publish(tables) {
		if r.Changed != (r.Table == "one") {
			t.Errorf("%+v", r)
		}
	}
	w.check()
	w.cut(0, 0)
	w.all = w.all[:2]
	w.publish(tables)
	w.check()
	for _, r := range w.publish(w.open(Catalog{})) {
		if r.Changed {
			t.Errorf("nothing changed: %+v", r)
		}
	}
	x := icebergtest.Open(t, w.dir, "one")
	for name, want := range map[string]string{"operation": "delete", "symlake.log": "5", "total-records": "4", "total-position-deletes": "2", "total-delete-files": "1", "removed-delete-files": "1"} {
		if got := x.Snapshots[len(x.Snapshots)-1].Summary[name]; got != want {
			t.Errorf("summary %s is %q, want %q", name, got, want)
		}
	}
	// An older state comes late: another process has published a newer one.
	late := w.state()
	late.Log, late.Files = 2, nil
	results, err := tables.Publish(t.Context(), late, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil || r.Changed {
			t.Errorf("an older state: %+v", r)
		}
	}
	w.check()
	// Of a lake that was made anew, entry 2 is the newest.
	w.st.Lake, w.st.Log, w.all = "another", 2, w.all[1:]
	w.publish(tables)
	w.check()
	// A sealed lake has no tables: existing tables become empty.
	w.st.Log, w.st.Sealed, w.all = 3, true, nil
	w.publish(tables)
	w.check()
}

// Whenever the process dies, readers see the old rows or the new ones, and the next run publishes the new ones.
func TestMortal(t *testing.T) { deaths(t, 1, func(int) *world { return newWorld(t) }) }

// deaths lets a publisher die at each so many writes, each time in a world of its own.
func deaths(t *testing.T, step int, anew func(n int) *world) {
	n := 0
	for _, after := range []bool{false, true} {
		for left := 0; ; left += step {
			n++
			w := anew(n)
			w.add("one", "elf", "a", "b")
			w.add("two", "elf", "x")
			w.publish(w.open(Catalog{}))
			before := []string{"a", "b"}
			w.add("one", "elf", "c")
			w.cut(0, 0)
			m := &mortal{Bucket: w.b, left: left, after: after}
			w.b = m
			results, err := w.open(Catalog{}).Publish(t.Context(), w.state(), false)
			w.b = m.Bucket
			x := w.table("one")
			got := strings.Join(x.Rows(t, x.Current, "artifact"), "")
			if got != strings.Join(before, "") && got != strings.Join(w.want("one"), "") {
				t.Fatalf("died at write %d: readers see %s", left, got)
			}
			if m.dead != (err != nil || results[0].Err != nil) {
				t.Errorf("died at write %d: %+v, %v", left, results, err)
			}
			w.publish(w.open(Catalog{}))
			w.check()
			if !m.dead {
				break
			}
		}
	}
}

// Two processes publish at once: both end well, and the tables show the newest state.
func TestTwoPublishers(t *testing.T) { race(t, newWorld(t)) }

func race(t *testing.T, w *world) {
	var group sync.WaitGroup
	for n := range 6 {
		w.add("one", "elf", fmt.Sprint("a", n), "b")
		if n > 2 {
			w.cut(n-1, 0)
		}
		st, tables := w.state(), w.open(Catalog{})
		group.Go(func() {
			all, err := tables.Publish(t.Context(), st, false)
			if err != nil {
				t.Error(err)
			}
			for _, r := range all {
				if r.Err != nil {
					t.Error(r.Err)
				}
			}
		})
	}
	group.Wait()
	w.check()
}

// A lake that is moved to another folder has its tables anew.
func TestMoved(t *testing.T) {
	w := newWorld(t)
	w.add("one", "elf", "a", "b")
	w.add("two", "elf", "x")
	w.cut(0, 0)
	w.publish(w.open(Catalog{}))
	dir := filepath.Join(t.TempDir(), "moved lake")
	if err := os.Rename(w.dir, dir); err != nil {
		t.Fatal(err)
	}
	b, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w.dir, w.b = dir, b
	w.publish(w.open(Catalog{}))
	w.check()
}

// edit changes the newest metadata of a table as another writer does, in a version of its own.
func (w *world) edit(table string, change func(m map[string]any)) {
	w.t.Helper()
	x := icebergtest.Open(w.t, w.dir, table)
	decoder := json.NewDecoder(bytes.NewReader(x.Text))
	decoder.UseNumber()
	var m map[string]any
	if err := decoder.Decode(&m); err != nil {
		w.t.Fatal(err)
	}
	change(m)
	text, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	hint := filepath.Join(x.Dir, "metadata/version-hint.text")
	was, err := os.ReadFile(hint)
	if err != nil {
		w.t.Fatal(err)
	}
	var n int
	fmt.Sscan(string(was), &n)
	if err := errors.Join(os.WriteFile(filepath.Join(x.Dir, fmt.Sprintf("metadata/v%d.metadata.json", n+1)), text, 0o666), os.WriteFile(hint, fmt.Append(nil, n+1), 0o666)); err != nil {
		w.t.Fatal(err)
	}
}

// What another writer did to a table is reported by name and stays; other tables go on, and nothing of the table is deleted.
func TestForeign(t *testing.T) {
	for name, change := range map[string]func(m map[string]any){
		"snapshot": func(m map[string]any) {
			all := m["snapshots"].([]any)
			s := map[string]any{}
			for k, v := range all[len(all)-1].(map[string]any) {
				s[k] = v
			}
			s["snapshot-id"], s["summary"] = 77, map[string]any{"operation": "append"}
			m["snapshots"], m["current-snapshot-id"] = append(all, s), 77
		},
		"table":   func(m map[string]any) { delete(m["properties"].(map[string]any), versionProperty) },
		"spec":    func(m map[string]any) { m["default-spec-id"] = 1 },
		"version": func(m map[string]any) { m["format-version"] = 3 },
		"ids": func(m map[string]any) {
			text, _ := json.Marshal(m["schemas"])
			json.Unmarshal(bytes.ReplaceAll(text, []byte(`"id":1,`), []byte(`"id":9,`)), new(any))
			fields := m["schemas"].([]any)[0].(map[string]any)["fields"].([]any)
			fields[0].(map[string]any)["id"] = 9
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add("one", "elf", "a", "b")
			w.add("two", "elf", "x")
			tables := w.open(Catalog{})
			w.publish(tables)
			w.edit("one", change)
			before := icebergtest.Open(t, w.dir, "one").Text
			w.cut(0, 0)
			w.add("two", "elf", "y")
			for _, r := range w.try(tables) {
				switch {
				case r.Table == "two" && r.Err != nil, r.Table == "one" && r.Err == nil:
					t.Errorf("%+v", r)
				case r.Table == "one" && !strings.Contains(r.Err.Error(), "table one"):
					t.Errorf("it does not name the table: %v", r.Err)
				}
			}
			if !bytes.Equal(before, icebergtest.Open(t, w.dir, "one").Text) {
				t.Error("the table changed")
			}
			w.now = w.now.AddDate(1, 0, 0)
			if _, err := tables.Clean(t.Context(), false); err == nil {
				t.Error("a foreign table was cleaned")
			}
			if name == "snapshot" {
				x := icebergtest.Open(t, w.dir, "one")
				if rows := x.Rows(t, 77, "artifact"); len(rows) != 2 {
					t.Errorf("the foreign snapshot has rows %q", rows)
				}
				if held, err := tables.Held(t.Context()); err != nil || held["one"].After(w.st.Made) {
					t.Errorf("files of the foreign snapshot may go: %v, %v", held, err)
				}
			}
		})
	}
}

// Fields, properties and tags of others stay, and a column that a newer version has is added.
func TestKeepsOthers(t *testing.T) {
	w := newWorld(t)
	w.add("one", "elf", "a", "b")
	w.publish(w.open(Catalog{}))
	first := icebergtest.Open(t, w.dir, "one").Current
	w.edit("one", func(m map[string]any) {
		m["statistics"] = []any{map[string]any{"snapshot-id": first}}
		m["properties"].(map[string]any)["owner"] = "team"
		m["refs"].(map[string]any)["audit"] = map[string]any{"snapshot-id": first, "type": "tag", "max-ref-age-ms": 5}
	})
	for n := range 60 {
		w.now = w.now.Add(defaultGraceOfTests / 20)
		w.add("one", "elf", fmt.Sprint(n))
		w.publish(w.open(Catalog{}))
	}
	x := icebergtest.Open(t, w.dir, "one")
	for _, want := range []string{`"statistics":[{"snapshot-id":`, `"owner":"team"`, `"max-ref-age-ms":5`} {
		if !bytes.Contains(x.Text, []byte(want)) {
			t.Errorf("%s is gone", want)
		}
	}
	if rows := x.Rows(t, first, "artifact"); len(rows) != 2 {
		t.Errorf("the tag leads to rows %q", rows)
	}
	// The next version of the program has one column more.
	tables := w.open(Catalog{})
	wider := testTable("one")
	more := wider.Columns[0]
	more.Name, more.ID = "more", 5
	wider.Columns = append(wider.Columns, more)
	tables.shapes[0] = newShape(wider)
	w.publish(tables)
	w.check()
	x = icebergtest.Open(t, w.dir, "one")
	m, err := icemeta.Read(x.Text)
	if err != nil {
		t.Fatal(err)
	}
	now, err := schemaNow(m)
	if err != nil || now.ids()["more"] != 5 || now.ids()["artifact"] != 1 || m.LastColumn != 5 {
		t.Errorf("%+v, %d, %v", now, m.LastColumn, err)
	}
}

const defaultGraceOfTests = 24 * 60 * 60 * 1e9

// The files of a table with many commits are few, and a commit costs what it changes.
func TestManyCommits(t *testing.T) {
	w := newWorld(t)
	at := &counting{Bucket: w.b}
	w.b = at
	w.add("one", "elf", "a")
	const n = 5 * keepStates
	written := 0
	var planning *icebergtest.Table // what a reader knows that has not planned yet
	var early, late int64           // bytes read by as many commits
	for i := range n {
		w.now = w.now.Add(60e9)
		w.add("one", "elf", fmt.Sprint(i))
		before := at.read
		w.publish(w.open(Catalog{}))
		switch {
		case i >= keepStates && i < 2*keepStates:
			early += at.read - before
		case i >= n-keepStates:
			late += at.read - before
		}
		x := icebergtest.Open(t, w.dir, "one")
		written += len(x.Text)
		switch {
		case i == keepStates-2:
			planning = x
		case i == 2*keepStates+1: // the history and the newest states do without it
			for _, s := range x.Snapshots {
				if s.ID == planning.Current {
					t.Errorf("snapshot %d is in the history still", planning.Current)
				}
			}
			planning.Files(t, planning.Current)
		}
		if len(x.Snapshots) > keepNewest+graceSlots+2 {
			t.Fatalf("%d snapshots", len(x.Snapshots))
		}
	}
	w.check()
	if late > early*5/4 {
		t.Errorf("%d commits read %d bytes, and %d once there were %d", keepStates, early, late, n)
	}
	x := icebergtest.Open(t, w.dir, "one")
	if len(x.Text) > 40<<10 || written/n > 40<<10 {
		t.Errorf("the metadata has %d bytes, %d on average", len(x.Text), written/n)
	}
	// Lists and manifests take what they may, what came since the last sweep, and what the history names.
	sizes := func(pattern string) (files int, bytes int64) {
		names, err := filepath.Glob(filepath.Join(w.dir, "iceberg/one/metadata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			bytes += info.Size()
		}
		return len(names), bytes
	}
	if files, _ := sizes("v*.metadata.json"); files > keepVersions {
		t.Errorf("%d files of metadata, want at most %d", files, keepVersions)
	}
	files, bytes := sizes("symlake-*.avro")
	each := bytes / int64(files)
	if most := keepBytes + each*int64(2*keepStates+3*len(x.Snapshots)); bytes > most || files >= 2*n {
		t.Errorf("%d lists and manifests have %d bytes, want at most %d", files, bytes, most)
	}
	for i, s := range x.Snapshots {
		if i%4 == 0 {
			x.Files(t, s.ID) // it has all its lists and manifests
		}
	}
}

// counting counts bytes that were opened.
type counting struct {
	bucket.Bucket
	mu   sync.Mutex
	read int64
}

func (c *counting) Open(ctx context.Context, e bucket.Entry) (bucket.Reader, error) {
	c.mu.Lock()
	c.read += e.Size
	c.mu.Unlock()
	return c.Bucket.Open(ctx, e)
}

// A publisher that is slow finds the lists of its state deleted, and begins again at the newest one. A list that is gone in the
// newest state is an error.
func TestSlowPublisher(t *testing.T) {
	w := newWorld(t)
	w.add("one", "elf", "a")
	w.publish(w.open(Catalog{}))
	late := &stale{Bucket: w.b, key: "iceberg/one/metadata/symlake-list-1-"}
	late.meanwhile = func() {
		for i := range 10 * keepStates {
			w.add("one", "elf", fmt.Sprint(i))
			w.publish(w.open(Catalog{}))
			if names, err := filepath.Glob(filepath.Join(w.dir, late.key+"*")); err != nil || len(names) == 0 {
				return
			}
		}
		t.Errorf("the first list is there after %d commits", 10*keepStates)
	}
	w.add("one", "elf", "b")
	st := w.state()
	slow := w.open(Catalog{})
	slow.o.Bucket = late
	all, err := slow.Publish(t.Context(), st, false)
	if err != nil || all[0].Err != nil || late.meanwhile != nil {
		t.Errorf("%+v, %v", all, err)
	}
	w.check()
	lists, err := filepath.Glob(filepath.Join(w.dir, "iceberg/one/metadata/symlake-list-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		if err := os.Remove(l); err != nil {
			t.Fatal(err)
		}
	}
	w.add("one", "elf", "c")
	if all := w.try(w.open(Catalog{})); !errors.Is(all[0].Err, errMissing) {
		t.Errorf("%+v", all[0])
	}
}

// stale calls meanwhile before a key is looked for.
type stale struct {
	bucket.Bucket
	key       string
	meanwhile func()
}

func (s *stale) Stat(ctx context.Context, key string) (bucket.Entry, map[string]string, error) {
	if f := s.meanwhile; f != nil && strings.HasPrefix(key, s.key) {
		s.meanwhile = nil
		f()
	}
	return s.Bucket.Stat(ctx, key)
}

// A publisher does not need the note of where tables stand, and does not believe one of another lake or another form.
func TestShown(t *testing.T) {
	for name, note := range map[string]string{"none": "", "no JSON": "{", "another form": `{"format":9,"lake":"lake","tables":{"one":{"snapshot":0,"log":1,"mark":"lake1"}}}`,
		"another lake": `{"format":1,"lake":"other","tables":{}}`, "nothing": `{"format":1,"lake":"lake"}`} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add("one", "elf", "a", "b")
			w.publish(w.open(Catalog{}))
			at := filepath.Join(w.dir, filepath.FromSlash(shownKey))
			err := os.WriteFile(at, []byte(note), 0o666)
			if note == "" {
				err = os.Remove(at)
			}
			if err != nil {
				t.Fatal(err)
			}
			w.add("one", "elf", "c")
			w.publish(w.open(Catalog{}))
			w.check()
			text, err := os.ReadFile(at)
			if err != nil || !bytes.Contains(text, []byte(`"mark":"lake2"`)) {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}

// FuzzMetadata reads metadata that others may have written.
func FuzzMetadata(f *testing.F) {
	s := newShape(testTable("one"))
	m, err := s.empty("file:///lake/iceberg/one", (&world{}).now)
	if err != nil {
		f.Fatal(err)
	}
	first, err := with(m, &change{snapshot: &snapshot{ID: 7, Sequence: 1, List: "file:///lake/list", Summary: map[string]string{logSummary: "1"}}}, (&world{}).now)
	if err != nil {
		f.Fatal(err)
	}
	for _, x := range []*metadata{m, first} {
		text, err := json.Marshal(x)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := icemeta.Read(text)
		if err != nil {
			return
		}
		m.Head()
		schemaNow(m)
		n, err := with(m, &change{snapshot: &snapshot{ID: 1 << 40, Sequence: m.LastSequence + 1}}, (&world{}).now)
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := icemeta.Read(again); err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
	})
}

// Lists and manifests stay while later commits made few bytes of them. For the newest states they always stay.
func TestFloor(t *testing.T) {
	for _, c := range []struct {
		each        int64
		floor, want int64
	}{{100, 68, 0}, {keepBytes / 50, 68, 50}, {keepBytes / 32, 68, 68}, {keepBytes, 68, 68}, {keepBytes / 100, 68, 0}, {keepBytes/100 + 1, 68, 1}} {
		bytes := map[int64]int64{}
		for n := range int64(100) {
			bytes[n+1] = c.each
		}
		if got := floorOf(bytes, c.floor); got != c.want {
			t.Errorf("%d bytes a commit: up to %d go, want %d", c.each, got, c.want)
		}
	}
}
