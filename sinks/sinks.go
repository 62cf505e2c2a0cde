// Package sinks is the contract between rows and stores. Each store
// is a child package; stores see opaque keys and sealed values and never
// import sinks/row, which is the only code that builds keys.
package sinks

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Load names one attempt to ingest one artifact: 6 bytes of milliseconds since 1970, big
// endian, then 2 random ones, so loads of an artifact sort by age.
type Load [8]byte

// PrefixBytes is the length of artifact ‖ load, with which every row key
// begins. It is all that a store knows of a key.
const PrefixBytes = 24

// ErrConflict says that Swap found another record than old. It names the key only.
var ErrConflict = errors.New("catalog record changed meanwhile")

// ErrMissing says that the URL has no store; init or ingest makes one.
var ErrMissing = errors.New("no store")

// ErrUnfit says that the place at the store's URL would not keep rows, or that the URL makes no sense. Another
// attempt fails alike. Wrapped, with the reason.
var ErrUnfit = errors.New("not fit as a store")

// ErrCorrupt says that stored bytes fail the store's own checks (checksum, structure), so its
// answer would be neither a row nor the lack of one. Wrapped, with the place.
var ErrCorrupt = errors.New("stored bytes are corrupt")

// ErrLost says that a necessary part of the store is missing. No call makes that part anew unless its options
// say so. Wrapped, with the missing part and what to do.
var ErrLost = errors.New("a part of the store is gone")

// Row is a key and its sealed value. Its maker never reuses their bytes. Its receiver may keep it and must not
// change it.
type Row struct{ Key, Value []byte }

// Span is [From, Stop) in byte order; Stop nil: no end.
type Span struct{ From, Stop []byte }

// Exactly is the span of one key.
func Exactly(key []byte) Span {
	stop := append(make([]byte, 0, len(key)+1), key...)
	return Span{From: key, Stop: append(stop, 0)}
}

// Under is the span of all keys that begin with p, which must not end in 0xff bytes only.
func Under(p []byte) Span {
	stop := append([]byte(nil), p...)
	for len(stop) > 0 {
		stop[len(stop)-1]++
		if stop[len(stop)-1] != 0 {
			return Span{From: p, Stop: stop}
		}
		stop = stop[:len(stop)-1]
	}
	return Span{From: p}
}

// Store is what a store URL opens to.
type Store struct {
	Blocks  Blocks
	Catalog Catalog
	Close   func() error
	// Purge removes replaced and deleted records from the catalog's files, and returns when they are gone. beyond names
	// places out of the store's reach that may have copies, in words for its operator. nil: the store keeps no old records.
	Purge func(ctx context.Context) (beyond []string, err error)
	Notes []string // what its operator should know, found when it was opened
}

// Blocks holds immutable rows in key order. Safe for concurrent use.
type Blocks interface {
	Begin(ctx context.Context) (Batch, error)
	// First gives the first row of each span (a zero Row when it has none) or
	// its error: found is called once a span, in any order, on the caller's
	// goroutine. Remote stores do all of them in one pipelined round trip.
	First(ctx context.Context, spans []Span, found func(i int, r Row, err error)) error
	// Scan emits the rows of s in key order. emit's error comes back unchanged.
	Scan(ctx context.Context, s Span, emit func(Row) error) error
	// Drop removes every row under the given prefixes (PrefixBytes each). A prefix
	// without rows is no error.
	Drop(ctx context.Context, prefixes [][]byte) error
	// Tidy removes what batches that never committed before the given time
	// left behind, and reports the bytes it freed. Rows of committed batches stay.
	Tidy(ctx context.Context, before time.Time) (freed int64, err error)
}

// Expecter is implemented by Blocks that read faster what they hear of before.
type Expecter interface {
	// Expect says that rows under a prefix, of at most PrefixBytes, will be asked for soon. It does not wait.
	Expect(ctx context.Context, prefix []byte)
}

// Batch takes the rows of many loads: each load's rows together and
// ascending, loads in any order. One goroutine. A failed batch stays failed.
// A load committed before may come again with the same rows, which changes nothing.
type Batch interface {
	Write(r Row) error
	// Commit makes the rows durable. Only the catalog makes them findable.
	Commit(ctx context.Context) error
	// Abort drops the written rows; after Commit it does nothing.
	Abort()
}

// Change is one compare-and-set of a catalog record. Old and New mean what they mean in Catalog.Swap. A store that is a
// Counter adds Counts to its counters if the change happens, in the same step. Other stores leave Counts alone.
type Change struct {
	Key, Old, New []byte
	Counts        []Count
	// Same says that Old is nil, and that all records that the key ever has mean the same as New. Then a store may write New
	// over such a record, in place of ErrConflict.
	Same bool
}

