package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Worker is the lease of a process that ingests: the "l" record. It holds the
// objects whose Owner it is for as long as the record is there and is renewed. Who removes the
// record takes them away from it.
type Worker struct {
	ID      row.WorkerID  `json:"-"` // the record's key
	Host    string        `json:"host"`
	Process string        `json:"process"` // that only the host itself can judge: see ingest.Process
	Run     string        `json:"run,omitempty"`
	Started time.Time     `json:"started"`
	Beat    uint64        `json:"beat"`  // counts renewals: clocks of hosts need not agree
	Lease   time.Duration `json:"lease"` // without a renewal for so long, it is over

	raw []byte // as read: what SwapWorker compares with
}

// Worker gives the lease of a process, or nil, nil.
func (c *Catalog) Worker(ctx context.Context, id row.WorkerID) (*Worker, error) {
	key := workerKey(id)
	value, err := c.c.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read lease of worker %s: %w", id, err)
	}
	if value == nil {
		return nil, nil
	}
	return c.worker(ctx, sinks.Row{Key: key, Value: value})
}

// Workers emits the leases that there are.
func (c *Catalog) Workers(ctx context.Context, emit func(*Worker) error) error {
	return c.c.List(ctx, sinks.Under([]byte{row.RecordWorker}), func(r sinks.Row) error {
		w, err := c.worker(ctx, r)
		if err != nil {
			return err
		}
		return emit(w)
	})
}

func (c *Catalog) worker(ctx context.Context, r sinks.Row) (*Worker, error) {
	plain, err := c.k.OpenRecord(ctx, r.Key, r.Value)
	if err != nil {
		return nil, fmt.Errorf("lease %x: %w", r.Key, err)
	}
	w := &Worker{raw: r.Value}
	if err := json.Unmarshal(plain, w); err != nil || len(r.Key) != 1+len(w.ID) {
		return nil, fmt.Errorf("lease %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	copy(w.ID[:], r.Key[1:])
	return w, nil
}

// SwapWorker replaces old by new in one step; as SwapArtifact.
func (c *Catalog) SwapWorker(ctx context.Context, old, new *Worker) error {
	var id row.WorkerID
	var was []byte
	switch {
	case old != nil:
		id, was = old.ID, old.raw
	case new != nil:
		id = new.ID
	default:
		return nil
	}
	value, err := exchange(ctx, c, workerKey(id), was, new)
	if err != nil {
		return fmt.Errorf("swap lease of worker %s: %w", id, err)
	}
	if new != nil {
		new.raw = value
	}
	return nil
}
