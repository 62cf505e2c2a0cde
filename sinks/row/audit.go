package row

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
)

// Event is one line of the audit: who did what to the store, and when.
type Event struct {
	At     time.Time `json:"-"` // the record's key: nanoseconds since 1970
	Who    string    `json:"who"`
	What   string    `json:"what"` // init, rotate, shred, export, rollback, forget, gc, force
	Detail string    `json:"detail,omitempty"`
}

// Audit adds an event. One that meets another of the same nanosecond is
// entered a nanosecond later.
func (c *Catalog) Audit(ctx context.Context, e Event) error {
	plain, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.What, err)
	}
	for at := e.At.UnixNano(); ; at++ {
		key := auditKey(at)
		err := c.c.Swap(ctx, key, nil, c.k.sealRecord(key, plain))
		if errors.Is(err, sinks.ErrConflict) {
			continue
		}
		if err != nil {
			return fmt.Errorf("audit %s: %w", e.What, err)
		}
		return nil
	}
}

// Events emits the audit, oldest first.
func (c *Catalog) Events(ctx context.Context, emit func(Event) error) error {
	return c.c.List(ctx, prefixed([]byte{keyAudit}), func(r sinks.Row) error {
		plain, err := c.k.openRecord(ctx, r.Key, r.Value)
		if err != nil {
			return fmt.Errorf("audit record %x: %w", r.Key, err)
		}
		var e Event
		if err := json.Unmarshal(plain, &e); err != nil || len(r.Key) != len(auditKey(0)) {
			return fmt.Errorf("audit record %x: %w: %w", r.Key, ErrUnauthentic, err)
		}
		e.At = time.Unix(0, int64(binary.BigEndian.Uint64(r.Key[1:]))).UTC()
		return emit(e)
	})
}
