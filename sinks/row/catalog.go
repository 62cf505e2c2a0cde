package row

import (
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

var errSkeleton = errors.New("not written yet")

// Catalog reads and writes a store's catalog: typed records, sealed on the way
// in, authenticated on the way out. Safe for concurrent use.
type Catalog struct {
	c sinks.Catalog
	k *Keyring
}

func NewCatalog(c sinks.Catalog, k *Keyring) *Catalog { return &Catalog{c: c, k: k} }

type Ref struct {
	Artifact symbol.ID
	Object   string
}

type Waiter struct {
	Artifact symbol.ID
	Object   string
}

type Event struct {
	At                time.Time
	Who, What, Detail string
}

func (c *Catalog) Artifact(ctx context.Context, id symbol.ID) (*Record, error) {
	return nil, errSkeleton
}
func (c *Catalog) SwapArtifact(ctx context.Context, old, new *Record) error { return errSkeleton }
func (c *Catalog) Artifacts(ctx context.Context, emit func(*Record) error) error {
	return errSkeleton
}
func (c *Catalog) AddName(ctx context.Context, name string, r Ref) error    { return errSkeleton }
func (c *Catalog) RemoveName(ctx context.Context, name string, r Ref) error { return errSkeleton }
func (c *Catalog) Names(ctx context.Context, name string, limit int) ([]Ref, error) {
	return nil, errSkeleton
}
func (c *Catalog) HasName(ctx context.Context, name string, id symbol.ID) (bool, error) {
	return false, errSkeleton
}
func (c *Catalog) Object(ctx context.Context, url string) (*Object, error) { return nil, errSkeleton }
func (c *Catalog) SwapObject(ctx context.Context, old, new *Object) error  { return errSkeleton }
func (c *Catalog) Objects(ctx context.Context, prefix string, emit func(*Object) error) error {
	return errSkeleton
}
func (c *Catalog) AddWaiter(ctx context.Context, companion string, w Waiter) error {
	return errSkeleton
}
func (c *Catalog) Waiters(ctx context.Context, companion string) ([]Waiter, error) {
	return nil, errSkeleton
}
func (c *Catalog) RemoveWaiter(ctx context.Context, companion string, w Waiter) error {
	return errSkeleton
}
func (c *Catalog) Audit(ctx context.Context, e Event) error                 { return errSkeleton }
func (c *Catalog) Events(ctx context.Context, emit func(Event) error) error { return errSkeleton }
