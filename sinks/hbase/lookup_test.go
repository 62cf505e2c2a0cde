package hbase

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	records "github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
)

const (
	functionBytes = 64
	// functionRanges a function has; functions of ceph-osd have 12.
	functionRanges = 8
	// rowFunctions make a row: a block has 2,560 ranges.
	rowFunctions = 2560 / functionRanges
)

var words = []string{"4drawEb", "6updateEi", "10invalidateEP7Context", "7hitTestERK5Point", "6layoutE4Size"}

// published is an artifact that was made up and published, and how many rows it has.
type published struct {
	symbol.Artifact
	rows int
}

// publish stores an artifact of as many functions.
func publish(t testing.TB, s *sinks.Store, ring *row.Keyring, name string, functions int) published {
	t.Helper()
	a := symbol.Artifact{ID: symbol.NewID(symbol.ELF, name), Kind: symbol.ELF, Canonical: name, Arch: "arm64",
		End: uint64(functions) * functionBytes, Names: []symbol.Name{{Kind: symbol.NameBuildID, Text: name}}}
	b, err := s.Blocks.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	table := dictionary.Table{Strings: []string{"", "src/made.cpp"}, Runs: []uint32{0, uint32(functions)}}
	rng := rand.New(rand.NewPCG(7, uint64(functions)))
	for range functions {
		table.Strings = append(table.Strings, fmt.Sprintf("_ZN4made6render%dShape%d%sEv", rng.IntN(1000), rng.IntN(100000), words[rng.IntN(len(words))]))
		table.Runs = append(table.Runs, 1)
	}
	enc, err := loads.NewEncoder(ring, &a, row.NewLoad(time.Now()), nil, table, b.Write)
	if err != nil {
		t.Fatal(err)
	}
	for i := range functions {
		at := uint64(i) * functionBytes
		r := symbol.Run{Rank: symbol.RankDWARF, Strings: table.Strings, Scopes: []symbol.Scope{{Parent: -1, Function: uint32(i + 2)}},
			Ranges: make([]symbol.Range, functionRanges)}
		line := uint32(rng.IntN(9000) + 1)
		for k := range r.Ranges {
			const size = functionBytes / functionRanges
			r.Ranges[k] = symbol.Range{Start: at, End: at + size, At: symbol.Site{File: 1, Line: line}}
			at, line = at+size, line+1+uint32(rng.IntN(5))
		}
		if err := enc.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := enc.Close()
	if err == nil {
		err = b.Commit(t.Context())
	}
	if err == nil {
		err = records.New(s.Catalog, ring).Artifacts.Swap(t.Context(), nil, &records.Record{ID: a.ID, State: records.Live, Published: loaded})
	}
	if err != nil {
		t.Fatal(err)
	}
	return published{a, int(loaded.Rows)}
}

// One call for each block that is not in the client's memory, and one for the artifact's record; none for a block that is.
func TestCallsOfLookups(t *testing.T) {
	l := newLibrary(t, hbasetest.Shared(t), 3, 3, 100)
	keys := kek.Ephemeral()
	ring, err := row.CreateKeyring(t.Context(), l.Catalog, keys)
	if err != nil {
		t.Fatal(err)
	}
	a := publish(t, l.Store, ring, "cafe01", 5*rowFunctions)
	client := lookup.New(l.Store, keys, lookup.Options{})
	if err := l.ask(t.Context(), l.Store, 200); err != nil { // finds every region
		t.Fatal(err)
	}
	ask := func(positions ...uint64) int64 {
		t.Helper()
		before := l.c.Calls()
		var qs []lookup.Query
		for _, p := range positions {
			qs = append(qs, lookup.Query{Artifact: a.ID, Where: symbol.Where{Value: p}})
		}
		if err := client.Frames(t.Context(), qs, func(i int, answer symbol.Answer) {
			if answer.Status != symbol.Found {
				t.Errorf("position %#x: %s, %v", positions[i], answer.Status, answer.Err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		return l.c.Calls() - before
	}
	const row = rowFunctions * functionBytes
	ask(0) // keys, record, shared strings, first block
	for _, c := range []struct {
		what      string
		want      int64
		positions []uint64
	}{
		{"a warm block", 0, []uint64{0, 1, 999}},
		{"a cold block", 1, []uint64{1*row + 5000}},
		{"the same block, warm", 0, []uint64{1*row + 5000, 1*row + 7000}},
		{"two cold blocks and a warm one", 2, []uint64{2*row + 5000, 3*row + 5000, 77, 2*row + 9000}},
	} {
		if got := ask(c.positions...); got != c.want {
			t.Errorf("%s: %d calls, want %d", c.what, got, c.want)
		}
	}
}
