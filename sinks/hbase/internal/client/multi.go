package client

import (
	"context"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/waits"
)

// Get reads one cell; its Row is nil if there is none.
func (c *Client) Get(ctx context.Context, t Table, col Column, row []byte) (cell Cell, err error) {
	err = c.try(ctx, "get", t, row, func(ctx context.Context, r *Region) error {
		get := message(nil).bytes(1, row).bytes(2, col.message())
		a, err := c.attempt(ctx, connKey{r.Server, clientService, ""}, &call{method: "Get", param: message(nil).bytes(1, specifier(r)).bytes(2, get)}, c.o.Attempt)
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

// GetAll reads many cells, with one call for each server. An absent cell has a nil Row. It returns an error for each
// row: a region that cannot be read costs its own rows alone.
func (c *Client) GetAll(ctx context.Context, t Table, col Column, rows [][]byte) ([]Cell, []error) {
	actions := make([]op, len(rows))
	out, errs := make([]Cell, len(rows)), make([]error, len(rows))
	for i, row := range rows {
		actions[i] = op{row: row, get: col.message(), out: &out[i]}
	}
	err := c.multi(ctx, "get", t, actions, false)
	for i := range actions {
		errs[i] = actions[i].failure(err)
	}
	return out, errs
}

// CheckAndPut writes value if the column's value is old, in one step; old empty: if the row has no value or an
// empty one. The cell carries the timestamp Everlasting. An error that Unclear tells may mean that it was written.
func (c *Client) CheckAndPut(ctx context.Context, t Table, col Column, row, old, value []byte) (done bool, err error) {
	k := &Check{Row: row, Old: old, Value: value}
	c.CheckAndPutAll(ctx, t, col, []*Check{k}, true)
	return k.Done, k.Err
}

// Check is one compare-and-set of CheckAndPutAll. Row, Old and Value are as in CheckAndPut. Done and Err are the
// answer.
type Check struct {
	Row, Old, Value []byte
	Done            bool
	Err             error // if Unclear tells so, the cell may have been written, and may be lost again
}

// CheckAndPutAll carries out compare-and-sets of unlike rows, with one call for each server that has some of
// their regions. Each is a step of its own. The server carries out the checks of a region in their order.
//
// The log is synced once for each region and call, by a delete of nothing behind the checks: the sync covers the
// log's entries before it. If it fails, the checks that were carried out are Unsynced. With each, every check
// syncs. Needs HBase 2.4.
func (c *Client) CheckAndPutAll(ctx context.Context, t Table, col Column, checks []*Check, each bool) {
	durability := AsyncWAL
	if each {
		durability = SyncWAL
	}
	ops := make([]op, len(checks))
	cells := make([]Cell, len(checks))
	for i, k := range checks {
		cells[i] = Cell{Row: k.Row, Family: []byte(col.Family), Qualifier: []byte(col.Qualifier), Value: k.Value, Timestamp: Everlasting, Type: typePut}
		ops[i] = op{row: k.Row, cell: &cells[i], durability: durability, condition: equals(k.Row, col, k.Old)}
	}
	err := c.multi(ctx, "compare-and-set", t, ops, false)
	for i, k := range checks {
		k.Done, k.Err = ops[i].done, ops[i].failure(err)
	}
}

// group is what one call carries: the ops of one server, by region.
type group struct {
	server  string
	regions []*Region
	ops     [][]*op // by region
	parts   []part
}

func (c *Client) multi(ctx context.Context, what string, t Table, ops []op, atomic bool) error {
	ctx, cancel := c.patient(ctx)
	defer cancel()
	left := make([]*op, len(ops))
	for i := range ops {
		left[i] = &ops[i]
	}
	var last error
	began := time.Now()
	for n := 0; len(left) > 0; n++ {
		if n > 0 {
			if err := pause(ctx, n); err != nil {
				return opError(what, t, nil, ended(ctx, last))
			}
		}
		if err := ctx.Err(); err != nil {
			return opError(what, t, nil, ended(ctx, last))
		}
		groups, homeless := c.groups(ctx, t, left)
		var err error
		if left, err = c.shelter(what, t, homeless, began); err != nil {
			return err
		}
		if len(homeless) > 0 {
			last = homeless[len(homeless)-1].err
		}
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
		failed = append(failed, c.collect(c.waits.About(ctx, t, nil), groups, done, under, atomic)...)
		if len(failed) == 0 && len(homeless) == 0 {
			for _, g := range groups {
				c.waits.Answered(t, g.regions...)
			}
		}
		for _, f := range failed {
			f.doubt()
			last = f.err
			c.waits.Failed(waits.At(t, f.region), began, f.err)
			over := !c.settle(t, f.region, f.err)
			switch {
			case f.ops[0].get != nil && over && ctx.Err() == nil, f.ops[0].condition != nil && (over || Unclear(f.err)):
				for _, o := range f.ops {
					o.err = opError(what, t, f.region, f.err)
				}
				continue
			case over && ctx.Err() == nil:
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

// doubt counts the signs of damage that gets have seen. One too many makes the error final.
func (f *failure) doubt() {
	if f.ops[0].get == nil {
		return
	}
	sign := f.err
	for _, o := range f.ops {
		f.err = o.doubts.see(sign)
	}
}

// shelter returns the ops without a region that are to be tried again. The error is of ops that end the others.
func (c *Client) shelter(what string, t Table, homeless []failure, began time.Time) (left []*op, err error) {
	for _, f := range homeless {
		if actionOf(f.err) != giveUp {
			c.waits.Failed(waits.At(t, nil), began, f.err)
			left = append(left, f.ops...)
			continue
		}
		err := opError(what, t, nil, f.err)
		if !f.ops[0].own() {
			return nil, err
		}
		f.ops[0].err = err
	}
	return left, nil
}

// groups parts ops by server and region; homeless have no region, each with its reason.
func (c *Client) groups(ctx context.Context, t Table, ops []*op) (list []*group, homeless []failure) {
	type at struct {
		g *group
		i int
	}
	byServer, byRegion := map[string]*group{}, map[*Region]at{}
	for _, o := range ops {
		r, lerr := c.locate(ctx, t, o.row)
		if lerr != nil {
			homeless = append(homeless, failure{ops: []*op{o}, err: lerr})
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
	return list, homeless
}

// call makes the MultiRequest: a RegionAction for each region, in order. An op with a condition has a
// RegionAction of its own.
func (g *group) call(atomic bool) *call {
	for i, r := range g.regions {
		if g.ops[i][0].condition != nil {
			g.parts = append(g.parts, checks(r, g.ops[i])...)
		} else {
			g.parts = append(g.parts, part{region: r, ops: g.ops[i]})
		}
	}
	k := &call{method: "Multi"}
	for _, x := range g.parts {
		condition := x.ops[0].condition
		ra := message(nil).bytes(1, specifier(x.region))
		if atomic || condition != nil {
			ra = ra.flag(2, true)
		}
		for j, o := range x.ops {
			a := message(nil).number(1, uint64(j))
			if o.cell != nil {
				a = a.bytes(2, mutation(o.cell, o.durability))
				k.cells = appendCell(k.cells, o.cell)
			} else {
				a = a.bytes(3, message(nil).bytes(1, o.row).bytes(2, o.get))
			}
			ra = ra.bytes(3, a)
		}
		if condition != nil {
			ra = ra.bytes(4, condition)
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
	slow, stop := waits.Slow(ctx)
	defer stop()
	began := time.Now()
	for len(under) > 0 {
		select {
		case <-slow:
			for k := range under {
				c.waits.Silent(ctx, groups[k.tag].server, began)
			}
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
		if i == len(g.parts) {
			return nil, fmt.Errorf("%w: more results than regions", errMalformed)
		}
		x, before := g.parts[i], len(failed)
		i++
		for h := range fields(f.bytes, &err) {
			switch h.id {
			case 1:
				bad, rest, rerr := result(h.bytes, x.ops, cells)
				if rerr != nil {
					return nil, rerr
				}
				cells = rest
				if bad.err != nil {
					bad.region = x.region
					if atomic {
						bad.ops = x.ops
					}
					failed = append(failed, bad)
				}
			case 2:
				failed = append(failed, failure{x.region, x.ops, nameBytes(h.bytes, &err)})
			case 3:
				x.ops[0].answered, x.ops[0].done = true, h.number != 0
			}
		}
		switch {
		case x.of != nil && len(failed) > before:
			unsynced(x.of, failed[before].err)
			failed = failed[:before]
		case x.ops[0].condition != nil && !x.ops[0].answered && len(failed) == before && err == nil:
			return nil, fmt.Errorf("%w: a condition without an answer", errMalformed)
		}
	}
	if err == nil && i < len(g.parts) {
		err = fmt.Errorf("%w: %d results for %d regions", errMalformed, i, len(g.parts))
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
	ops[index].answered = ops[index].answered || ops[index].get != nil
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
