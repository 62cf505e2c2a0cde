package lookup

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// keys holds the store's keys once they are open.
type keys struct {
	flights flights[struct{}, *keyset]
	now     atomic.Pointer[keyset]
}

// keyset is one opening of the store's keys, or the refusal of one. Immutable.
// Versions that rotation adds later are the keyring's own affair.
type keyset struct {
	ring    *row.Keyring
	catalog *catalog.Catalog
	err     error // refused: believed until then
	until   time.Time
}

// open returns the store's keys. Errors are row's ErrSealed, ErrKeyless and ErrUnauthentic (each
// remembered for NegativeTTL), or the store's and ctx's.
func (c *Client) open(ctx context.Context) (*keyset, error) {
	cached := func() (*keyset, bool) {
		s := c.keys.now.Load()
		return s, s != nil && (s.err == nil || c.o.Now().Before(s.until))
	}
	s, ok := cached()
	if !ok {
		var err error
		if s, err = c.keys.flights.do(ctx, struct{}{}, cached, func() (*keyset, error) { return c.readKeys(ctx) }); err != nil {
			return nil, err
		}
	}
	return s, s.err
}

func (c *Client) readKeys(ctx context.Context) (*keyset, error) {
	ring, err := row.OpenKeyring(ctx, c.store.Catalog, c.kek)
	s := &keyset{ring: ring, err: err}
	switch {
	case err == nil:
		s.catalog = catalog.New(c.store.Catalog, ring)
	case statusOf(err) == symbol.Unavailable:
		return nil, err
	default:
		s.until = c.o.Now().Add(c.o.NegativeTTL)
	}
	c.keys.now.Store(s)
	return s, nil
}

// statusOf says what an error of the store, the keys or the stored bytes
// means to who asked.
func statusOf(err error) symbol.Status {
	switch {
	case errors.Is(err, row.ErrSealed), errors.Is(err, row.ErrShredded):
		return symbol.Sealed
	case errors.Is(err, row.ErrUnauthentic), errors.Is(err, sinks.ErrCorrupt):
		return symbol.Corrupt
	case errors.Is(err, row.ErrKeyless):
		return symbol.NoArtifact // nothing was ever written
	}
	return symbol.Unavailable
}
