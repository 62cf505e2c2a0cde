package catalog

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Worker is the lease of a process that ingests: the "l" record. While the process renews the
// record, it holds the objects that name it as Owner. A process that removes the record takes the objects away.
type Worker struct {
	ID      row.WorkerID  `json:"-"` // the record's key
	Host    string        `json:"host"`
	Process string        `json:"process"` // only the host itself can judge it
	Run     string        `json:"run,omitempty"`
	Started time.Time     `json:"started"`
	Beat    uint64        `json:"beat"`  // counts renewals: clocks of hosts need not agree
	Lease   time.Duration `json:"lease"` // without a renewal for so long, it is over

	stored
}

// Workers are the "l" records.
type Workers struct{ records }

func workerKey(id row.WorkerID) []byte { return append([]byte{row.RecordWorker}, id[:]...) }

// Get returns the lease of a process, or nil, nil.
func (w Workers) Get(ctx context.Context, id row.WorkerID) (*Worker, error) {
	return get(ctx, w.records, "lease of worker", id, workerKey(id), w.read)
}

// Each emits all leases.
func (w Workers) Each(ctx context.Context, emit func(*Worker) error) error {
	return each(ctx, w.records, sinks.Under([]byte{row.RecordWorker}), w.read, emit)
}

func (w Workers) read(ctx context.Context, r sinks.Row) (*Worker, error) {
	x := &Worker{}
	x.raw = r.Value
	err := w.open(ctx, r, x)
	if err == nil && len(r.Key) != 1+len(x.ID) {
		err = row.ErrUnauthentic
	}
	if err != nil {
		return nil, fmt.Errorf("lease %x: %w", r.Key, err)
	}
	copy(x.ID[:], r.Key[1:])
	return x, nil
}

// Swap replaces old by new in one step, as [Artifacts.Swap] does.
func (w Workers) Swap(ctx context.Context, old, new *Worker) error {
	of := cmp.Or(old, new)
	if of == nil {
		return nil
	}
	key := func(x *Worker) []byte { return workerKey(x.ID) }
	if err := swap(ctx, w.records, old, new, key, new); err != nil {
		return fmt.Errorf("swap lease of worker %s: %w", of.ID, err)
	}
	return nil
}
