package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/ingest/upkeep/keys"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
)

// TestBenchRotate measures the rotation of 100,000 artifacts' keys (SYMLAKE_BENCH_ARTIFACTS), each with two names and an
// object in the ledger, under a local keyset.
func TestBenchRotate(t *testing.T) {
	formattest.Bench(t)
	artifacts := 100_000
	if s := os.Getenv("SYMLAKE_BENCH_ARTIFACTS"); s != "" {
		var err error
		if artifacts, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	store := filepath.Join(t.TempDir(), "store")
	manyArtifacts(t, store, artifacts)
	for range 3 {
		cmd := symlake(t, "--store", store, "--lake", "off", "--json", "keys", "rotate")
		start := time.Now()
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		var r keys.RotateReport
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if r.DataKeys != artifacts || r.Records < 4*artifacts || len(r.Failed) > 0 {
			t.Fatalf("%s", out)
		}
		fmt.Printf("rotate: %d data keys, %d records: %.1f s, %.0f artifacts a second, cpu %.1f s\n", r.DataKeys, r.Records, took.Seconds(),
			float64(artifacts)/took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	}
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "verify")
}

// manyArtifacts makes a store of so many artifacts of one range each.
func manyArtifacts(t *testing.T, dir string, artifacts int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(file.Create(dir))
	keyset := filepath.Join(dir, settings.DefaultKeyset)
	must(kek.CreateKeyset(t.Context(), keyset, nil))
	key, err := kek.OpenKeyset(t.Context(), keyset, nil)
	must(err)
	s, err := file.Open(dir, file.Options{})
	must(err)
	defer s.Close()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, key)
	must(err)
	b, err := s.Blocks.Begin(t.Context())
	must(err)
	defer b.Abort()
	table := dictionary.Table{Strings: []string{"", "f"}, Runs: []uint32{1, 1}}
	records := make([]*catalog.Record, artifacts)
	for i := range records {
		a := &symbol.Artifact{Kind: symbol.ELF, Canonical: fmt.Sprintf("%040x", i), End: 16}
		a.ID = symbol.NewID(a.Kind, a.Canonical)
		enc, err := loads.NewEncoder(ring, a, row.NewLoad(time.Now()), nil, table, func(r sinks.Row) error { return b.Write(r) })
		must(err)
		must(enc.Add(&symbol.Run{Strings: table.Strings, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}, Ranges: []symbol.Range{{End: 16}}}))
		loaded, err := enc.Close()
		must(err)
		names := []symbol.Name{{Kind: symbol.NameBuildID, Text: a.Canonical}, {Kind: symbol.NameFile, Text: fmt.Sprintf("lib%d.so", i)}}
		records[i] = &catalog.Record{ID: a.ID, State: catalog.Live, Names: names, Published: loaded}
	}
	must(b.Commit(t.Context()))
	cat := catalog.New(s.Catalog, ring)
	next := make(chan *catalog.Record)
	var wg sync.WaitGroup
	for range 1024 { // they share transactions
		wg.Go(func() {
			for rec := range next {
				err := cat.Artifacts.Swap(t.Context(), nil, rec)
				for _, n := range rec.Names {
					if err == nil {
						err = cat.Names.Add(t.Context(), n.Text, catalog.Ref{Artifact: rec.ID})
					}
				}
				if err == nil {
					err = cat.Ledger.Swap(t.Context(), nil, &catalog.Object{URL: "s3://symbols/" + rec.Names[1].Text, Size: 1000, State: catalog.ObjectLoaded,
						Artifacts: []catalog.ObjectArtifact{{ID: rec.ID}}})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, rec := range records {
		next <- rec
	}
	close(next)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}
