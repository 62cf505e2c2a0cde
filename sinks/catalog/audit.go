package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/row"
)

// Audit is the chain of events: the "t" records, and the "h" record at its end. The package doc of
// sinks/row says how an event is appended, and why a death between two steps loses nothing.
type Audit struct{ records }

// headRecord is the "h" record.
type headRecord struct {
	audit.Head
	raw []byte // as read; nil: the store has none
}

// headOrNil returns the head, nil without a record.
func (h *headRecord) headOrNil() *audit.Head {
	if h == nil {
		return nil
	}
	return &h.Head
}

// isDamage reports whether a record does not open. False: the store does not answer.
func isDamage(err error) bool {
	return row.DoesNotOpen(err) || errors.Is(err, sinks.ErrCorrupt)
}

var headKey = []byte{row.RecordHead}

// Add appends an event to the chain. The event is durable when Add returns.
func (a Audit) Add(ctx context.Context, e audit.Event) error {
	for {
		err := a.append(ctx, e)
		if errors.Is(err, sinks.ErrConflict) && ctx.Err() == nil {
			continue // another event came first
		}
		if err != nil {
			return fmt.Errorf("audit %s: %w", e.What, err)
		}
		return nil
	}
}

// append is one attempt. sinks.ErrConflict: another event came first.
func (a Audit) append(ctx context.Context, e audit.Event) error {
	head, err := a.head(ctx)
	if err != nil {
		return err
	}
	if head == nil {
		if head, err = a.newHead(ctx); err != nil {
			return err
		}
		if head.Events > 0 {
			lost := audit.Event{At: e.At, Who: e.Who, What: "damage", Detail: "the head of the audit was gone: events at its end may be, too"}
			if err := a.follow(ctx, head, lost); err != nil {
				return err
			}
			return sinks.ErrConflict // with a head, append e
		}
	} else if err := a.storeLast(ctx, head); err != nil {
		return err
	}
	return a.follow(ctx, head, e)
}

// follow commits an event behind head, then stores it.
func (a Audit) follow(ctx context.Context, head *headRecord, e audit.Event) error {
	at := max(e.At.UnixNano(), head.At+1)
	f := audit.Entry{Event: e, Prev: head.Hash}
	if at != e.At.UnixNano() {
		f.At = e.At.UTC()
	}
	plain, err := json.Marshal(f)
	if err != nil {
		return err
	}
	next := &headRecord{Head: audit.Head{Hash: audit.Hash(audit.Key(at), plain), Events: head.Events + 1, At: at, Last: plain}}
	if _, err := a.replace(ctx, headKey, head.raw, next); err != nil {
		return err
	}
	return a.storeLast(ctx, next)
}

// storeLast writes the record of the event that the head holds, unless the store has it.
func (a Audit) storeLast(ctx context.Context, head *headRecord) error {
	key := audit.Key(head.At)
	value, err := a.store.Get(ctx, key)
	if err != nil || value != nil {
		return err
	}
	err = a.store.Swap(ctx, key, nil, a.ring.SealRecord(key, head.Last))
	if errors.Is(err, sinks.ErrConflict) {
		return nil // another writer stored it
	}
	return err
}

// head reads the head; nil: the store has none.
func (a Audit) head(ctx context.Context) (*headRecord, error) {
	value, err := a.store.Get(ctx, headKey)
	if err != nil || value == nil {
		return nil, err
	}
	h := &headRecord{raw: value}
	if err := a.open(ctx, sinks.Row{Key: headKey, Value: value}, h); err != nil {
		return nil, fmt.Errorf("head of the audit: %w", err)
	}
	return h, nil
}

// newHead makes a head for a catalog without one, from all its events.
func (a Audit) newHead(ctx context.Context) (*headRecord, error) {
	w := audit.NewWalk()
	err := a.store.List(ctx, sinks.Under([]byte{row.RecordEvent}), func(r sinks.Row) error {
		f, plain, err := a.event(ctx, r)
		if err == nil {
			w.Add(r.Key, f, plain)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &headRecord{Head: w.Head()}, nil
}

// event opens a "t" record.
func (a Audit) event(ctx context.Context, r sinks.Row) (f audit.Entry, plain []byte, err error) {
	if plain, err = a.ring.OpenRecord(ctx, r.Key, r.Value); err != nil {
		return f, nil, fmt.Errorf("audit record %x: %w", r.Key, err)
	}
	f, err = audit.Parse(r.Key, plain)
	return f, plain, err
}

// Each emits the events in the order in which they were appended, up to the event that the head names when Each
// begins. All before that one are stored by then, so that no list misses one between two others.
func (a Audit) Each(ctx context.Context, emit func(audit.Event) error) error {
	head, err := a.head(ctx)
	if err != nil {
		return err
	}
	events := sinks.Under([]byte{row.RecordEvent})
	if head != nil {
		events.Stop = sinks.Exactly(audit.Key(head.At)).Stop
	}
	last := int64(-1)
	err = a.store.List(ctx, events, func(r sinks.Row) error {
		f, _, err := a.event(ctx, r)
		if err != nil {
			return err
		}
		last = audit.Time(r.Key)
		return emit(f.Event)
	})
	if err != nil || head == nil || head.At <= last {
		return err
	}

	// The last event is committed, and its record is not stored yet.
	f, err := audit.Parse(audit.Key(head.At), head.Last)
	if err != nil {
		return err
	}
	return emit(f.Event)
}

// chainTries is how often Chain reads events while others are appended.
const chainTries = 5

// Chain reads all events. It checks that each follows the one before, and that the head names the
// last. Damage is among the problems of the result; an error is the store's. A list may miss an event that is
// appended meanwhile, and show the next one. So Chain believes a problem only if the head stayed as it was.
func (a Audit) Chain(ctx context.Context) (c *audit.Chain, err error) {
	for range chainTries {
		var moved bool
		if c, moved, err = a.chain(ctx); err != nil || len(c.Problems) == 0 || !moved {
			break
		}
	}
	return c, err
}

// chain reads all events once. moved says that another event was appended meanwhile.
func (a Audit) chain(ctx context.Context) (c *audit.Chain, moved bool, err error) {
	w := audit.NewWalk()
	first, err := a.head(ctx)
	if err != nil && !isDamage(err) {
		return nil, false, err
	}
	headless := err != nil
	if headless {
		w.Problem(err)
	}

	err = a.store.List(ctx, sinks.Under([]byte{row.RecordEvent}), func(r sinks.Row) error {
		f, plain, err := a.event(ctx, r)
		switch {
		case err == nil:
			w.Add(r.Key, f, plain)
		case isDamage(err):
			w.Broken(err)
		default:
			return err
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}

	last, err := a.head(ctx)
	if err != nil && !isDamage(err) {
		return nil, false, err
	}
	if !headless && err == nil {
		w.End(first.headOrNil(), last.headOrNil())
	}
	return w.Chain(), first != nil && last != nil && first.Hash != last.Hash, nil
}
