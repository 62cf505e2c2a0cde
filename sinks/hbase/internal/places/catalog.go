package places

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks"
)

// Rows are the values of the catalog's table. An absent row has an empty value. Safe for concurrent use.
type Rows interface {
	// Read reads values, in the order of rows. They need not be of one moment. The error is sinks.KeyErrors, by row, if
	// some were read.
	Read(ctx context.Context, rows [][]byte) ([][]byte, error)
	// Check replaces values of unlike rows, each in one step and durably. sinks.ErrConflict where a value is not Old;
	// Old empty stands for an absent row too.
	Check(ctx context.Context, changes []sinks.Change) []error
	// Scan emits the rows of a span in order. An emitted row stays as it is. small: read ahead by little, because
	// many scans go on side by side. emit's error comes back unchanged.
	Scan(ctx context.Context, s sinks.Span, small bool, emit func(row, value []byte) error) error
	// Delete removes rows that nothing writes any more.
	Delete(ctx context.Context, rows [][]byte) error
}

// Catalog is the catalog in rows. It implements sinks.Catalog. Safe for concurrent use.
type Catalog struct {
	rows  Rows
	state chan state // of size 1
}

// state is what a process knows of old rows.
type state byte

const (
	unknown state = iota
	some          // there were some
	none          // there are none, and there will be none
)

// New returns the catalog in rows.
func New(rows Rows) *Catalog {
	c := &Catalog{rows, make(chan state, 1)}
	c.state <- unknown
	return c
}

// The first byte of a value. Durable.
const (
	present = 1 // a record follows, so that an empty one is not an absent one
	gone    = 2 // there is no record
)

// Value returns the value of a record; empty for none.
func Value(record []byte) []byte {
	if record == nil {
		return nil
	}
	return append([]byte{present}, record...)
}

// Record undoes Value. It returns nil where there is no record.
func Record(row, value []byte) ([]byte, error) {
	switch {
	case len(value) == 0 || len(value) == 1 && value[0] == gone:
		return nil, nil
	case value[0] == present:
		return value[1:], nil
	}
	return nil, fmt.Errorf("%w: catalog row %x begins with %#x", sinks.ErrCorrupt, row, value[0])
}

// errFound ends a scan at its first row.
var errFound = errors.New("found")

// hasOld reports whether the table may have old rows.
func (c *Catalog) hasOld(ctx context.Context) (bool, error) {
	var s state
	select {
	case s = <-c.state:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { c.state <- s }()
	if s != unknown {
		return s == some, nil
	}
	err := c.rows.Scan(ctx, sinks.Span{From: oldFrom, Stop: ledgerStop}, true, func([]byte, []byte) error { return errFound })
	switch {
	case err == nil:
		s = none
	case errors.Is(err, errFound):
		s = some
	default:
		return false, fmt.Errorf("look for ledger rows of an older program: %w", err)
	}
	return s == some, nil
}

// setUnknown has the next call look for old rows again.
func (c *Catalog) setUnknown() {
	<-c.state
	c.state <- unknown
}

// oldRows returns the old rows of keys, nil where a key has none, and an error for each key that may have one: the regions
// of old rows may be damaged.
func (c *Catalog) oldRows(ctx context.Context, keys [][]byte) (list [][]byte, errs []error) {
	list, errs = make([][]byte, len(keys)), make([]error, len(keys))
	asked, has, err := false, false, error(nil)
	for i, key := range keys {
		old := oldRow(key)
		if old == nil {
			continue
		}
		if !asked {
			asked = true
			has, err = c.hasOld(ctx)
		}
		if errs[i] = err; has {
			list[i] = old
		}
	}
	return list, errs
}

// Get implements sinks.Catalog.
func (c *Catalog) Get(ctx context.Context, key []byte) ([]byte, error) {
	values, err := c.GetAll(ctx, [][]byte{key})
	if err := sinks.ByKey(err, 1)[0]; err != nil {
		return nil, err
	}
	return values[0], nil
}

// GetAll implements sinks.Catalog.
func (c *Catalog) GetAll(ctx context.Context, keys [][]byte) ([][]byte, error) {
	if err := ctx.Err(); err != nil || len(keys) == 0 {
		return nil, err
	}
	olds, unknown := c.oldRows(ctx, keys)
	cells, err := c.look(ctx, keys, olds)
	if err != nil {
		return nil, err
	}
	values, errs := make([][]byte, len(keys)), make(sinks.KeyErrors, len(keys))
	failed := false
	for i := range keys {
		if errs[i] = unknown[i]; errs[i] == nil {
			values[i], errs[i] = cells[i].record()
		}
		failed = failed || errs[i] != nil
	}
	if failed {
		return values, errs
	}
	return values, nil
}

// cell is what the rows of a key hold: the values of its row and of its old row.
type cell struct {
	key      []byte
	now, old []byte
	err      error // of either
}

// record returns the record of a key, or nil.
func (x cell) record() ([]byte, error) {
	if x.err != nil {
		return nil, x.err
	}
	if len(x.now) > 0 {
		return Record(Row(x.key), x.now)
	}
	return Record(x.key, x.old)
}

// read reads rows, with an error for each. The error is of the whole if no row was read.
func (c *Catalog) read(ctx context.Context, rows [][]byte) (values [][]byte, errs []error, err error) {
	values, err = c.rows.Read(ctx, rows)
	if parts, is := err.(sinks.KeyErrors); is {
		return values, parts, nil
	}
	return values, make([]error, len(rows)), err
}

// look reads the rows of keys. olds are their old rows, or nil.
func (c *Catalog) look(ctx context.Context, keys, olds [][]byte) ([]cell, error) {
	rows := make([][]byte, 0, len(keys))
	for _, key := range keys {
		rows = append(rows, Row(key))
	}
	for _, old := range olds {
		if old != nil {
			rows = append(rows, old)
		}
	}
	values, errs, err := c.read(ctx, rows)
	if err != nil {
		return nil, err
	}
	cells := make([]cell, len(keys))
	var again [][]byte // rows of records that may have moved between the two looks
	var of []int
	next := len(keys)
	for i, key := range keys {
		cells[i] = cell{key: key, now: values[i], err: errs[i]}
		if olds[i] == nil {
			continue
		}
		cells[i].err = cmp.Or(errs[i], errs[next])
		if cells[i].old = values[next]; cells[i].err == nil && len(values[i]) == 0 && len(values[next]) == 0 {
			again, of = append(again, rows[i]), append(of, i)
		}
		next++
	}
	if len(again) == 0 {
		return cells, nil
	}
	if values, errs, err = c.read(ctx, again); err != nil {
		return nil, err
	}
	for j, i := range of {
		cells[i].now, cells[i].err = values[j], errs[j]
	}
	return cells, nil
}

// Swap implements sinks.Catalog.
func (c *Catalog) Swap(ctx context.Context, key, old, new []byte) error {
	return c.SwapAll(ctx, []sinks.Change{{Key: key, Old: old, New: new}})[0]
}

// swapping is a change under way.
type swapping struct {
	sinks.Change
	at       int    // of the changes
	from, to []byte // values
	old      []byte // the old row, or nil
	tries    int
}

// SwapAll implements sinks.Catalog.
func (c *Catalog) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	errs := make([]error, len(changes))
	fail := func(list []*swapping, err error) {
		for _, s := range list {
			errs[s.at] = err
		}
	}
	left := make([]*swapping, len(changes))
	for i, ch := range changes {
		left[i] = &swapping{Change: ch, at: i, from: Value(ch.Old), to: Value(ch.New)}
		if isLedger(ch.Key) && ch.New == nil {
			left[i].to = []byte{gone}
		}
	}
	for len(left) > 0 {
		var now []*swapping
		now, left = unlike(left)
		if err := ctx.Err(); err != nil {
			fail(now, err)
			continue
		}
		var unseen []*swapping // old rows may hold what should be absent
		for _, s := range now {
			olds, unknown := c.oldRows(ctx, [][]byte{s.Key})
			if unknown[0] != nil {
				errs[s.at] = unknown[0]
				continue
			}
			if s.old = olds[0]; s.old != nil && s.Old == nil {
				unseen = append(unseen, s)
			}
		}
		now = failed(now, errs)
		if len(unseen) > 0 {
			if err := c.aim(ctx, unseen, errs); err != nil {
				fail(unseen, err)
			}
			now = failed(now, errs)
		}
		for len(now) > 0 {
			now = c.swapSome(ctx, now, errs)
		}
	}
	return errs
}

