package hbase

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/places"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// Measured constants of the plan for large stores.
const (
	// Bytes of an artifact of ten functions on disk after a major compaction, by the kind of record: TestBenchCatalog.
	planArtifact, planNames, planLedger = 335, 198, 123
	// planRange is the bytes of a native range in the blocks table.
	planRange = 2.58
	// planRanges is how many ranges an artifact of the plan has.
	planRanges = 1000
	// planRegion is the size at which HBase splits a region (hbase.hregion.max.filesize).
	planRegion = 10e9
	// planRate is how many objects a second the plan ingests.
	planRate = 1000
)

// perKind counts changes by the kind of record.
type perKind struct {
	sinks.Catalog
	mu sync.Mutex
	n  map[byte]int
}

func (p *perKind) Swap(ctx context.Context, key, old, new []byte) error {
	return p.SwapAll(ctx, []sinks.Change{{Key: key, Old: old, New: new}})[0]
}

func (p *perKind) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	p.mu.Lock()
	for _, ch := range changes {
		p.n[ch.Key[0]]++
	}
	p.mu.Unlock()
	return p.Catalog.SwapAll(ctx, changes)
}

// The plan of README for 10^6 to 10^9 artifacts follows from measured constants and from the changes of a run.
func TestPlan(t *testing.T) {
	const n = 100
	s := mem.New()
	count := &perKind{Catalog: s.Catalog, n: map[byte]int{}}
	s.Catalog = count
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	o := ingest.Options{Store: s, Keyring: ring, Formats: all.Formats()}
	if _, err := ingest.Run(t.Context(), []discover.Source{smallObjects(t, n)}, o); err != nil {
		t.Fatal(err)
	}
	per := func(kind byte) float64 { return math.Round(float64(count.n[kind])/n*10) / 10 }
	t.Logf("changes an object: artifact %.1f, names %.1f, ledger %.1f", per('a'), per('n'), per('o'))

	for _, p := range []struct {
		artifacts float64
		regions   int // of the URL
	}{{1e6, 16}, {1e7, 16}, {1e8, 64}, {1e9, 256}} {
		first := map[byte]int{}
		for _, b := range places.Splits(p.regions) {
			first[b[0]]++
		}
		first['a']++ // the first region
		regions, hottest, bytes := 2, 0.0, 0.0
		for kind, size := range map[byte]float64{'a': planArtifact, 'n': planNames, 'o': planLedger} {
			bytes += size * p.artifacts
			r := max(first[kind], int(math.Ceil(size*p.artifacts/planRegion)))
			regions += r
			if kind == 'o' { // writers of one day are at one place of each salt
				r = min(r, places.Salts)
			}
			hottest = max(hottest, per(kind)*planRate/float64(r))
		}
		blocks := p.artifacts * planRanges * planRange
		line := fmt.Sprintf("| 10^%.0f | %d | %.0f GB, %d regions | %.0f GB, %d regions | %.0f |", math.Log10(p.artifacts), p.regions,
			bytes/1e9, regions, blocks/1e9, max(p.regions, int(math.Ceil(blocks/planRegion))), hottest)
		if !strings.Contains(README, line+"\n") {
			t.Errorf("README does not have the line\n%s", line)
		}
	}
}
