package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/symlake/symlake/sinks"
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

// chainWalk goes from event to event in the order of their keys.
type chainWalk struct {
	origin   hash.Hash // over the events before the chain
	hash     string    // of the last event of the chain; "": it has not begun
	events   int
	before   int
	at       int64 // of the last key
	broken   bool  // the event before does not open, so its hash is unknown
	copied   bool
	heads    map[string]bool
	problems []error
}

// newChainWalk begins before the first event.
func newChainWalk() *chainWalk {
	w := &chainWalk{origin: sha256.New(), at: -1, heads: make(map[string]bool)}
	w.origin.Write([]byte("symlake audit 0"))
	w.heads[w.link()] = true
	return w
}

func (w *chainWalk) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Errorf(format, args...))
}

// link returns the hash that the next event follows.
func (w *chainWalk) link() string {
	if w.hash != "" {
		return w.hash
	}
	return hex.EncodeToString(w.origin.Sum(nil))
}

// add goes on to the next event.
func (w *chainWalk) add(key []byte, f eventForm, plain []byte) {
	when := f.Event.At.Format(time.RFC3339)
	w.at = eventTime(key)
	switch {
	case f.Prev == "" && w.hash == "":
		appendEntry(w.origin, key, plain)
		w.before++
		w.copied = w.copied || f.What == "load"
	case f.Prev == "":
		w.problem("event %q of %s follows no other: an older program added it, or somebody else", f.What, when)
		return
	default:
		if f.Prev != w.link() && !w.broken {
			w.problem("event %q of %s does not follow the one before it: events between them were removed, added or changed", f.What, when)
		}
		w.hash, w.broken = linkHash(key, plain), false
		w.events++
	}
	w.heads[w.link()] = true
}

// end compares the events with the head as it was before they were read, and as it was afterwards.
func (w *chainWalk) end(first, last *auditHead) {
	if last == nil {
		if w.events > 0 {
			w.problem("the head is gone, and events name one: events at the end may be gone, too")
		}
		return
	}
	if first != nil && first.At > w.at { // committed, and its record not stored yet
		if f, err := parseEvent(eventKey(first.At), first.Last); err == nil {
			w.add(eventKey(first.At), f, first.Last)
		}
	}
	switch {
	case first != nil && !w.heads[first.Hash]:
		w.problem("the head names an event that is not there: events were removed or changed, or are of another time than the head")
	case w.events > last.Events && len(w.problems) == 0:
		w.problem("%d events follow the one that the head names: the head is of an earlier time, or they were added", w.events-last.Events)
	}
}

// chain returns the result of the walk.
func (w *chainWalk) chain() *Chain {
	return &Chain{Head: w.link(), Events: w.events, Before: w.before, Problems: w.problems, CopiedBefore: w.copied, heads: w.heads}
}

// linkHash returns the hash that the next event says it follows.
func linkHash(key, plain []byte) string {
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

// eventForm is a "t" record.
type eventForm struct {
	Event
	At   time.Time `json:"at,omitzero"`    // zero: the key's
	Prev string    `json:"prev,omitempty"` // hash of the event before; "": from before there was a chain
}

// auditHead is the "h" record: the last event of the chain, whole.
type auditHead struct {
	Hash   string `json:"hash"`   // of the last event
	Events int    `json:"events"` // of the chain
	At     int64  `json:"at"`     // of the last event's key, nanoseconds since 1970
	Last   []byte `json:"last"`   // plain text of its record

	raw []byte // as read; nil: the store has none
}

func eventKey(nanoseconds int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{row.RecordEvent}, uint64(nanoseconds))
}

// eventTime returns the nanoseconds in an event's key.
func eventTime(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[1:])) }

// parseEvent reads the plain text of an event.
func parseEvent(key, plain []byte) (f eventForm, err error) {
	if err := json.Unmarshal(plain, &f); err != nil || len(key) != len(eventKey(0)) {
		return f, fmt.Errorf("audit record %x: %w: %w", key, row.ErrUnauthentic, err)
	}
	if f.Event.At = f.At; f.At.IsZero() {
		f.Event.At = time.Unix(0, eventTime(key)).UTC()
	}
	return f, nil
}

// isDamage reports whether a record does not open. False: the store does not answer.
func isDamage(err error) bool {
	return errors.Is(err, row.ErrUnauthentic) || errors.Is(err, row.ErrSealed) || errors.Is(err, sinks.ErrCorrupt)
}
