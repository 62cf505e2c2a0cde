package client

import (
	"context"
	"fmt"
)

// Durability of a write.
type Durability uint64

// Durable numbers of HBase's protocol.
const (
	TableDefault Durability = 0
	SkipWAL      Durability = 1 // durable when its region was flushed
	SyncWAL      Durability = 3
)

// Get reads one cell; its Row is nil if there is none.
func (c *Client) Get(ctx context.Context, t Table, col Column, row []byte) (cell Cell, err error) {
	err = c.try(ctx, "get", t, row, func(ctx context.Context, r *Region) error {
		get := message(nil).bytes(1, row).bytes(2, col.message())
		a, err := c.attempt(ctx, connKey{r.Server, clientService, ""}, &call{method: "Get", param: message(nil).bytes(1, r.specifier()).bytes(2, get)}, c.o.Attempt)
		if err != nil {
			return err
		}
		cell = Cell{}
		if len(a.cells) > 0 {
			cell, _, err = nextCell(a.cells)
		}
		return err
	})
	return cell, err
}

// CheckAndPut writes cell if the column's value is old, in one step; old empty: if the row
// has no value or an empty one. The cell's time is the server's. An error that Unclear
// tells may mean that it was written.
func (c *Client) CheckAndPut(ctx context.Context, t Table, col Column, row, old, value []byte) (done bool, err error) {
	err = c.try(ctx, "compare-and-set", t, row, func(ctx context.Context, r *Region) error {
		comparator := message(nil).text(1, packagePrefix+"filter.BinaryComparator").
			bytes(2, message(nil).bytes(1, message(nil).bytes(1, old)))
		condition := message(nil).bytes(1, row).text(2, col.Family).text(3, col.Qualifier).number(4, 2).bytes(5, comparator)
		cell := Cell{Row: row, Family: []byte(col.Family), Qualifier: []byte(col.Qualifier), Value: value, Timestamp: Latest, Type: typePut}
		q := message(nil).bytes(1, r.specifier()).bytes(2, mutation(&cell, SyncWAL)).bytes(3, condition)
		a, err := c.attempt(ctx, connKey{r.Server, clientService, ""}, &call{method: "Mutate", param: q, cells: appendCell(nil, &cell)}, c.o.Attempt)
		if err != nil {
			if Unclear(err) {
				return &unclearError{err} // only the caller knows the values: it decides
			}
			return err
		}
		done = false
		for f := range fields(a.message, &err) {
			if f.id == 2 {
				done = f.number != 0
			}
		}
		return err
	})
	return done, err
}

// Latest is the timestamp for which a server puts its own time.
const Latest = 1<<63 - 1

// mutation says of a cell, which follows in the cell block, what to do with it.
func mutation(c *Cell, d Durability) message {
	kind := uint64(2) // put
	if c.Type != typePut {
		kind = 3 // delete
	}
	return message(nil).bytes(1, c.Row).number(2, kind).number(6, uint64(d)).number(8, 1)
}

// Put is a cell to be written; Timestamp is the caller's.
func Put(row []byte, col Column, value []byte, timestamp uint64) Cell {
	return Cell{row, []byte(col.Family), []byte(col.Qualifier), value, timestamp, typePut}
}

// Delete marks every version of a cell up to a timestamp as deleted.
func Delete(row []byte, col Column, timestamp uint64) Cell {
	return Cell{row, []byte(col.Family), []byte(col.Qualifier), nil, timestamp, typeDeleteColumn}
}

// Write writes puts and deletes, with one call for each server that has some of their regions. If
// atomic, the cells of a region are one transaction. Callers keep a call at some megabytes. Write
// repeats failed cells until ctx or patience ends, slower while a region is too busy.
func (c *Client) Write(ctx context.Context, t Table, cells []Cell, d Durability, atomic bool) error {
	actions := make([]op, len(cells))
	for i := range cells {
		actions[i] = op{row: cells[i].Row, cell: &cells[i], durability: d}
	}
	return c.multi(ctx, "write", t, actions, atomic)
}

