package survey

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

var day = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func newCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	s := mem.New()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	return catalog.New(s.Catalog, ring)
}

func enter(t *testing.T, c *catalog.Catalog, o catalog.Object) {
	t.Helper()
	if err := c.Ledger.Swap(t.Context(), nil, &o); err != nil {
		t.Fatal(err)
	}
}

// A survey counts states, reasons by kind, and runs by the objects that they touched last.
func TestTake(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	at := func(hours int) time.Time { return day.Add(time.Duration(hours) * time.Hour) }
	enter(t, c, catalog.Object{URL: "b", State: catalog.ObjectLoaded, Run: "one", Size: 5, Seconds: 2, Modified: at(1), First: at(2), Last: at(3)})
	enter(t, c, catalog.Object{URL: "a", State: catalog.ObjectLoaded, Run: "one", Size: 7, First: at(0), Last: at(4)})
	enter(t, c, catalog.Object{URL: "c", State: catalog.ObjectRejected, Reason: "elf: x+0x12: corrupt input: cut", Run: "two", First: at(5), Last: at(6)})
	enter(t, c, catalog.Object{URL: "d", State: catalog.ObjectPending, Run: "two", First: at(5), Last: at(5)})
	accounts := []*catalog.Account{
		{ID: row.WorkerID{1}, Run: "two", Started: at(5)},
		{ID: row.WorkerID{2}, Run: "three", Started: at(7), Ended: at(8), Report: []byte("{}")},
	}
	for _, a := range accounts {
		if err := c.Accounts.Swap(t.Context(), nil, a); err != nil {
			t.Fatal(err)
		}
	}
	live := &catalog.Record{ID: symbol.ID{1}, State: catalog.Live, Published: &row.Loaded{Artifact: symbol.Artifact{ID: symbol.ID{1}, Kind: symbol.ELF}, Ranges: 3, Rows: 2, Bytes: 9,
		Quality: symbol.Quality{Text: 100, Covered: 80, WithLine: 200}}}
	for _, r := range []*catalog.Record{live, {ID: symbol.ID{2}, State: catalog.Forgotten}} {
		if err := c.Artifacts.Swap(t.Context(), nil, r); err != nil {
			t.Fatal(err)
		}
	}

	told := 0
	s, err := Take(t.Context(), c, func(n int) { told = n })
	if err != nil {
		t.Fatal(err)
	}
	if told != 8 || s.Read != 8 || s.Artifacts != 1 || s.Kinds["elf"] != 1 || s.Ranges != 3 || s.Bytes != 9 || s.Untold != 1 {
		t.Errorf("the survey is %+v, told of %d records", s, told)
	}
	if q := s.Quality; q.Covered != 80 || q.WithLine != 100 {
		t.Errorf("the quality is %+v: want no more code with lines than there is", q)
	}
	if !maps.Equal(s.Objects, map[string]int{"loaded": 2, "rejected": 1, "pending": 1}) || !maps.Equal(s.Rejects, map[string]int{"elf: corrupt input": 1}) {
		t.Errorf("objects %v, rejects %v", s.Objects, s.Rejects)
	}
	if s.Backlog != 1 || s.Lag(at(9)) != 4*time.Hour {
		t.Errorf("backlog %d, lag %s", s.Backlog, s.Lag(at(9)))
	}

	if len(s.Runs) != 3 || s.Runs[0].Run != "three" || s.Runs[1].Run != "two" || s.Runs[2].Run != "one" {
		t.Fatalf("runs are %+v", s.Runs)
	}
	if r := s.Runs[0]; r.Untold != 1 || len(r.Objects) != 0 || !r.First.Equal(at(7)) || !r.Last.Equal(at(8)) {
		t.Errorf("a run without objects is %+v", r)
	}
	if r := s.Runs[1]; r.Working != 1 || r.Rejects["elf: corrupt input"] != 1 || r.Lag != time.Hour {
		t.Errorf("the run at work is %+v", r)
	}
	if r := s.Runs[2]; r.Bytes != 12 || r.Seconds != 2 || r.Lag != 4*time.Hour || r.From != "a" || r.Until != "b" || !r.First.Equal(at(3)) {
		t.Errorf("the first run is %+v", r)
	}
}

