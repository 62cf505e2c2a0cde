package catalog

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Event is one line of the audit: who did what to the store, and when.
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

// Audit appends an event to the chain. It is durable when Audit returns.
func (c *Catalog) Audit(ctx context.Context, e Event) error {
	for {
		err := c.appendEvent(ctx, e)
		if errors.Is(err, sinks.ErrConflict) && ctx.Err() == nil {
			continue // another event came first
		}
		if err != nil {
			return fmt.Errorf("audit %s: %w", e.What, err)
		}
		return nil
	}
}

// appendEvent is one attempt: sinks.ErrConflict if another event came first.
func (c *Catalog) appendEvent(ctx context.Context, e Event) error {
	head, err := c.auditHead(ctx)
	if err != nil {
		return err
	}
	if head == nil {
		if head, err = c.beginChain(ctx); err != nil {
			return err
		}
		if head.Events > 0 {
			lost := Event{At: e.At, Who: e.Who, What: "damage", Detail: "the head of the audit was gone: events at its end may be, too"}
			if err := c.follow(ctx, head, lost); err != nil {
				return err
			}
			return sinks.ErrConflict // with a head, append e
		}
	} else if err := c.storeLast(ctx, head); err != nil {
		return err
	}
	return c.follow(ctx, head, e)
}

// follow commits an event behind head, then stores it.
func (c *Catalog) follow(ctx context.Context, head *auditHead, e Event) error {
	at := max(e.At.UnixNano(), head.At+1)
	f := eventForm{Event: e, Prev: head.Hash}
	if at != e.At.UnixNano() {
		f.At = e.At.UTC()
	}
	plain, err := json.Marshal(f)
	if err != nil {
		return err
	}
	next := &auditHead{Hash: linkHash(auditKey(at), plain), Events: head.Events + 1, At: at, Last: plain}
	form, err := json.Marshal(next)
	if err != nil {
		return err
	}
	key := []byte{row.RecordHead}
	if err := c.c.Swap(ctx, key, head.raw, c.k.SealRecord(key, form)); err != nil {
		return err
	}
	return c.storeLast(ctx, next)
}

// storeLast writes the record of the event that the head holds, unless it is there.
func (c *Catalog) storeLast(ctx context.Context, head *auditHead) error {
	key := auditKey(head.At)
	value, err := c.c.Get(ctx, key)
	if err != nil || value != nil {
		return err
	}
	err = c.c.Swap(ctx, key, nil, c.k.SealRecord(key, head.Last))
	if errors.Is(err, sinks.ErrConflict) {
		return nil // another writer stored it
	}
	return err
}

// Events emits the audit in the order in which it was written.
func (c *Catalog) Events(ctx context.Context, emit func(Event) error) error {
	head, err := c.auditHead(ctx)
	if err != nil {
		return err
	}
	last := int64(-1)
	err = c.c.List(ctx, sinks.Under([]byte{row.RecordEvent}), func(r sinks.Row) error {
		f, _, err := c.event(ctx, r)
		if err != nil {
			return err
		}
		last = int64(binary.BigEndian.Uint64(r.Key[1:]))
		return emit(f.Event)
	})
	if err != nil || head == nil || head.At <= last {
		return err
	}
	f, err := parseEvent(auditKey(head.At), head.Last)
	if err != nil {
		return err
	}
	return emit(f.Event)
}

// event opens a "t" record.
func (c *Catalog) event(ctx context.Context, r sinks.Row) (f eventForm, plain []byte, err error) {
	if plain, err = c.k.OpenRecord(ctx, r.Key, r.Value); err != nil {
		return f, nil, fmt.Errorf("audit record %x: %w", r.Key, err)
	}
	f, err = parseEvent(r.Key, plain)
	return f, plain, err
}

func parseEvent(key, plain []byte) (f eventForm, err error) {
	if err := json.Unmarshal(plain, &f); err != nil || len(key) != len(auditKey(0)) {
		return f, fmt.Errorf("audit record %x: %w: %w", key, row.ErrUnauthentic, err)
	}
	if f.Event.At = f.At; f.At.IsZero() {
		f.Event.At = time.Unix(0, int64(binary.BigEndian.Uint64(key[1:]))).UTC()
	}
	return f, nil
}