// GetAll reads many cells, with one call for each server. An absent cell has a nil Row.
func (c *Client) GetAll(ctx context.Context, t Table, col Column, rows [][]byte) ([]Cell, error) {
	actions := make([]op, len(rows))
	out := make([]Cell, len(rows))
	for i, row := range rows {
		actions[i] = op{row: row, get: col.message(), out: &out[i]}
	}
	err := c.multi(ctx, "get", t, actions, false)
	return out, err
}

// op is one action of a Multi: cell is written, or get's column read into out.
type op struct {
	row        []byte
	cell       *Cell
	durability Durability
	get        message
	out        *Cell
}

// group is what one call carries: the ops of one server, by region.
type group struct {
	server  string
	regions []*Region
	ops     [][]*op // by region
}

func (c *Client) multi(ctx context.Context, what string, t Table, ops []op, atomic bool) error {
	ctx, cancel := c.patient(ctx)
	defer cancel()
	left := make([]*op, len(ops))
	for i := range ops {
		left[i] = &ops[i]
	}
	var last error
	for n := 0; len(left) > 0; n++ {
		if n > 0 {
			if err := pause(ctx, n); err != nil {
				return opError(what, t, nil, ended(ctx, last))
			}
		}
		if err := ctx.Err(); err != nil {
			return opError(what, t, nil, ended(ctx, last))
		}
		groups, homeless, err := c.groups(ctx, t, left)
		if err != nil {
			last = err
			if actionOf(err) == giveUp {
				return opError(what, t, nil, err)
			}
		}
		left = homeless
		done := make(chan *call, len(groups))
		under := map[*call]*conn{}
		var failed []failure
		for i, g := range groups {
			conn, err := c.conn(ctx, connKey{g.server, clientService, ""})
			if err == nil {
				k := g.call(atomic)
				k.tag, k.done, k.timeout = i, done, remaining(ctx, c.o.Attempt)
				if err = conn.send(ctx, k); err == nil {
					c.calls.Add(1)
					under[k] = conn
					continue
				}
			}
			for r := range g.regions {
				failed = append(failed, failure{g.regions[r], g.ops[r], err})
			}
		}
		failed = append(failed, c.collect(ctx, groups, done, under, atomic)...)
		for _, f := range failed {
			last = f.err
			if !c.settle(t, f.region, f.err) && ctx.Err() == nil {
				return opError(what, t, f.region, f.err)
			}
			left = append(left, f.ops...)
		}
	}
	return nil
}

// failure is ops of a region that were not carried out.
type failure struct {
	region *Region
	ops    []*op
	err    error
}

// groups parts ops by server and region; homeless have no region for the moment, err says why.
func (c *Client) groups(ctx context.Context, t Table, ops []*op) (list []*group, homeless []*op, err error) {
	type at struct {
		g *group
		i int
	}
	byServer, byRegion := map[string]*group{}, map[*Region]at{}
	for _, o := range ops {
		r, lerr := c.locate(ctx, t, o.row)
		if lerr != nil {
			homeless, err = append(homeless, o), lerr
			continue
		}
		a, ok := byRegion[r]
		if !ok {
			g := byServer[r.Server]
			if g == nil {
				g = &group{server: r.Server}
				byServer[r.Server] = g
				list = append(list, g)
			}
			a = at{g, len(g.regions)}
			g.regions, g.ops = append(g.regions, r), append(g.ops, nil)
			byRegion[r] = a
		}
		a.g.ops[a.i] = append(a.g.ops[a.i], o)
	}
	return list, homeless, err
}

// call makes the MultiRequest: a RegionAction for each region, in order.
func (g *group) call(atomic bool) *call {
	k := &call{method: "Multi"}
	for i, r := range g.regions {
		ra := message(nil).bytes(1, r.specifier())
		if atomic {
			ra = ra.flag(2, true)
		}
		for j, o := range g.ops[i] {
			a := message(nil).number(1, uint64(j))
			if o.cell != nil {
				a = a.bytes(2, mutation(o.cell, o.durability))
				k.cells = appendCell(k.cells, o.cell)
			} else {
				a = a.bytes(3, message(nil).bytes(1, o.row).bytes(2, o.get))
			}
			ra = ra.bytes(3, a)
		}
		k.param = k.param.bytes(1, ra)
	}
	return k
}

