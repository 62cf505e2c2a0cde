package places

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/sinks"
)

var _ interface {
	sinks.Catalog
} = (*Catalog)(nil)

func TestRows(t *testing.T) {
	for _, key := range []string{"a1", "n", "o", "p", "ohttps://x/y", "o\x00", "o\x0f\x03", "o\x10", "oé", "O", ""} {
		row := Row([]byte(key))
		if got := Key(row); string(got) != key {
			t.Errorf("%q has row %q, which has key %q", key, row, got)
		}
		if ledger := key != "" && key[0] == 'o'; ledger != (len(row) == len(key)+1) {
			t.Errorf("%q has row %q", key, row)
		}
		if old := oldRow([]byte(key)); old != nil && string(Key(old)) != key {
			t.Errorf("%q has old row %q, which has key %q", key, old, Key(old))
		}
	}
}

// FuzzRows: no row stands for two keys.
func FuzzRows(f *testing.F) {
	f.Add([]byte("ohttps://x"), []byte("o\x03"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if !bytes.Equal(Key(Row(a)), a) {
			t.Fatalf("%q has row %q of %q", a, Row(a), Key(Row(a)))
		}
		if old := oldRow(a); old != nil && bytes.Equal(old, Row(b)) {
			t.Fatalf("the old row of %q is the row of %q", a, b)
		}
		if !bytes.Equal(a, b) && bytes.Equal(Row(a), Row(b)) {
			t.Fatalf("%q and %q have one row", a, b)
		}
	})
}

func TestSplits(t *testing.T) {
	for _, n := range []int{1, 3, 4, 16, 64, 100, 4096} {
		rows := Splits(n)
		for i := range rows[1:] {
			if bytes.Compare(rows[i], rows[i+1]) >= 0 {
				t.Errorf("%d: %x before %x", n, rows[i], rows[i+1])
			}
		}
		if limit := n/2 + Salts + 5; len(rows) > limit {
			t.Errorf("%d: %d boundaries", n, len(rows))
		}
	}
}

// A bucket with folders by date heats every region of the ledger alike, on every day.
func TestHeat(t *testing.T) {
	bounds := Splits(64)
	count := func(day int) map[int]int {
		heat := map[int]int{}
		for i := range 20_000 {
			key := fmt.Appendf(nil, "os3://symbols/2026/11/%02d/libgame-%06d.so", day, i)
			at, is := slices.BinarySearchFunc(bounds, Row(key), bytes.Compare)
			if is {
				at++
			}
			heat[at]++
		}
		return heat
	}
	for day := 1; day < 31; day += 7 {
		heat := count(day)
		if len(heat) != Salts {
			t.Errorf("day %d: %d regions, want %d: %v", day, len(heat), Salts, heat)
		}
		for r, n := range heat {
			if n < 20_000/Salts*8/10 || n > 20_000/Salts*12/10 {
				t.Errorf("day %d: region %d has %d rows of 20,000", day, r, n)
			}
		}
	}
}

// catalogs of an older program, with rows as they were, and rows that moved, changed or were deleted.
func mixed(n int) (*table, map[string]string) {
	rows, want := newTable(), map[string]string{}
	for i := range n {
		url := fmt.Sprintf("s3://b/2026/%04d", i)
		key := "o" + url
		switch i % 6 {
		case 0: // untouched
			rows.old(url, "old")
			want[key] = "old"
		case 1: // copied, and its old row is still there
			rows.old(url, "old")
			rows.values[string(Row([]byte(key)))] = Value([]byte("old"))
			want[key] = "old"
		case 2: // changed
			rows.old(url, "old")
			rows.values[string(Row([]byte(key)))] = Value([]byte("new"))
			want[key] = "new"
		case 3: // deleted
			rows.old(url, "old")
			rows.values[string(Row([]byte(key)))] = []byte{gone}
		case 4: // deleted by the older program
			rows.values[key] = nil
		case 5: // of this program
			rows.values[string(Row([]byte(key)))] = Value([]byte("new"))
			want[key] = "new"
		}
	}
	for _, key := range []string{"a1", "b", "n1", "p", "t"} {
		rows.values[key] = Value([]byte("other"))
		want[key] = "other"
	}
	return rows, want
}

// holds compares all ways to read with what there should be.
func holds(t *testing.T, c *Catalog, want map[string]string, absent ...string) {
	t.Helper()
	var lines []string
	var keys [][]byte
	for k, v := range want {
		lines = append(lines, k+"="+v)
		keys = append(keys, []byte(k))
	}
	sort.Strings(lines)
	got, err := all(c, sinks.Span{})
	if err != nil || !slices.Equal(got, lines) {
		t.Fatalf("list: %v: %d records, want %d\n%q\n%q", err, len(got), len(lines), got, lines)
	}
	part, err := all(c, sinks.Under([]byte("os3://b/2026/001")))
	if err != nil || !slices.Equal(part, slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return !bytes.HasPrefix([]byte(s), []byte("os3://b/2026/001")) })) {
		t.Fatalf("list of a prefix: %q: %v", part, err)
	}
	for _, k := range absent {
		keys = append(keys, []byte(k))
	}
	values, err := c.GetAll(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		if w, is := want[string(k)]; string(values[i]) != w || is != (values[i] != nil) {
			t.Fatalf("%s is %q, want %q", k, values[i], w)
		}
	}
}