// However many runs there were, a survey keeps the last ones.
func TestRunsBounded(t *testing.T) {
	t.Parallel()
	l := newRuns()
	const n = 5 * maxRuns
	for i := range n {
		k := i * 7919 % n // in no order
		l.object(&catalog.Object{URL: "u", Run: fmt.Sprint(k), State: catalog.ObjectLoaded, Last: day.Add(time.Duration(k) * time.Minute)})
		if len(l.byName) > 2*maxRuns {
			t.Fatalf("%d runs are kept", len(l.byName))
		}
	}
	got := l.finished()
	if len(got) != maxRuns {
		t.Fatalf("%d runs are told, want %d", len(got), maxRuns)
	}
	for i, r := range got {
		if r.Run != fmt.Sprint(n-1-i) {
			t.Fatalf("run %d from the end is %s", i, r.Run)
		}
	}
}

// Counters say what a survey says, and cost no look at the records.
func TestBrief(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	at := func(hours int) time.Time { return day.Add(time.Duration(hours) * time.Hour) }
	objects := []*catalog.Object{
		{URL: "a", State: catalog.ObjectLoading, Run: "one", First: at(2), Last: at(3)},
		{URL: "b", State: catalog.ObjectFailed, Run: "one", First: at(1), Last: at(4)},
		{URL: "c", State: catalog.ObjectRejected, Reason: "elf: x+0x12: corrupt input: cut", Run: "two", First: at(5), Last: at(6)},
	}
	for _, o := range objects {
		enter(t, c, *o)
	}
	// An entry that Between read in part counts as a whole one.
	err := c.Ledger.Between(t.Context(), "", "", "a", func(o *catalog.Object) error {
		next := catalog.Object{URL: "a", State: catalog.ObjectLoaded, Run: "two", First: at(2), Last: at(7)}
		return c.Ledger.Swap(t.Context(), o, &next)
	})
	if err != nil {
		t.Fatal(err)
	}
	loaded := func(ranges uint64) *row.Loaded {
		return &row.Loaded{Artifact: symbol.Artifact{ID: symbol.ID{1}, Kind: symbol.ELF}, Ranges: ranges, Rows: 2, Bytes: 9, Quality: symbol.Quality{Text: 100, Covered: 200}}
	}
	first := &catalog.Record{ID: symbol.ID{1}, State: catalog.Live, Progress: []catalog.Progress{{Owner: "me"}}}
	second := &catalog.Record{ID: symbol.ID{1}, State: catalog.Live, Published: loaded(3)}
	third := &catalog.Record{ID: symbol.ID{1}, State: catalog.Live, Published: loaded(5), Previous: loaded(3), Progress: []catalog.Progress{{Owner: catalog.Superseded}}}
	for _, swap := range []catalog.Change[catalog.Record]{{New: first}, {Old: first, New: second}, {Old: second, New: third}, {New: &catalog.Record{ID: symbol.ID{2}, State: catalog.Live}}} {
		if err := c.Artifacts.SwapAll(t.Context(), []catalog.Change[catalog.Record]{swap})[0]; err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Artifacts.Swap(t.Context(), first, second); err == nil { // a conflict counts nothing
		t.Fatal("swapped what is no longer there")
	}
	brief, err := Brief(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Take(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if brief.Read != 0 {
		t.Errorf("%d records were read", brief.Read)
	}
	if brief.Artifacts != 1 || brief.Ranges != 5 || brief.Obsolete != 1 || brief.Quality.Covered != 100 || brief.Backlog != 1 || !brief.Oldest.Equal(at(1)) {
		t.Errorf("%+v", brief)
	}
	if len(brief.Runs) != 2 || brief.Runs[0].Run != "two" || !brief.Runs[0].Last.Equal(at(7)) || brief.Runs[0].Objects["loaded"] != 1 || brief.Runs[1].Objects["loading"] != 0 {
		t.Errorf("%+v", brief.Runs[0])
	}
	if !maps.Equal(brief.Objects, whole.Objects) || !maps.Equal(brief.Rejects, whole.Rejects) || !maps.Equal(brief.Kinds, whole.Kinds) {
		t.Errorf("%+v, want %+v", brief, whole)
	}
}