// Count changes a counter by By. With Most, the counter becomes By unless it is above that.
type Count struct {
	Name string
	By   int64
	Most bool
}

// Counter is implemented by a Catalog that keeps counters beside its records, for the Counts of changes.
type Counter interface {
	// Counts returns the counters that are not 0, as of one moment. A Settler's counters may lack changes that are under way.
	// whole is false if the store held records before it counted: then the counters mean nothing.
	Counts(ctx context.Context) (counts map[string]int64, whole bool, err error)
}

// Settler is a Counter that may cease to be whole: when a process dies while it counts. It does not count changes that are
// Same, and has no CountStored.
type Settler interface {
	Counter
	// Settle makes the counters whole again, unless they are: count adds what all records count. It also tidies what ended
	// processes counted. whole is false if other processes changed records meanwhile, so that a later call has to try again.
	Settle(ctx context.Context, count func(ctx context.Context, add func([]Count)) error) (whole bool, err error)
}

// CountStored is the counter of a store that sums Sum of the prefix of each load with rows, in the step that makes the
// rows visible or drops them. Counts has it, also when it is 0, if the store keeps it.
const CountStored = "stored"

// Keeper is implemented by Blocks that know where rows are and can lose them. KeepsAll reports whether the places of all
// loads are still there. It opens none.
type Keeper interface {
	KeepsAll(ctx context.Context) (bool, error)
}

// Sum returns a number that stands for b in a counter. If two such counters are equal, so are the sets of what they sum
// up, but for a chance of 1 in 2^64. Sums run over.
func Sum(b []byte) int64 {
	h := sha256.Sum256(b)
	return int64(binary.LittleEndian.Uint64(h[:8]))
}

// Catalog holds small mutable records in key order, with compare-and-set on
// one record. Safe for concurrent use, also from several processes.
type Catalog interface {
	// Get returns nil, nil for an absent key.
	Get(ctx context.Context, key []byte) ([]byte, error)
	// Swap replaces old by new in one step: old nil means the key must be
	// absent, new nil deletes it. ErrConflict when the record is not old.
	// It is durable when it returns.
	Swap(ctx context.Context, key, old, new []byte) error
	// GetAll reads many records, in as few requests as the store can. Answers have the order of keys, nil for an
	// absent key. The answers need not be of one moment. If the store reads only some of them, the error is KeyErrors,
	// and the answers of the other keys are there.
	GetAll(ctx context.Context, keys [][]byte) ([][]byte, error)
	// SwapAll makes many changes, in as few requests as the store can. Each is a Swap of its own: errs[i] is the
	// error of changes[i], and the others happen all the same. Changes of one key happen in order. Changes of
	// unlike keys happen in any order. The changes without an error are durable when SwapAll returns.
	SwapAll(ctx context.Context, changes []Change) (errs []error)
	// List emits the records of s in key order, each at most once, and as it was at some moment of the call. A record
	// that does not change meanwhile comes as it is. There is no moment common to all: a store of several regions
	// answers region by region. So a caller that joins two records reads the decisive record again, or swaps it.
	List(ctx context.Context, s Span, emit func(Row) error) error
}

// KeyErrors are the errors of GetAll: one for each key, nil for a key with an answer.
type KeyErrors []error

// Error returns the first error, and how many there are.
func (e KeyErrors) Error() string {
	all := e.Unwrap()
	if len(all) == 1 {
		return all[0].Error()
	}
	return fmt.Sprintf("%d of %d records were not read, the first one: %v", len(all), len(e), all[0])
}

// Unwrap returns the errors.
func (e KeyErrors) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e), func(err error) bool { return err == nil })
}

// ByKey returns the error of each of the n keys of a GetAll that ended with err; nil for a key with an answer.
func ByKey(err error, n int) []error {
	if e, is := err.(KeyErrors); is && len(e) == n {
		return e
	}
	return slices.Repeat([]error{err}, n)
}

// ErrRefused says that a key-encryption key did not seal this, or that its keeper refuses its use. All other
// errors of a KEK concern the way to it, and another attempt may help. Wrapped, with the keeper's words.
var ErrRefused = errors.New("key-encryption key refused or wrong")

// KEK wraps store keys: the key-encryption key of a local keyset or a key
// service. Additional data holds no secret, because a key service may log it. Safe for concurrent use.
type KEK interface {
	// ID names the key for people and for records of the catalog. It is no secret.
	ID() string
	Encrypt(ctx context.Context, plain, aad []byte) ([]byte, error)
	// Decrypt gives ErrRefused where another key, or other additional data, was sealed with.
	Decrypt(ctx context.Context, sealed, aad []byte) ([]byte, error)
}
