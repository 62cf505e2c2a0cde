package hbase

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/survey"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/counts"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
)

// Counters say what a survey says, and cost no look at the records. A store of an older program gets them by gc, and so does a
// store where a process died while it counted.
func TestCounters(t *testing.T) {
	t.Parallel()
	rest := "//" + hbasetest.Shared(t).Master + "/" + namespace() + "?regions=4"
	if err := Create(t.Context(), rest, Options{}); err != nil {
		t.Fatal(err)
	}
	keys := kek.Ephemeral()
	store, err := Open(t.Context(), rest, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ring, err := row.CreateKeyring(t.Context(), store.Catalog, keys)
	if err != nil {
		t.Fatal(err)
	}
	c := catalog.New(store.Catalog, ring)
	check := func(when string, counted bool) {
		t.Helper()
		brief, err := survey.Brief(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := survey.Take(t.Context(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (brief.Read < 20) != counted { // accounts of runs are read
			t.Errorf("%s: %d records were read", when, brief.Read)
		}
		if brief.Artifacts != whole.Artifacts || brief.Ranges != whole.Ranges || brief.Bytes != whole.Bytes || brief.Loading != whole.Loading ||
			brief.Obsolete != whole.Obsolete || brief.Backlog != whole.Backlog || !maps.Equal(brief.Objects, whole.Objects) || !maps.Equal(brief.Kinds, whole.Kinds) {
			t.Errorf("%s: %+v, want %+v", when, brief, whole)
		}
	}
	load := func(n int) {
		t.Helper()
		o := ingest.Options{Store: store, Keyring: ring, Formats: all.Formats()}
		r, err := ingest.Run(t.Context(), []discover.Source{smallObjects(t, n)}, o)
		if err != nil || r.Objects.Loaded == 0 {
			t.Fatal(r.Objects, err)
		}
	}
	collect := func() {
		t.Helper()
		if _, err := gc.Run(t.Context(), gc.Options{Store: store, Keyring: ring}); err != nil {
			t.Fatal(err)
		}
	}
	rows := newCounters(newStore(parsed(t, rest), false, WriteOptions{}))
	defer rows.c.Close()
	each := func(do func(id string, value []byte)) {
		t.Helper()
		all := map[string][]byte{}
		err := rows.Each(t.Context(), func(id string, value []byte) error {
			all[id] = value
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for id, value := range all {
			do(id, value)
		}
	}
	swap := func(id string, old, new []byte) {
		t.Helper()
		if done, err := rows.Swap(t.Context(), id, old, new); err != nil || !done {
			t.Fatal(done, err)
		}
	}

	load(20)
	check("loaded", true)
	each(func(id string, value []byte) { swap(id, value, nil) })
	check("of an older program", false)
	load(30)
	check("loaded into it", false)
	collect()
	check("collected", true)
	load(40)
	check("loaded again", true)

	died, err := json.Marshal(map[string]any{"busy": true, "at": time.Now().Add(-2 * counts.Silent).UnixMilli(), "number": 1})
	if err != nil {
		t.Fatal(err)
	}
	swap("0123456789abcdef", nil, died)
	check("a process died", false)
	collect()
	check("collected behind it", true)
	each(func(id string, value []byte) {
		if id == "" {
			swap(id, value, []byte("damaged"))
		}
	})
	check("damaged", false)
	collect()
	check("repaired", true)
	collect()
	n := 0
	each(func(string, []byte) { n++ })
	if n > 2 { // the base, and the row of this process
		t.Errorf("%d rows are left", n)
	}
}

// A change without a clear answer is said to be one: then the counters are not whole.
func TestCountersUnclear(t *testing.T) {
	t.Parallel()
	rest := "//" + hbasetest.Shared(t).Master + "/" + namespace() + "?regions=1"
	if err := Create(t.Context(), rest, Options{}); err != nil {
		t.Fatal(err)
	}
	store, err := Open(t.Context(), rest, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	change := func(ctx context.Context, key string) error {
		return store.Catalog.SwapAll(ctx, []sinks.Change{{Key: []byte(key), New: []byte("1"), Counts: []sinks.Count{{Name: "x", By: 1}}}})[0]
	}
	whole := func() bool {
		t.Helper()
		_, is, err := store.Catalog.(sinks.Counter).Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if err := change(t.Context(), "a1"); err != nil || !whole() {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := change(gone, "a2"); err == nil || !whole() { // it never began
		t.Errorf("%v, or the counters are not whole", err)
	}
	counter := store.Catalog.(countedRecords).counter
	if err := counter.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	counter.End(gone, nil, true)
	if whole() {
		t.Error("a change may have happened, and the counters are whole")
	}
	// The row that says so is busy, until its process counts as dead.
	later := counts.New(newCounters(newStore(parsed(t, rest), false, WriteOptions{})), func() time.Time { return time.Now().Add(2 * counts.Silent) }, sleep)
	done, err := later.Settle(t.Context(), func(_ context.Context, add func([]sinks.Count)) error {
		add([]sinks.Count{{Name: "x", By: 1}})
		return nil
	})
	if err != nil || !done || !whole() {
		t.Errorf("settle: %v, %v", done, err)
	}
}

// parsed is the address of a URL.
func parsed(t *testing.T, rest string) address {
	t.Helper()
	a, err := parse(rest, false)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
