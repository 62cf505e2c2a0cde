package counts

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks"
)

// rest is how long a row has not been written before Settle merges it: its process has ended, most likely.
const rest = 10 * time.Minute

// Settle merges the rows of ended processes into the base. If the counters are not whole, count adds what all records count,
// and that becomes the base. whole is false if they are not afterwards: other processes changed records meanwhile.
func (c *Counter) Settle(ctx context.Context, count func(ctx context.Context, add func([]sinks.Count)) error) (whole bool, err error) {
	s, err := c.read(ctx)
	if err != nil {
		return false, err
	}
	if err := c.rows.Remove(ctx, s.empty); err != nil {
		return false, err
	}
	if _, whole = c.sum(s); whole {
		return true, c.merge(ctx, s)
	}
	if c.isBusy(s) {
		return false, nil
	}
	next := &baseRow{Token: draw(), Number: s.base.Number + 1, Merged: s.base.Merged, tally: s.base.tally}
	value := encode(next)
	if done, err := c.rows.Swap(ctx, "", s.value, value); err != nil || !done {
		return false, err
	}
	if s, err = c.read(ctx); err != nil || !bytes.Equal(s.value, value) || c.isBusy(s) {
		return false, err
	}
	var t tally
	if err := count(ctx, t.add); err != nil {
		return false, err
	}
	now, err := c.read(ctx)
	if err != nil || !bytes.Equal(now.value, value) || !maps.EqualFunc(now.values, s.values, bytes.Equal) {
		return false, err
	}
	next = &baseRow{Whole: true, Number: next.Number + 1, Merged: map[string]uint64{}, tally: t}
	for id, value := range s.values {
		next.Merged[id] = sumOf(value)
	}
	if done, err := c.rows.Swap(ctx, "", value, encode(next)); err != nil || !done {
		return false, err
	}
	_, err = c.remove(ctx, next.Merged, s.values)
	return true, err
}

// isBusy reports whether a process changes records now.
func (c *Counter) isBusy(s *state) bool {
	for _, r := range s.rows {
		if r.Busy && !c.isSilent(r) {
			return true
		}
	}
	return false
}

// merge merges rows that have not changed for long into the base, and removes the rows that it names.
func (c *Counter) merge(ctx context.Context, s *state) error {
	left, err := c.remove(ctx, s.base.Merged, s.values)
	if err != nil {
		return err
	}
	next := &baseRow{Whole: true, Number: s.base.Number + 1, Merged: left, tally: s.base.clone()}
	for id, r := range s.rows {
		if _, is := s.base.Merged[id]; !is && !r.Busy && c.now().Sub(time.UnixMilli(r.At)) > rest {
			next.merge(&r.tally)
			next.Merged[id] = sumOf(s.values[id])
		}
	}
	if len(next.Merged) == 0 && len(s.base.Merged) == 0 {
		return nil
	}
	done, err := c.rows.Swap(ctx, "", s.value, encode(next))
	if err == nil && done {
		_, err = c.remove(ctx, next.Merged, s.values)
	}
	return err
}

// remove removes rows that the base names, and returns the rows that have changed since.
func (c *Counter) remove(ctx context.Context, merged map[string]uint64, values map[string][]byte) (left map[string]uint64, err error) {
	left = map[string]uint64{}
	var gone []string
	for _, id := range slices.Sorted(maps.Keys(merged)) {
		value, is := values[id]
		if !is {
			continue
		}
		done := false
		if sumOf(value) == merged[id] {
			if done, err = c.rows.Swap(ctx, id, value, nil); err != nil {
				return nil, err
			}
		}
		if done {
			gone = append(gone, id)
		} else {
			left[id] = merged[id]
		}
	}
	return left, c.rows.Remove(ctx, gone)
}
