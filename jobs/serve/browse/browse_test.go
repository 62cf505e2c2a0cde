package browse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/survey"
	"github.com/symlake/symlake/jobs/wire"
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

// artifact enters an artifact with names: an app has an @.
func artifact(t *testing.T, c *catalog.Catalog, id symbol.ID, kind symbol.Kind, names ...string) {
	t.Helper()
	r := &catalog.Record{ID: id, State: catalog.Live, Published: &row.Loaded{Artifact: symbol.Artifact{ID: id, Kind: kind}}}
	for _, n := range names {
		name := symbol.Name{Kind: symbol.NameFile, Text: n}
		if strings.Contains(n, "@") {
			name.Kind = symbol.NameApp
		}
		r.Names = append(r.Names, name)
		if err := c.Names.Add(t.Context(), n, catalog.Ref{Artifact: id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Artifacts.Swap(t.Context(), nil, r); err != nil {
		t.Fatal(err)
	}
}

// listed reads all pages of a query, and tells the first byte of each id, with a slash between pages.
func listed(t *testing.T, c *catalog.Catalog, q ArtifactQuery) string {
	t.Helper()
	var got []string
	for range 100 {
		var page []string
		end, err := Artifacts(t.Context(), c, q, func(a *wire.Artifact) error { page = append(page, a.Artifact[:2]); return nil })
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join(page, " "))
		if end.Next == "" {
			return strings.Join(got, " / ")
		}
		if q.From, err = symbol.ParseID(end.Next); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the pages do not end")
	return ""
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	artifact(t, c, symbol.ID{0x10}, symbol.ELF, "libgame.so", "shop@1")
	artifact(t, c, symbol.ID{0x20}, symbol.ELF, "libcart.so", "shop@1")
	artifact(t, c, symbol.ID{0x30}, symbol.R8, "mapping.txt", "Shop@2")
	artifact(t, c, symbol.ID{0x40}, symbol.ELF, "game", "shop@1")
	if err := c.Artifacts.Swap(t.Context(), nil, &catalog.Record{ID: symbol.ID{0x50}, State: catalog.Forgotten}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		q    ArtifactQuery
		want string
	}{
		{ArtifactQuery{Limit: 10}, "10 20 30 40"},
		{ArtifactQuery{Limit: 3}, "10 20 30 / 40"},
		{ArtifactQuery{Limit: 10, From: symbol.ID{0x20}}, "20 30 40"},
		{ArtifactQuery{Limit: 2, App: "SHOP@1"}, "10 20 / 40"},
		{ArtifactQuery{Limit: 10, App: "shop@2"}, "30"},
		{ArtifactQuery{Limit: 10, App: "shop@1", Text: "GAME"}, "10 40"},
		{ArtifactQuery{Limit: 10, Kind: symbol.R8}, "30"},
		{ArtifactQuery{Limit: 1, Text: ".so"}, "10 / 20 / "},
		{ArtifactQuery{Limit: 10, Text: "3000"}, "30"},
		{ArtifactQuery{Limit: 10, Text: "nothing"}, ""},
		{ArtifactQuery{Limit: 10, Text: "game", First: []symbol.ID{{0x40}}}, "40 10"},
		{ArtifactQuery{Limit: 1, Text: "game", First: []symbol.ID{{0x40}}}, "40 / 10 / "},
		{ArtifactQuery{Limit: 10, Text: "game", Kind: symbol.R8, First: []symbol.ID{{0x40}}}, ""},
	} {
		if got := strings.TrimPrefix(listed(t, c, w.q), " "); got != w.want {
			t.Errorf("%+v: %q, want %q", w.q, got, w.want)
		}
	}
}

// A page ends at its bound, says how much it read, and where to go on.
func TestBounds(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	const n = MaxPassed + 10
	for i := range n {
		o := &catalog.Object{URL: fmt.Sprintf("s3://b/%06d", i), State: catalog.ObjectLoaded}
		if err := c.Ledger.Swap(t.Context(), nil, o); err != nil {
			t.Fatal(err)
		}
	}
	none := func(*wire.Object) error { t.Error("an object was emitted"); return nil }
	q := ObjectQuery{State: catalog.ObjectRejected, Limit: 5}
	end, err := Objects(t.Context(), c, q, none)
	if want := fmt.Sprintf("s3://b/%06d", MaxPassed); err != nil || end.Passed != MaxPassed || end.Next != want {
		t.Fatalf("the first page ends as %+v, %v: want %d passed and next %s", end, err, MaxPassed, want)
	}
	q.From = end.Next
	if end, err = Objects(t.Context(), c, q, none); err != nil || end != (End{Passed: 10}) {
		t.Errorf("the second page ends as %+v, %v", end, err)
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	enter := func(url, run string, state catalog.ObjectState, outcomes ...string) {
		o := &catalog.Object{URL: url, State: state, Run: run}
		for _, x := range outcomes {
			o.Artifacts = append(o.Artifacts, catalog.ObjectArtifact{ID: symbol.ID{1}, Outcome: x})
		}
		if err := c.Ledger.Swap(t.Context(), nil, o); err != nil {
			t.Fatal(err)
		}
	}
	enter("s3://a/1", "one", catalog.ObjectLoaded, "loaded")
	enter("s3://a/2", "one", catalog.ObjectRejected, "rejected")
	enter("s3://a/3", "two", catalog.ObjectLoaded, "loaded", "conflict")
	enter("s3://b/1", "two", catalog.ObjectConflict, "conflict")
	for _, url := range []string{"s3://a/3", "s3://b/1"} {
		x := &catalog.Conflict{Artifact: symbol.ID{1}, At: day}
		x.KeptOut.URL = url
		if err := c.Conflicts.Swap(t.Context(), nil, x); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []struct {
		q    ObjectQuery
		want string
	}{
		{ObjectQuery{Limit: 9}, "a/1 a/2 a/3! b/1!"},
		{ObjectQuery{Limit: 2}, "a/1 a/2 > s3://a/3"},
		{ObjectQuery{Limit: 9, Prefix: "s3://a/"}, "a/1 a/2 a/3!"},
		{ObjectQuery{Limit: 9, Prefix: "s3://a/", From: "s3://a/2"}, "a/2 a/3!"},
		{ObjectQuery{Limit: 9, Prefix: "s3://b/", From: "s3://a/2"}, "b/1!"},
		{ObjectQuery{Limit: 9, From: "s3://a/2", Until: "s3://a/3"}, "a/2 a/3!"},
		{ObjectQuery{Limit: 9, Run: "one"}, "a/1 a/2"},
		{ObjectQuery{Limit: 9, State: catalog.ObjectConflict}, "a/3! b/1!"},
		{ObjectQuery{Limit: 9, State: catalog.ObjectRejected}, "a/2"},
	} {
		var got []string
		end, err := Objects(t.Context(), c, w.q, func(o *wire.Object) error {
			got = append(got, strings.TrimPrefix(o.URL, "s3://")+strings.Repeat("!", len(o.Conflicts)))
			return nil
		})
		text := strings.Join(got, " ")
		if end.Next != "" {
			text += " > " + end.Next
		}
		if err != nil || text != w.want {
			t.Errorf("%+v: %q, %v; want %q", w.q, text, err, w.want)
		}
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	for i, w := range []catalog.Wanted{{Name: "aa", Asked: 5}, {Name: "bb", Asked: 9, File: "/data/app/libgame.so"}, {Name: "cc", Asked: 5}, {Name: "dd", Asked: 1}} {
		w.Last = day.Add(time.Duration(i) * time.Minute)
		if err := c.Demand.AddWanted(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	artifact(t, c, symbol.ID{1}, symbol.ELF, "libgame.so")
	if err := c.Names.Add(t.Context(), "bb", catalog.Ref{Object: "s3://b/x"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Ledger.Swap(t.Context(), nil, &catalog.Object{URL: "s3://b/x", State: catalog.ObjectRejected, Reason: "cut"}); err != nil {
		t.Fatal(err)
	}

	var got []string
	q := WantedQuery{Limit: 2}
	for pages := 0; ; pages++ {
		end, err := Wanted(t.Context(), c, q, func(w *wire.Wanted) error {
			got = append(got, w.Name)
			if want := (&wire.Near{Artifacts: 1, Object: "s3://b/x", State: "rejected", Reason: "cut"}); w.Name == "bb" && (w.Near == nil || *w.Near != *want) || w.Name != "bb" && w.Near != nil {
				t.Errorf("%s: near it is %+v", w.Name, w.Near)
			}
			return nil
		})
		if err != nil || end.Passed != 4 {
			t.Fatalf("a page ends as %+v, %v", end, err)
		}
		if q.From = end.Next; q.From == "" {
			break
		}
	}
	if !slices.Equal(got, []string{"bb", "cc", "aa", "dd"}) {
		t.Errorf("names come as %v", got)
	}
	id := catalog.Wanted{Name: "4c4c44d855553144a18c9d79e6bf39ea", Asked: 1, Last: day}
	if err := c.Demand.AddWanted(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	got = nil
	if _, err := Wanted(t.Context(), c, WantedQuery{Text: "4C4C44D8-5555-3144-A18C-9D79E6BF39EA", Limit: 9}, func(w *wire.Wanted) error { got = append(got, w.Name); return nil }); err != nil || !slices.Equal(got, []string{id.Name}) {
		t.Errorf("by id with dashes: %v, %v", got, err)
	}
	got = nil
	if _, err := Wanted(t.Context(), c, WantedQuery{Text: "LIBgame", Limit: 9}, func(w *wire.Wanted) error { got = append(got, w.Name); return nil }); err != nil || !slices.Equal(got, []string{"bb"}) {
		t.Errorf("by file: %v, %v", got, err)
	}
	for _, bad := range []string{"x", "1", "1.2", "-1.2.a", "1.-2.a", "1.2."} {
		if _, err := Wanted(t.Context(), c, WantedQuery{From: bad, Limit: 1}, nil); !errors.Is(err, ErrCursor) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	s := &survey.Survey{}
	for i := range 5 {
		s.Runs = append(s.Runs, &survey.Run{Run: fmt.Sprint("r", i), Last: day.Add(-time.Duration(i/2) * time.Hour)})
	}
	var got []string
	q := RunQuery{Limit: 2}
	for {
		end, err := Runs(s, q, func(r *wire.Run) error { got = append(got, r.Run); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if q.From = end.Next; q.From == "" {
			break
		}
	}
	if !slices.Equal(got, []string{"r0", "r1", "r2", "r3", "r4"}) {
		t.Errorf("runs come as %v", got)
	}

	c := newCatalog(t)
	for i, ended := range []time.Time{{}, day} {
		a := &catalog.Account{ID: row.WorkerID{byte(i + 1)}, Run: "r1", Started: day.Add(-time.Duration(i) * time.Hour), Ended: ended}
		if i == 1 {
			a.Report = []byte(`{"job":"ingest"}`)
		}
		if err := c.Accounts.Swap(t.Context(), nil, a); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Run(t.Context(), c, s, "r1")
	if err != nil || d.Run.Run != "r1" || len(d.Processes) != 2 || d.Processes[0].Ended == nil || string(d.Processes[0].Report) != `{"job":"ingest"}` || d.Processes[1].Ended != nil {
		t.Errorf("the run is %+v, %v", d, err)
	}
	if d, err = Run(t.Context(), c, &survey.Survey{}, "r1"); err != nil || !d.Run.First.Equal(day.Add(-time.Hour)) {
		t.Errorf("a run that began after the survey is %+v, %v", d, err)
	}
	if d, err = Run(t.Context(), c, s, "r9"); err != nil || d != nil {
		t.Errorf("an unknown run is %+v, %v", d, err)
	}
}

// Many callers share one survey. It is taken again when it is old, and never before.
func TestOverview(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCatalog(t)
		opened := 0
		wait := time.Duration(0)
		o := NewOverview(func(ctx context.Context) (*catalog.Catalog, error) {
			opened++
			select {
			case <-time.After(wait):
				return c, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if s, err := o.Survey(t.Context(), time.Second); err != nil || s.Artifacts != 0 {
					t.Errorf("%+v, %v", s, err)
				}
			})
		}
		all.Wait()
		if opened != 1 {
			t.Errorf("%d surveys were taken at once", opened)
		}
		artifact(t, c, symbol.ID{1}, symbol.ELF, "a")
		if s, err := o.Survey(t.Context(), time.Second); err != nil || s.Artifacts != 0 || opened != 1 {
			t.Errorf("a young survey was taken again: %+v, %v", s, err)
		}
		<-time.After(2 * youngest)
		if s, err := o.Survey(t.Context(), time.Second); err != nil || s.Artifacts != 1 {
			t.Errorf("an old survey was given: %+v, %v", s, err)
		}

		// A slow survey gives the old one out meanwhile.
		<-time.After(2 * youngest)
		wait = time.Hour
		artifact(t, c, symbol.ID{2}, symbol.ELF, "b")
		if s, err := o.Survey(t.Context(), time.Second); err != nil || s.Artifacts != 1 {
			t.Errorf("while a survey is taken: %+v, %v", s, err)
		}
		o.End()
		synctest.Wait()
		if _, err := o.Survey(t.Context(), time.Second); !errors.Is(err, ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// The first caller learns that the survey takes longer than it waits.
func TestOverviewFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := NewOverview(func(ctx context.Context) (*catalog.Catalog, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if _, err := o.Survey(t.Context(), time.Minute); !errors.Is(err, ErrTaking) {
			t.Error(err)
		}
		o.End()
	})
}