func TestOldRows(t *testing.T) {
	rows, want := mixed(60)
	c := New(rows)
	absent := []string{"os3://b/2026/0003", "os3://b/2026/0004", "os3://b/2027", "a0"}
	holds(t, c, want, absent...)
	swap := func(key, old, new string, ok bool) {
		t.Helper()
		bytesOf := func(s string) []byte {
			if s == "" {
				return nil
			}
			return []byte(s)
		}
		err := c.Swap(t.Context(), []byte(key), bytesOf(old), bytesOf(new))
		if (err == nil) != ok || err != nil && !errors.Is(err, sinks.ErrConflict) {
			t.Fatalf("%s from %q to %q: %v", key, old, new, err)
		}
		if ok {
			delete(want, key)
			if new != "" {
				want[key] = new
			}
		}
	}
	for i := range 24 {
		key := fmt.Sprintf("os3://b/2026/%04d", i)
		now := want[key]
		if now != "" {
			swap(key, "", "x", false)
			swap(key, "", "", false)
		}
		swap(key, "other", "x", false)
		if now == "old" {
			swap(key, "new", "x", false)
		}
		switch i / 6 {
		case 0:
			swap(key, now, "next", true)
		case 1: // deleted, and made anew
			swap(key, now, "", true)
			swap(key, "", "", true)
			swap(key, "old", "x", false)
			holds(t, c, want, append(absent, key)...)
			swap(key, "", "again", true)
		case 2:
			swap(key, now, "", true)
		case 3:
			swap(key, now, now, true)
		}
	}
	absent = absent[2:]
	holds(t, c, want, absent...)
	holds(t, New(rows), want, absent...)
	moved, err := c.Move(t.Context())
	if err != nil || moved != 50 {
		t.Fatalf("%d moved: %v", moved, err)
	}
	for row := range rows.values {
		if row >= string(oldFrom) && row < string(ledgerStop) {
			t.Fatalf("row %q is still there", row)
		}
	}
	holds(t, c, want, absent...)
	holds(t, New(rows), want, absent...)
	if moved, err = c.Move(t.Context()); err != nil || moved != 0 {
		t.Fatalf("%d moved: %v", moved, err)
	}
	swap("os3://b/2026/0012", "", "back", true)
	holds(t, c, want)
}

// A catalog without old rows costs one look at them a process.
func TestLooksOnce(t *testing.T) {
	rows := newTable()
	c := New(rows)
	for i := range 10 {
		key := fmt.Appendf(nil, "ourl%d", i)
		if err := c.Swap(t.Context(), key, nil, key); err != nil {
			t.Fatal(err)
		}
		if v, err := c.Get(t.Context(), key); err != nil || v == nil {
			t.Fatal(err)
		}
	}
	if rows.scans != 1 || rows.reads != 10 {
		t.Errorf("%d scans, %d reads", rows.scans, rows.reads)
	}
}

// Whenever the process that moves rows dies, all records are there, and the next process goes on.
func TestMoveDies(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			rows, want := mixed(24)
			m := &mortal{table: rows, at: at, after: after}
			_, err := New(m).Move(t.Context())
			holds(t, New(rows), want)
			if _, err := New(rows).Move(t.Context()); err != nil {
				t.Fatal(err)
			}
			holds(t, New(rows), want)
			if err == nil {
				if at < 24 {
					t.Fatalf("%d writes", at)
				}
				break
			}
		}
	}
}

// Whenever another process moves all rows, between any two steps of a reader or writer, it finds the records.
func TestMoveBetween(t *testing.T) {
	for what, do := range map[string]func(c *Catalog, want map[string]string){
		"look": func(c *Catalog, want map[string]string) { holds(t, c, want, "os3://b/2026/0003", "os3://b/2026/0004") },
		"swap": func(c *Catalog, want map[string]string) {
			for k, v := range want {
				if err := c.Swap(t.Context(), []byte(k), []byte(v), []byte(v+"+")); err != nil {
					t.Fatalf("%s: %v", k, err)
				}
				want[k] = v + "+"
			}
			for _, k := range []string{"os3://b/2026/0003", "os3://b/2026/0004"} {
				if err := c.Swap(t.Context(), []byte(k), []byte("old"), []byte("x")); !errors.Is(err, sinks.ErrConflict) {
					t.Fatalf("%s: %v", k, err)
				}
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			for at, over := 1, false; !over; at++ {
				rows, want := mixed(12)
				rows.at, over = at, true
				rows.then = func() {
					over = false
					if _, err := New(rows).Move(t.Context()); err != nil {
						t.Error(err)
					}
				}
				c := New(rows)
				do(c, want)
				rows.at = 0
				holds(t, c, want)
			}
		})
	}
}

