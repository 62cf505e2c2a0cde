package lookup

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

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
// means to the caller.
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

// Catalog is the store's catalog, opened with the client's keys, for what
// lists records (catalog.Artifacts.Each) rather than asks for one. It reads past the client's
// caches.
func (c *Client) Catalog(ctx context.Context) (*catalog.Catalog, error) {
	k, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	return k.catalog, nil
}

func (c *Client) demangle(e *entry, frames []symbol.Frame) {
	a := e.load.artifact
	plain := c.names == nil || a.Kind == symbol.SourceMap // a script's names are never mangled
	marked := a.Kind == symbol.PE && a.Arch == "x86"
	for i := range frames {
		f := &frames[i]
		switch f.Function = f.Linkage; {
		case plain:
		case marked:
			f.Function = c.names.Name32(f.Linkage)
		default:
			f.Function = c.names.Name(f.Linkage)
		}
	}
}
