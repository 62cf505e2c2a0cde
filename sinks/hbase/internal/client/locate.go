package client

import (
	"bytes"
	"context"
	"fmt"
)

func (c *Client) cache(t Table) *regionCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.tables[t]
	if g == nil {
		g = &regionCache{looking: make(chan struct{}, 1)}
		c.tables[t] = g
	}
	return g
}

// locate finds the region that holds key.
func (c *Client) locate(ctx context.Context, t Table, key []byte) (*Region, error) {
	g := c.cache(t)
	if r := g.find(key); r != nil {
		return r, nil
	}
	select {
	case g.looking <- struct{}{}:
		defer func() { <-g.looking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r := g.find(key); r != nil { // whoever looked before us
		return r, nil
	}
	if !g.full { // all at once, so that a first batch does not look up region by region
		list, err := c.regions(ctx, t)
		if err != nil {
			return nil, err
		}
		g.full = true
		g.put(list...)
		if r := g.find(key); r != nil {
			return r, nil
		}
	}
	r, err := c.lookUp(ctx, t, key)
	if err != nil {
		return nil, err
	}
	g.put(r)
	return r, nil
}

// Regions reads the open regions of a table as they are now, in the order of their keys.
func (c *Client) Regions(ctx context.Context, t Table) ([]*Region, error) {
	ctx, cancel := c.patient(ctx)
	defer cancel()
	var last error
	for n := 0; ; n++ {
		if n > 0 && pause(ctx, n) != nil {
			return nil, opError("list of regions", t, nil, ended(ctx, last))
		}
		list, err := c.regions(ctx, t)
		if err == nil {
			if err = gaps(list); err == nil {
				c.cache(t).put(list...)
				return list, nil
			}
		}
		if last = err; actionOf(err) == giveUp {
			return nil, opError("list of regions", t, nil, err)
		}
	}
}

// gaps says whether regions do not cover every key: one is closed for the moment.
func gaps(list []*Region) error {
	var at []byte
	for _, r := range list {
		if !bytes.Equal(r.Start, at) {
			return fmt.Errorf("%w: between %x and %x", errHole, at, r.Start)
		}
		at = r.End
	}
	if len(at) > 0 {
		return fmt.Errorf("%w: from %x on", errHole, at)
	}
	return nil
}

// regions scans the table's rows of hbase:meta. These are not in byte order (table, start key
// and id are compared one by one), hence the odd stop row.
func (c *Client) regions(ctx context.Context, t Table) ([]*Region, error) {
	var list []*Region
	at := []byte(t.String() + ",,")
	for {
		s := scan{start: at, stop: []byte(t.String() + " ,,"), family: "info", rows: 1000}
		rows, err := c.metaScan(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, cells := range rows {
			r, err := metaRow(t, cells)
			if err != nil {
				return nil, err
			}
			if r != nil {
				list = append(list, r)
			}
		}
		if len(rows) < int(s.rows) {
			break
		}
		at = append(bytes.Clone(rows[len(rows)-1][0].Row), 0)
	}
	if len(list) == 0 {
		return nil, ErrNoTable
	}
	return list, nil
}

// lookUp finds one region: the last in hbase:meta that begins at or before key. ':' is above
// every digit of an id, so of several with the same start the newest comes first.
func (c *Client) lookUp(ctx context.Context, t Table, key []byte) (*Region, error) {
	start := append(append([]byte(t.String()+","), key...), ",:"...)
	rows, err := c.metaScan(ctx, scan{start: start, stop: []byte(t.String()), family: "info", rows: 1, reversed: true})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, ErrNoTable
	}
	r, err := metaRow(t, rows[0])
	if err != nil {
		return nil, err
	}
	switch {
	case r == nil:
		return nil, errClosed
	case !r.Holds(key):
		return nil, errHole
	}
	return r, nil
}

// metaScan scans hbase:meta with one call.
func (c *Client) metaScan(ctx context.Context, s scan) ([][]Cell, error) {
	server, err := c.registry.meta(ctx, c)
	if err != nil {
		return nil, err
	}
	r := metaRegion
	r.Server = server
	rows, err := c.scanOnce(ctx, &r, s)
	if err != nil {
		if actionOf(err) == relocate {
			c.registry.forgetMeta(server)
		}
		return nil, fmt.Errorf("hbase:meta on %s: %w", server, err)
	}
	return rows, nil
}