// Processes count, delete and list while another one moves their rows. No count is lost, and no list or look misses a
// record that is there all the time.
func TestMoveBeside(t *testing.T) {
	for seed := range uint64(20) {
		rows := newTable()
		const n = 40
		for i := range n {
			if i%4 > 0 {
				rows.old(fmt.Sprintf("u%02d", i), "0")
			}
		}
		key := func(i int) []byte { return fmt.Appendf(nil, "ou%02d", i) }
		var counts [n]atomic.Int64
		var wg, mover sync.WaitGroup
		for w := range 4 {
			c := New(rows)
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			wg.Go(func() {
				for range 60 {
					i := rng.IntN(n)
					old, err := c.Get(t.Context(), key(i))
					if err != nil {
						t.Error(err)
						return
					}
					if old == nil && i%4 > 1 {
						t.Errorf("record %d is gone", i)
						return
					}
					var next []byte
					if c := 0; old != nil {
						fmt.Sscan(string(old), &c)
						next = fmt.Append(nil, c+1)
					} else {
						next = []byte("1")
					}
					if i%4 < 2 && rng.IntN(3) == 0 {
						next = nil // these come and go
					}
					switch err := c.Swap(t.Context(), key(i), old, next); {
					case err == nil:
						counts[i].Add(1)
					case !errors.Is(err, sinks.ErrConflict):
						t.Error(err)
					}
				}
			})
			wg.Go(func() {
				for range 5 {
					list, err := all(c, sinks.Span{})
					if err != nil {
						t.Error(err)
					}
					seen := map[string]bool{}
					for _, l := range list {
						if seen[l[:4]] {
							t.Errorf("%s twice", l[:4])
						}
						seen[l[:4]] = true
					}
					for i := range n {
						if i%4 > 1 && !seen[string(key(i))] {
							t.Errorf("a list misses record %d", i)
						}
					}
				}
			})
		}
		mover.Go(func() {
			for range 3 {
				if _, err := New(rows).Move(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Wait()
		mover.Wait()
		for i := range n {
			v, err := New(rows).Get(t.Context(), key(i))
			if err != nil {
				t.Fatal(err)
			}
			if i%4 > 1 && string(v) != fmt.Sprint(counts[i].Load()) {
				t.Errorf("record %d counts %s, want %d", i, v, counts[i].Load())
			}
		}
	}
}

// More old rows than a list holds at once.
func TestManyOldRows(t *testing.T) {
	rows, want := newTable(), map[string]string{}
	for i := range 2*window + 100 {
		url := fmt.Sprintf("u%05d", i)
		if i%10 == 0 {
			rows.values[string(Row([]byte("o"+url)))] = Value([]byte("new"))
			want["o"+url] = "new"
			continue
		}
		rows.old(url, "old")
		want["o"+url] = "old"
	}
	list, err := all(New(rows), sinks.Span{})
	if err != nil || len(list) != len(want) {
		t.Fatalf("%d records, want %d: %v", len(list), len(want), err)
	}
}

// A list that ends early leaves nothing behind, and emit's error comes back.
func TestListStops(t *testing.T) {
	rows, _ := mixed(600)
	enough := errors.New("enough")
	n := 0
	err := New(rows).List(t.Context(), sinks.Under(ledgerFrom), func(sinks.Row) error {
		if n++; n == 5 {
			return enough
		}
		return nil
	})
	if err != enough || n != 5 {
		t.Errorf("%d records: %v", n, err)
	}
}

// halves cannot read rows of the region from m on.
type halves struct{ *table }

func (h halves) Read(ctx context.Context, rows [][]byte) ([][]byte, error) {
	values, err := h.table.Read(ctx, rows)
	if err != nil {
		return nil, err
	}
	errs := make(sinks.KeyErrors, len(rows))
	for i, row := range rows {
		if row[0] >= 'm' {
			errs[i] = sinks.ErrCorrupt
		}
	}
	return values, errs
}

// A region that cannot be read costs its own records alone.
func TestHalfRead(t *testing.T) {
	rows := newTable()
	for _, key := range []string{"a1", "a2", "w1"} {
		if err := New(rows).Swap(t.Context(), []byte(key), nil, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	values, err := New(halves{rows}).GetAll(t.Context(), [][]byte{[]byte("a1"), []byte("w1"), []byte("a2")})
	errs := sinks.ByKey(err, 3)
	if errs[0] != nil || errs[2] != nil || string(values[0]) != "a1" || string(values[2]) != "a2" {
		t.Errorf("%q, %v", values, errs)
	}
	if !errors.Is(errs[1], sinks.ErrCorrupt) || values[1] != nil {
		t.Errorf("%q, %v", values[1], errs[1])
	}
	if _, err := New(halves{rows}).Get(t.Context(), []byte("w1")); !errors.Is(err, sinks.ErrCorrupt) {
		t.Error(err)
	}
}
