package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Account is the report that one process owes: the "r" record. Together the accounts are the outbox
// of the report. An account is in one of these states:
//
//	open     Ended is zero: the process works, or died. The ledger and the records of artifacts
//	         tell its work; their By names the account.
//	closed   Report tells the work. The next report of the run includes it.
//	told     Told is set. Later attempts of the run add it to their sums, and tell it as theirs.
//
// The process that tells an account removes it, or keeps it a day as told for those attempts.
type Account struct {
	ID      row.WorkerID    `json:"-"` // the record's key: the process that opened it
	Run     string          `json:"run,omitempty"`
	Shard   string          `json:"shard,omitempty"`
	Started time.Time       `json:"started"`
	Ended   time.Time       `json:"ended,omitzero"`
	Told    time.Time       `json:"told,omitzero"`
	Teller  *Teller         `json:"teller,omitempty"` // is about to tell it; nil: any process may
	Report  json.RawMessage `json:"report,omitempty"`

	stored
}

// Teller is a process that is about to tell an account.
type Teller struct {
	Host    string    `json:"host"`
	Process string    `json:"process"` // as in Worker
	At      time.Time `json:"at"`
}

// Accounts are the "r" records.
type Accounts struct{ records }

func accountKey(id row.WorkerID) []byte { return append([]byte{row.RecordAccount}, id[:]...) }

// Get returns the account of a process, or nil, nil.
func (a Accounts) Get(ctx context.Context, id row.WorkerID) (*Account, error) {
	return get(ctx, a.records, "account", id, accountKey(id), a.read)
}

// Each emits all accounts. The order means nothing.
func (a Accounts) Each(ctx context.Context, emit func(*Account) error) error {
	return each(ctx, a.records, sinks.Under([]byte{row.RecordAccount}), a.read, emit)
}

func (a Accounts) read(ctx context.Context, r sinks.Row) (*Account, error) {
	x := &Account{}
	x.raw = r.Value
	err := a.open(ctx, r, x)
	if err == nil && copy(x.ID[:], r.Key[1:]) != len(x.ID) {
		err = row.ErrUnauthentic
	}
	if err != nil {
		return nil, fmt.Errorf("account %x: %w", r.Key[1:], err)
	}
	return x, nil
}

// Remove removes an account in any state, also an account that does not open.
func (a Accounts) Remove(ctx context.Context, id row.WorkerID) error {
	if err := a.remove(ctx, accountKey(id)); err != nil {
		return fmt.Errorf("remove account %s: %w", id, err)
	}
	return nil
}

// Swap replaces old by new in one step, as [Artifacts.Swap] does.
func (a Accounts) Swap(ctx context.Context, old, new *Account) error {
	of := cmp.Or(old, new)
	if of == nil {
		return nil
	}
	key := func(x *Account) []byte { return accountKey(x.ID) }
	if err := swap(ctx, a.records, old, new, key, new); err != nil {
		return fmt.Errorf("swap account %s: %w", of.ID, err)
	}
	return nil
}