// failed returns the changes without an error.
func failed(list []*swapping, errs []error) []*swapping {
	var out []*swapping
	for _, s := range list {
		if errs[s.at] == nil {
			out = append(out, s)
		}
	}
	return out
}

// unlike takes the first change of each key.
func unlike(all []*swapping) (now, later []*swapping) {
	taken := make(map[string]bool, len(all))
	for _, s := range all {
		if taken[string(s.Key)] {
			later = append(later, s)
			continue
		}
		taken[string(s.Key)] = true
		now = append(now, s)
	}
	return now, later
}

// swapSome attempts changes, and returns those to be attempted again.
func (c *Catalog) swapSome(ctx context.Context, now []*swapping, errs []error) (again []*swapping) {
	changes := make([]sinks.Change, len(now))
	for i, s := range now {
		changes[i] = sinks.Change{Key: Row(s.Key), Old: s.from, New: s.to, Same: s.Same}
	}
	for i, err := range c.rows.Check(ctx, changes) {
		s := now[i]
		switch {
		case err == nil:
		case errors.Is(err, sinks.ErrConflict) && isLedger(s.Key) && (s.old != nil || s.Old == nil) && s.tries < 4:
			s.tries++
			again = append(again, s) // the record may be old, and another row or value
		case errors.Is(err, sinks.ErrConflict):
			errs[s.at] = conflict(s)
		default:
			errs[s.at] = err
		}
	}
	if len(again) == 0 {
		return nil
	}
	if err := c.aim(ctx, again, errs); err != nil {
		for _, s := range again {
			errs[s.at] = err
		}
	}
	return failed(again, errs)
}

func conflict(s *swapping) error { return fmt.Errorf("%w: %x", sinks.ErrConflict, s.Key) }

// aim looks at the rows of changes, and has each expect the value that stands for its Old. It writes conflicts to errs.
func (c *Catalog) aim(ctx context.Context, list []*swapping, errs []error) error {
	keys, olds := make([][]byte, len(list)), make([][]byte, len(list))
	for i, s := range list {
		keys[i], olds[i] = s.Key, s.old
	}
	cells, err := c.look(ctx, keys, olds)
	if err != nil {
		return err
	}
	for i, s := range list {
		have, err := cells[i].record()
		switch {
		case err != nil:
			errs[s.at] = err
		case (have == nil) != (s.Old == nil) || !bytes.Equal(have, s.Old):
			errs[s.at] = conflict(s)
		default:
			s.from = cells[i].now
		}
	}
	return nil
}