// collect waits for the answers and sorts out what failed.
func (c *Client) collect(ctx context.Context, groups []*group, done chan *call, under map[*call]*conn, atomic bool) (failed []failure) {
	all := func(k *call, err error) {
		g := groups[k.tag]
		for r := range g.regions {
			failed = append(failed, failure{g.regions[r], g.ops[r], err})
		}
	}
	limited, cancel := context.WithTimeout(ctx, c.o.Attempt)
	defer cancel()
	for len(under) > 0 {
		select {
		case k := <-done:
			delete(under, k)
			if k.err == nil {
				var f []failure
				if f, k.err = groups[k.tag].results(k.answer, atomic); k.err == nil {
					failed = append(failed, f...)
					continue
				}
			}
			all(k, k.err)
		case <-limited.Done():
			for k, conn := range under {
				if !conn.forget(k) {
					continue // done holds it
				}
				delete(under, k)
				all(k, c.late(ctx, limited, conn, c.o.Attempt, limited.Err()))
			}
		}
	}
	return failed
}

// results reads a MultiResponse: one result for each RegionAction, in order.
func (g *group) results(a answer, atomic bool) (failed []failure, err error) {
	cells, i := a.cells, 0
	for f := range fields(a.message, &err) {
		if f.id != 1 {
			continue
		}
		if i == len(g.regions) {
			return nil, fmt.Errorf("%w: more results than regions", errMalformed)
		}
		r, ops := g.regions[i], g.ops[i]
		i++
		for h := range fields(f.bytes, &err) {
			switch h.id {
			case 1:
				bad, rest, rerr := result(h.bytes, ops, cells)
				if rerr != nil {
					return nil, rerr
				}
				cells = rest
				if bad.err != nil {
					bad.region = r
					if atomic {
						bad.ops = ops
					}
					failed = append(failed, bad)
				}
			case 2:
				failed = append(failed, failure{r, ops, nameBytes(h.bytes, &err)})
			}
		}
	}
	if err == nil && i < len(g.regions) {
		err = fmt.Errorf("%w: %d results for %d regions", errMalformed, i, len(g.regions))
	}
	return failed, err
}

// result reads a ResultOrException and the cells of its result.
func result(b []byte, ops []*op, cells []byte) (bad failure, rest []byte, err error) {
	index, count := uint64(0), uint64(0)
	var failed error
	for f := range fields(b, &err) {
		switch f.id {
		case 1:
			index = f.number
		case 2:
			for g := range fields(f.bytes, &err) {
				if g.id == 2 {
					count = g.number
				}
			}
		case 3:
			failed = nameBytes(f.bytes, &err)
		}
	}
	if err == nil && index >= uint64(len(ops)) {
		err = fmt.Errorf("%w: result %d of %d", errMalformed, index, len(ops))
	}
	for i := uint64(0); i < count && err == nil; i++ {
		var cell Cell
		if cell, cells, err = nextCell(cells); err == nil && i == 0 && ops[index].out != nil {
			*ops[index].out = cell
		}
	}
	if err != nil {
		return failure{}, nil, err
	}
	if failed != nil {
		return failure{nil, ops[index : index+1], failed}, cells, nil
	}
	return failure{}, cells, nil
}

// nameBytes reads an exception as Multi carries it: class and stack trace.
func nameBytes(b []byte, err *error) error {
	var class, trace string
	for f := range fields(b, err) {
		switch f.id {
		case 1:
			class = string(f.bytes)
		case 2:
			trace = string(f.bytes)
		}
	}
	e := serverError(class, trace)
	e.final = class == packagePrefix+"DoNotRetryIOException"
	return e
}
