package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Account is what one process that ingests has to tell: the "r" record. Together the accounts
// are the outbox of the report. Its states:
//
//	open     Ended is zero: the process works, or died. What it did is in the ledger and in the
//	         records of artifacts, whose By names the account.
//	closed   Report says what the process did. The next report tells it.
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

	raw []byte // as read: what SwapAccount compares with
}

// Teller is a process that is about to tell an account.
type Teller struct {
	Host    string    `json:"host"`
	Process string    `json:"process"` // as in Worker
	At      time.Time `json:"at"`
}

// Account returns the account of a process, or nil, nil.
func (c *Catalog) Account(ctx context.Context, id row.WorkerID) (*Account, error) {
	key := accountKey(id)
	value, err := c.c.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read account %s: %w", id, err)
	}
	if value == nil {
		return nil, nil
	}
	return c.account(ctx, sinks.Row{Key: key, Value: value})
}

// Accounts emits all accounts, in no order of time.
func (c *Catalog) Accounts(ctx context.Context, emit func(*Account) error) error {
	return c.c.List(ctx, sinks.Under([]byte{row.RecordAccount}), func(r sinks.Row) error {
		a, err := c.account(ctx, r)
		if err != nil {
			return err
		}
		return emit(a)
	})
}

func (c *Catalog) account(ctx context.Context, r sinks.Row) (*Account, error) {
	a := &Account{raw: r.Value}
	if err := c.openForm(ctx, r, a); err != nil {
		return nil, fmt.Errorf("account %x: %w", r.Key[1:], err)
	}
	if copy(a.ID[:], r.Key[1:]) != len(a.ID) {
		return nil, fmt.Errorf("account %x: %w", r.Key, row.ErrUnauthentic)
	}
	return a, nil
}

// RemoveAccount removes an account whatever it says, also one that cannot be read.
func (c *Catalog) RemoveAccount(ctx context.Context, id row.WorkerID) error {
	if err := c.remove(ctx, accountKey(id)); err != nil {
		return fmt.Errorf("remove account %s: %w", id, err)
	}
	return nil
}

// SwapAccount replaces old by new in one step; as SwapArtifact.
func (c *Catalog) SwapAccount(ctx context.Context, old, new *Account) error {
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
	value, err := exchange(ctx, c, accountKey(id), was, new)
	if err != nil {
		return fmt.Errorf("swap account %s: %w", id, err)
	}
	if new != nil {
		new.raw = value
	}
	return nil
}
