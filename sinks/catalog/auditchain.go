package catalog

import (
	"context"
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

// auditHead is the "h" record: the last event of the chain, whole.
type auditHead struct {
	Hash   string `json:"hash"`   // of the last event
	Events int    `json:"events"` // of the chain
	At     int64  `json:"at"`     // of the last event's key, nanoseconds since 1970
	Last   []byte `json:"last"`   // plain text of its record

	raw []byte // as read; nil: there is none
}

// auditHead reads the head; nil: there is none.
func (c *Catalog) auditHead(ctx context.Context) (*auditHead, error) {
	key := []byte{row.RecordHead}
	value, err := c.c.Get(ctx, key)
	if err != nil || value == nil {
		return nil, err
	}
	plain, err := c.k.OpenRecord(ctx, key, value)
	if err != nil {
		return nil, fmt.Errorf("head of the audit: %w", err)
	}
	h := &auditHead{raw: value}
	if err := json.Unmarshal(plain, h); err != nil {
		return nil, fmt.Errorf("head of the audit: %w: %w", row.ErrUnauthentic, err)
	}
	return h, nil
}

// beginChain is the head that a catalog without one would have: of all events that are there.
func (c *Catalog) beginChain(ctx context.Context) (*auditHead, error) {
	w := newChainWalk()
	err := c.c.List(ctx, sinks.Under([]byte{row.RecordEvent}), func(r sinks.Row) error {
		f, plain, err := c.event(ctx, r)
		if err == nil {
			w.add(r.Key, f, plain)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &auditHead{Hash: w.link(), Events: w.events, At: w.at}, nil
}

// Chain is what the events of the audit come to, read back.
type Chain struct {
	Head     string  // hash of the last event, 64 hex digits
	Events   int     // in the chain
	Before   int     // events from before there was a chain
	Problems []error // links that do not hold
	// CopiedBefore: events from before there was a chain tell that loads were copied into this store.
	CopiedBefore bool

	heads map[string]bool
}

// Has reports whether head was the head of the audit at some time: what came since follows it.
func (c *Chain) Has(head string) bool { return c.heads[head] }

// AuditChain reads all events and checks that each follows the one before, and that the head names the last. An error is
// the store's; what is wrong with the events is among the problems.
func (c *Catalog) AuditChain(ctx context.Context) (*Chain, error) {
	w := newChainWalk()
	first, err := c.auditHead(ctx)
	if err != nil && !isDamage(err) {
		return nil, err
	}
	headless := err != nil
	if headless {
		w.problem("%w", err)
	}
	err = c.c.List(ctx, sinks.Under([]byte{row.RecordEvent}), func(r sinks.Row) error {
		f, plain, err := c.event(ctx, r)
		switch {
		case err == nil:
			w.add(r.Key, f, plain)
		case isDamage(err):
			w.problem("%w", err)
			w.broken = true
		default:
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	last, err := c.auditHead(ctx)
	if err != nil && !isDamage(err) {
		return nil, err
	}
	if !headless && err == nil {
		w.end(first, last)
	}
	return &Chain{Head: w.link(), Events: w.events, Before: w.before, Problems: w.problems, CopiedBefore: w.copied, heads: w.heads}, nil
}

// isDamage tells a record that does not open from a store that does not answer.
func isDamage(err error) bool {
	return errors.Is(err, row.ErrUnauthentic) || errors.Is(err, row.ErrSealed) || errors.Is(err, sinks.ErrCorrupt)
}

// chainWalk goes from event to event in the order of their keys.
type chainWalk struct {
	origin   hash.Hash // over the events before the chain
	hash     string    // of the last event of the chain; "": it has not begun
	events   int
	before   int
	at       int64 // of the last key
	broken   bool  // the event before does not open: nobody knows its hash
	copied   bool
	heads    map[string]bool
	problems []error
}

func newChainWalk() *chainWalk {
	w := &chainWalk{origin: sha256.New(), at: -1, heads: make(map[string]bool)}
	w.origin.Write([]byte("symlake audit 0"))
	w.heads[w.link()] = true
	return w
}

func (w *chainWalk) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Errorf(format, args...))
}

// link is what the next event follows.
func (w *chainWalk) link() string {
	if w.hash != "" {
		return w.hash
	}
	return hex.EncodeToString(w.origin.Sum(nil))
}

func (w *chainWalk) add(key []byte, f eventForm, plain []byte) {
	when := f.Event.At.Format(time.RFC3339)
	w.at = int64(binary.BigEndian.Uint64(key[1:]))
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

// end holds the events against the head as it was before they were read and as it was behind.
func (w *chainWalk) end(first, last *auditHead) {
	if last == nil {
		if w.events > 0 {
			w.problem("the head is gone, and events name one: events at the end may be gone, too")
		}
		return
	}
	if first != nil && first.At > w.at { // committed, and its record not stored yet
		if f, err := parseEvent(auditKey(first.At), first.Last); err == nil {
			w.add(auditKey(first.At), f, first.Last)
		}
	}
	switch {
	case first != nil && !w.heads[first.Hash]:
		w.problem("the head names an event that is not there: events were removed or changed, or are of another time than the head")
	case w.events > last.Events && len(w.problems) == 0:
		w.problem("%d events follow the one that the head names: the head is of an earlier time, or they were added", w.events-last.Events)
	}
}

// linkHash is what the next event says it follows.
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
