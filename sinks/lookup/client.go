// Package lookup is the thin client: it answers (artifact, place) with frames,
// and names with artifacts, from the rows of a store.
//
// It reads one catalog record an artifact and one row a block, and caches
// both. It never writes. Package sinks/row holds the stored form, package sinks/answer answers
// whole reports, formats and ingest parse symbol files. It imports only the first.
//
// Invariants:
//   - a hole is answered only where the row that speaks for the position, or
//     the record's fence, proves it; a row that is missing or not the expected
//     one makes the client read the catalog once more past its cache, then
//     answer corrupt;
//   - one answer comes from one load;
//   - every outcome but found carries a reason; a temporary failure is
//     unavailable, never a final answer;
//   - what a shared cache gives is opened like any row; what does not open is read from the store;
//   - while the catalog does not answer, the client believes its last answer a while longer;
//   - concurrent questions for one cold record, name or block cost one read,
//     and no caller fails because the reading caller gave up;
//   - no goroutine outlives a call, and the client holds nothing open: there is nothing to close.
package lookup

import (
	_ "embed"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/cache"
	"github.com/symlake/symlake/sinks/row/loads"
)

// README is the document of this folder. The command line prints it as a help topic.
//
//go:embed README.md
var README string

// Options of a client. The zero value is ready for use.
type Options struct {
	// CacheBytes bounds, about, the memory of all caches; 0: 256 MiB. Three
	// eighths are for decoded blocks, an eighth for classes and what retracing makes of them, a quarter for loads (records and shared
	// strings), an eighth each for names of artifacts and for demangled names.
	CacheBytes int64
	// CatalogTTL is how long a record or name that was found is believed; 0:
	// one minute. It must stay below the grace of the gc job (a day).
	CatalogTTL time.Duration
	// NegativeTTL is how long absence, a refused key, or a load under way is
	// believed; 0: ten seconds. A new load is seen no later.
	NegativeTTL time.Duration
	// Now is the clock of both; nil: time.Now.
	Now func() time.Time
	// StaleTTL is how long a found record is still believed while the catalog does
	// not answer; 0: an hour. With CatalogTTL it must stay below the grace of the gc job. A load
	// shredded meanwhile is answered from until then.
	StaleTTL time.Duration
	// Shared is a second level of cache, behind the client's own and before the store; nil: none.
	Shared sinks.RowCache
	// Observer hears what happens.
	Observer Observer
	// NoDemangle leaves linkage names as they are in Frame.Function.
	NoDemangle bool
}

// Client answers from one store. Safe for concurrent use.
type Client struct {
	store  *sinks.Store
	kek    sinks.KEK
	o      Options
	keys   keys
	names  *demangle.Cache // nil: NoDemangle
	blocks *cache.Cache[place, *loads.Block]
	// classes holds nil for a name that its mapping does not have.
	classes *cache.Cache[classOf, keptClass]
	recs    *cache.Cache[symbol.ID, *entry]
	refs    *cache.Cache[string, *named]

	batches      sync.Pool     // of *Batch
	walking      atomic.Int32  // calls that read rows
	turns        atomic.Uint32 // of calls that were not alone
	blockFlights flights[place, *loads.Block]
	recFlights   flights[symbol.ID, *entry]
	refFlights   flights[string, *named]
}

// Query is one question: a place in an artifact.
type Query struct {
	Artifact symbol.ID
	Where    symbol.Where
}

// New makes a client of a store. kek unwraps its keys. It reads nothing: the
// store's keys are opened, once, by the first question.
func New(s *sinks.Store, kek sinks.KEK, o Options) *Client {
	if o.CacheBytes <= 0 {
		o.CacheBytes = 256 << 20
	}
	if o.CatalogTTL <= 0 {
		o.CatalogTTL = time.Minute
	}
	if o.NegativeTTL <= 0 {
		o.NegativeTTL = 10 * time.Second
	}
	if o.StaleTTL <= 0 {
		o.StaleTTL = time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{store: s, kek: kek, o: o}
	if !o.NoDemangle {
		c.names = demangle.NewCache(max(o.CacheBytes/8, 1<<20))
	}
	forBlocks, forClasses, forLoads, forNames := o.CacheBytes*3/8+1, o.CacheBytes/8+1, o.CacheBytes/4+1, o.CacheBytes/8+1
	c.blocks = cache.New(forBlocks, func(_ place, b *loads.Block) int64 { return weight(b.Bytes(), forBlocks) })
	c.classes = cache.New(forClasses, func(_ classOf, v keptClass) int64 { return weight(v.bytes, forClasses) })
	c.recs = cache.New(forLoads, func(_ symbol.ID, e *entry) int64 { return weight(e.bytes(), forLoads) })
	c.refs = cache.New(forNames, func(k string, n *named) int64 { return weight(n.bytes()+int64(len(k)), forNames) })
	return c
}

// Count tells the observer of frames that a layer above answered without the client.
func (c *Client) Count(kind symbol.Kind, status symbol.Status, frames int) {
	c.o.Observer.answered(kind, status, frames)
}

// weight is what n bytes count for in a cache of most bytes: with the cache's
// own node, but never so much that a giant keeps itself out.
func weight(n, most int64) int64 { return min(n+96, most/4+1) }
