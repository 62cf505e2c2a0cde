// Package audit checks the chain of events that a store keeps: each event has the hash of the one before, and a head names the
// last. The package doc of sinks/row says how an event is appended.
package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/symlake/symlake/sinks/row"
)

// Chain is the audit, read back and checked.
type Chain struct {
	Head     string  // hash of the last event, 64 hex digits
	Events   int     // in the chain
	Before   int     // events from before there was a chain
	Problems []error // links that do not hold
	// CopiedBefore: events from before there was a chain tell that loads were copied into this store.
	CopiedBefore bool

	heads map[string]bool
}

// Has reports whether head was the head of the audit at some time. Later events follow it.
func (c *Chain) Has(head string) bool { return c.heads[head] }

// Walk goes from event to event in the order of their keys.
type Walk struct {
	origin   hash.Hash // over the events before the chain
	hash     string    // of the last event of the chain; "": it has not begun
	events   int
	before   int
	at       int64 // of the last key
	broken   bool  // see Broken
	copied   bool
	heads    map[string]bool
	problems []error
}

// NewWalk begins before the first event.
func NewWalk() *Walk {
	w := &Walk{origin: sha256.New(), at: -1, heads: make(map[string]bool)}
	w.origin.Write([]byte("symlake audit 0"))
	w.heads[w.link()] = true
	return w
}

// Problem notes a problem.
func (w *Walk) Problem(err error) { w.problems = append(w.problems, err) }

// link returns the hash that the next event follows.
func (w *Walk) link() string {
	if w.hash != "" {
		return w.hash
	}
	return hex.EncodeToString(w.origin.Sum(nil))
}

// Broken notes why the next event does not open. The event behind it may follow any.
func (w *Walk) Broken(err error) {
	w.Problem(err)
	w.broken = true
}

// Add goes on to the next event. plain is its record, and f what Parse read of it.
func (w *Walk) Add(key []byte, f Entry, plain []byte) {
	when := f.Event.At.Format(time.RFC3339)
	w.at = Time(key)
	switch {
	case f.Prev == "" && w.hash == "":
		appendEntry(w.origin, key, plain)
		w.before++
		w.copied = w.copied || f.What == "load"
	case f.Prev == "":
		w.Problem(fmt.Errorf("event %q of %s follows no other: an older program added it, or somebody else", f.What, when))
		return
	default:
		if f.Prev != w.link() && !w.broken {
			w.Problem(fmt.Errorf("event %q of %s does not follow the one before it: events between them were removed, added or changed", f.What, when))
		}
		w.hash, w.broken = Hash(key, plain), false
		w.events++
	}
	w.heads[w.link()] = true
}

// End compares the events with the head as it was before they were read, and as it was afterwards.
func (w *Walk) End(first, last *Head) {
	if last == nil {
		if w.events > 0 {
			w.Problem(errors.New("the head is gone, and events name one: events at the end may be gone, too"))
		}
		return
	}
	if first != nil && first.At > w.at { // committed, and its record not stored yet
		if f, err := Parse(Key(first.At), first.Last); err == nil {
			w.Add(Key(first.At), f, first.Last)
		}
	}
	switch {
	case first != nil && !w.heads[first.Hash]:
		w.Problem(errors.New("the head names an event that is not there: events were removed or changed, or are of another time than the head"))
	case w.events > last.Events && len(w.problems) == 0:
		w.Problem(fmt.Errorf("%d events follow the one that the head names: the head is of an earlier time, or they were added", w.events-last.Events))
	}
}

// Head returns a head that names the last event that was added.
func (w *Walk) Head() Head { return Head{Hash: w.link(), Events: w.events, At: w.at} }

// Chain returns the result of the walk.
func (w *Walk) Chain() *Chain {
	return &Chain{Head: w.link(), Events: w.events, Before: w.before, Problems: w.problems, CopiedBefore: w.copied, heads: w.heads}
}

// Hash returns the hash of an event, which the next one names.
func Hash(key, plain []byte) string {
	h := sha256.New()
	h.Write([]byte("symlake audit 1"))
	appendEntry(h, key, plain)
	return hex.EncodeToString(h.Sum(nil))
}

func appendEntry(h hash.Hash, key, plain []byte) {
	h.Write(key)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(plain))))
	h.Write(plain)
}

// Event is one line of the audit: a person or process, an act on the store, and its time.
type Event struct {
	At     time.Time `json:"-"`
	Who    string    `json:"who"`
	What   string    `json:"what"` // init, rotate, shred, export, rollback, forget, gc, force
	Detail string    `json:"detail,omitempty"`
}

// Entry is the record of an event, as JSON.
type Entry struct {
	Event
	At   time.Time `json:"at,omitzero"`    // zero: the key's
	Prev string    `json:"prev,omitempty"` // hash of the event before; "": from before there was a chain
}

// Head is the record of the head, as JSON: the last event of the chain, whole.
type Head struct {
	Hash   string `json:"hash"`   // of the last event
	Events int    `json:"events"` // of the chain
	At     int64  `json:"at"`     // of the last event's key, nanoseconds since 1970
	Last   []byte `json:"last"`   // plain text of its record
}

// Key is the key of an event in the catalog.
func Key(nanoseconds int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{row.RecordEvent}, uint64(nanoseconds))
}

// Time returns the nanoseconds in an event's key.
func Time(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[1:])) }

// Parse reads the plain text of an event. Other text is row.ErrUnauthentic.
func Parse(key, plain []byte) (f Entry, err error) {
	if err := json.Unmarshal(plain, &f); err != nil || len(key) != len(Key(0)) {
		return f, fmt.Errorf("audit record %x: %w: %w", key, row.ErrUnauthentic, err)
	}
	if f.Event.At = f.At; f.At.IsZero() {
		f.Event.At = time.Unix(0, Time(key)).UTC()
	}
	return f, nil
}
