package client

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/waits"
)

// locate finds the region that holds key.
func (c *Client) locate(ctx context.Context, t Table, key []byte) (*Region, error) {
	g := c.cache(t)
	if r := g.Find(key); r != nil {
		return r, nil
	}
	select {
	case g.looking <- struct{}{}:
		defer func() { <-g.looking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r := g.Find(key); r != nil { // whoever looked before us
		return r, nil
	}
	if err := g.Lost(key, time.Now()); err != nil {
		return nil, err
	}
	return c.lookUp(c.waits.About(ctx, t, nil), t, g, key)
}

// Expect finds the region of a key that will be asked for soon, unless it is known. The caller does not wait for the
// answer, and no error is told: the call that needs the region finds it again.
func (c *Client) Expect(ctx context.Context, t Table, key []byte) {
	if c.cache(t).Find(key) == nil {
		go func() { _, _ = c.locate(ctx, t, key) }()
	}
}

// Place is a row of a table. Without a Row it is the table alone.
type Place struct {
	Table
	Row []byte
}

// Reach finds the first regions of tables, and the regions of rows, all in one round trip. ErrNoTable says that hbase:meta has
// no region of a table. What is wrong with a row's region the call that needs it tells.
func (c *Client) Reach(ctx context.Context, places ...Place) error {
	errs := make([]error, len(places))
	var wg sync.WaitGroup
	for i, p := range places {
		wg.Go(func() { errs[i] = c.reach(ctx, p) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) reach(ctx context.Context, p Place) error {
	return c.again(ctx, "look-up of regions", p.Table, func(ctx context.Context) error {
		g := c.cache(p.Table)
		found := make(chan []metaEntry, 1)
		go func() {
			var list []metaEntry
			if p.Row != nil {
				if m, err := c.metaLast(ctx, p.Table, p.Row); err == nil && !m.missing {
					list = append(list, m)
				}
			}
			found <- list
		}()
		page, err := c.metaPage(ctx, p.Table, []byte(p.Table.String()+",,"), g.page())
		if err == nil && len(page) == 0 {
			err = ErrNoTable
		}
		g.Fill(open(page)...)
		g.Fill(open(<-found)...)
		return err
	})
}

// again repeats do until it ends well, an error says that no attempt helps, or patience ends.
func (c *Client) again(ctx context.Context, op string, t Table, do func(context.Context) error) error {
	ctx, cancel := c.patient(ctx)
	defer cancel()
	began := time.Now()
	var last error
	for n := 0; ; n++ {
		if n > 0 && pause(ctx, n) != nil {
			return opError(op, t, nil, ended(ctx, last))
		}
		err := do(c.waits.About(ctx, t, nil))
		if err == nil {
			c.waits.Answered(t)
			return nil
		}
		if ctx.Err() != nil && last != nil {
			return opError(op, t, nil, ended(ctx, last))
		}
		if last = err; actionOf(err) == giveUp {
			return opError(op, t, nil, err)
		}
		c.waits.Failed(waits.At(t, nil), began, err)
	}
}

// Regions reads the open regions of a table as they are now, in the order of their keys.
func (c *Client) Regions(ctx context.Context, t Table) (list []*Region, err error) {
	err = c.again(ctx, "list of regions", t, func(ctx context.Context) error {
		if list, err = c.regions(ctx, t); err != nil {
			return err
		}
		if err := gaps(list); err != nil {
			if state := c.tableState(ctx, t); state != nil {
				return state
			}
			return err
		}
		c.cache(t).Put(list...)
		return nil
	})
	return list, err
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

// regions scans the table's rows of hbase:meta. A row that cannot be read is an error.
func (c *Client) regions(ctx context.Context, t Table) ([]*Region, error) {
	var all []metaEntry
	at := []byte(t.String() + ",,")
	for {
		const rows = 1000
		page, err := c.metaPage(ctx, t, at, rows)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			if m.err != nil {
				return nil, m.err
			}
		}
		all = append(all, page...)
		if len(page) < rows {
			break
		}
		at = append(bytes.Clone(page[len(page)-1].row), 0)
	}
	if list := open(all); len(list) > 0 {
		return list, nil
	}
	if len(all) > 0 {
		return nil, errClosed
	}
	return nil, ErrNoTable
}

// metaPage reads up to rows regions of a table from a row of hbase:meta on. Its rows are not in byte order (table,
// start key and id are compared one by one), hence the odd stop row.
func (c *Client) metaPage(ctx context.Context, t Table, from []byte, rows uint64) (page []metaEntry, err error) {
	cells, err := c.metaScan(ctx, scan{start: from, stop: []byte(t.String() + " ,,"), family: "info", rows: rows})
	for _, row := range cells {
		page = append(page, metaRow(t, row))
	}
	return page, err
}

// metaAfter is the row of hbase:meta behind which the regions begin that follow the region of key.
func metaAfter(t Table, key []byte) []byte {
	return append(append([]byte(t.String()+","), key...), ',')
}

// metaLast reads the last row of hbase:meta with a region that begins at or before key. ':' is above every digit of an id, so
// of several with the same start the newest comes first.
func (c *Client) metaLast(ctx context.Context, t Table, key []byte) (metaEntry, error) {
	rows, err := c.metaScan(ctx, scan{start: append(metaAfter(t, key), ':'), stop: []byte(t.String()), family: "info", rows: 1, reversed: true})
	if err != nil || len(rows) == 0 {
		return metaEntry{missing: true}, err
	}
	return metaRow(t, rows[0]), nil
}

// lookUp finds one region: the last that begins at or before key. Some regions behind it come along, in the same round trip: of a
// table that was never looked up, the first ones.
func (c *Client) lookUp(ctx context.Context, t Table, g *table, key []byte) (*Region, error) {
	if _, err := c.registry.meta(ctx, c); err != nil {
		return nil, err
	}
	from := metaAfter(t, key)
	if g.Len() == 0 {
		from = []byte(t.String() + ",,")
	}
	pages := make(chan []metaEntry, 1)
	go func() {
		page, _ := c.metaPage(ctx, t, from, g.page())
		pages <- page
	}()
	state := make(chan error, 1)
	if g.trouble.Swap(false) {
		go func() { state <- c.tableState(ctx, t) }()
	} else {
		state <- nil
	}
	found, err := c.metaLast(ctx, t, key)
	page := <-pages
	if disabled := <-state; disabled != nil {
		g.Bar(nil, nil, disabled, time.Now())
		return nil, disabled
	}
	if err != nil {
		return nil, err
	}
	g.Fill(open(page)...)
	return c.judge(t, g, key, found, page)
}

// judge says whether the last row of hbase:meta at or before key has the region that holds it. page has rows behind it.
func (c *Client) judge(t Table, g *table, key []byte, found metaEntry, page []metaEntry) (*Region, error) {
	if found.region != nil && found.region.Holds(key) {
		g.Put(found.region)
		return found.region, nil
	}
	next := append(bytes.Clone(key), 0) // the first key that is not known to be lost
	for i := range page {
		if s := page[i].start; bytes.Compare(s, key) > 0 {
			next = s
			break
		}
	}
	switch {
	case found.err != nil:
		g.Bar(found.start, next, found.err, time.Now())
		return nil, found.err
	case found.missing && len(page) == 0:
		return nil, ErrNoTable
	case found.missing:
		err := fmt.Errorf("%w: the first one of table %s begins at %x, and the key is %x", errHole, t, next, key)
		return nil, hole(g, nil, next, err)
	case found.region == nil:
		g.trouble.Store(true)
		return nil, fmt.Errorf("%w: row %q of hbase:meta", errClosed, found.row)
	}
	err := fmt.Errorf("%w: the region of row %q ends at %x, and the key is %x", errHole, found.row, found.region.End, key)
	return nil, hole(g, found.region.End, next, err)
}

// hole is errHole, or ErrDamaged if the keys have had no region for some seconds.
func hole(g *table, start, end []byte, err error) error {
	return g.Missing(start, end, err, fmt.Errorf("%w: %w", ErrDamaged, err), time.Now())
}

// tableState returns ErrDisabled for a table that is disabled. It does not tell what keeps it from knowing.
func (c *Client) tableState(ctx context.Context, t Table) error {
	row := []byte(t.String())
	rows, err := c.metaScan(ctx, scan{start: row, stop: append(row, 0), family: "table", rows: 1})
	if err != nil || len(rows) == 0 {
		return nil
	}
	for _, cell := range rows[0] {
		if string(cell.Qualifier) != "state" {
			continue
		}
		for f := range fields(cell.Value, &err) {
			if f.id == 1 && (f.number == 1 || f.number == 2) { // disabled, on the way there
				return fmt.Errorf("%w: enable '%s' in the HBase shell", ErrDisabled, t)
			}
		}
	}
	return nil
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
