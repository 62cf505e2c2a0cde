package counts

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks"
)

// Rows are the rows of the counters, by id; the base has the id "". An absent row has an empty value. Safe for concurrent
// use.
type Rows interface {
	// Each emits the rows that are there, also with an empty value, the base first. They need not be of one moment. emit's
	// error comes back unchanged.
	Each(ctx context.Context, emit func(id string, value []byte) error) error
	// Get reads a row.
	Get(ctx context.Context, id string) ([]byte, error)
	// Swap replaces old by new in one step; false: the row has another value. It is durable then. It repeats what has no
	// clear answer. After an error it may have happened.
	Swap(ctx context.Context, id string, old, new []byte) (bool, error)
	// Remove removes empty rows. No process has one of their ids.
	Remove(ctx context.Context, ids []string) error
	// Fresh reports whether the store has no record that is counted.
	Fresh(ctx context.Context) (bool, error)
}

// Silent is how old a busy row may become before its process counts as dead.
const Silent = 2 * time.Minute

// writeTime bounds the writing of what happened, also if the caller has given up.
const writeTime = 10 * time.Second

// Counter counts changes of one process, and reads all counters. Safe for concurrent use.
type Counter struct {
	rows  Rows
	now   func() time.Time
	pause func(context.Context, time.Duration) error

	mu     sync.Mutex
	begun  bool   // there is a base, or there are records without one
	id     string // of this process's row; "": it has none
	value  []byte // as it was written last
	row    processRow
	active int // changes under way
}

// New returns a counter in rows. pause waits.
func New(rows Rows, now func() time.Time, pause func(context.Context, time.Duration) error) *Counter {
	return &Counter{rows: rows, now: now, pause: pause}
}

// Begin says that the caller is about to change records. The caller calls End behind the change. After an error nothing may
// change.
func (c *Counter) Begin(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active > 0 && c.id != "" && c.now().UnixMilli()-c.row.At < (Silent/4).Milliseconds() {
		c.active++
		return nil // the row is busy
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	done, err := c.write(ctx, true)
	if err == nil && !done { // the row was merged
		if c.id = ""; c.active > 0 {
			c.signal(ctx)
		}
		if done, err = c.write(ctx, true); err == nil && !done {
			err = fmt.Errorf("another process has the row %q of the counters", c.id)
		}
	}
	if err == nil {
		c.active++
	}
	return err
}

// End counts the changes that happened. unclear says that others may have happened, too.
func (c *Counter) End(ctx context.Context, happened []sinks.Count, unclear bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active--
	if c.id == "" {
		c.signal(ctx)
		return
	}
	c.row.add(happened)
	if !unclear {
		if done, err := c.write(ctx, c.active > 0); err == nil && done {
			return
		}
	}
	// This row may be merged already, as the row of a dead process. So another one says that the counters are not whole.
	if c.signal(ctx); c.active > 0 {
		if done, err := c.write(ctx, true); err != nil || !done {
			c.id = ""
		}
	}
}

// signal leaves a busy row behind: the counters are not whole then.
func (c *Counter) signal(ctx context.Context) {
	for range 5 {
		c.id = ""
		if done, err := c.write(ctx, true); err == nil && done {
			break
		}
	}
	c.id = ""
}

// begin makes the base of a store without records.
func (c *Counter) begin(ctx context.Context) error {
	if c.begun {
		return nil
	}
	value, err := c.rows.Get(ctx, "")
	if err == nil && len(value) == 0 {
		var fresh bool
		if fresh, err = c.rows.Fresh(ctx); fresh && err == nil {
			_, err = c.rows.Swap(ctx, "", nil, encode(&baseRow{Whole: true}))
		}
	}
	c.begun = err == nil
	return err
}

// write writes the row of this process, a new one if it has none; false: another process has changed it.
func (c *Counter) write(ctx context.Context, busy bool) (bool, error) {
	if c.id == "" {
		c.id, c.value, c.row = draw(), nil, processRow{}
	}
	next := c.row
	next.Busy, next.At, next.Number = busy, c.now().UnixMilli(), next.Number+1
	value := encode(&next)
	done, err := c.rows.Swap(ctx, c.id, c.value, value)
	if done && err == nil {
		c.row, c.value = next, value
	}
	return done, err
}

// draw draws an id.
func draw() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	return hex.EncodeToString(id[:])
}

// state is all rows at one moment, as far as the base tells.
type state struct {
	base   *baseRow
	value  []byte
	values map[string][]byte // by id
	rows   map[string]*processRow
	empty  []string // ids of rows that were to be removed
}

// read reads all rows. The base did not change meanwhile.
func (c *Counter) read(ctx context.Context) (*state, error) {
	for {
		s := &state{base: &baseRow{}, values: map[string][]byte{}, rows: map[string]*processRow{}}
		err := c.rows.Each(ctx, func(id string, value []byte) error {
			switch {
			case id == "":
				s.value, s.base = value, decodeBase(value)
			case len(value) == 0:
				s.empty = append(s.empty, id)
			default:
				s.values[id], s.rows[id] = value, decodeProcess(value)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		again, err := c.rows.Get(ctx, "")
		if err != nil {
			return nil, err
		}
		if bytes.Equal(again, s.value) {
			return s, nil
		}
	}
}

// isSilent reports whether the process of a busy row counts as dead.
func (c *Counter) isSilent(r *processRow) bool {
	return r.Busy && c.now().Sub(time.UnixMilli(r.At)) > Silent
}

// sum returns the counters; false: they are not whole.
func (c *Counter) sum(s *state) (t tally, whole bool) {
	if !s.base.Whole {
		return t, false
	}
	t = s.base.clone()
	for id, r := range s.rows {
		sum, merged := s.base.Merged[id]
		switch {
		case merged && sum == sumOf(s.values[id]):
		case merged, c.isSilent(r):
			return t, false
		default:
			t.merge(&r.tally)
		}
	}
	return t, true
}

// A reader looks at a busy row looks times at most, a pause apart, before it takes the process for dead.
const (
	looks = 10
	apart = 100 * time.Millisecond
)

// Counts returns the counters; false: they are not whole. What living processes have under way may be missing. A process lives
// if it writes its busy row while Counts looks at it.
func (c *Counter) Counts(ctx context.Context) (counts map[string]int64, whole bool, err error) {
	var busy map[string][]byte // rows that were busy at the first look, and have not changed since
	for look := 1; ; look++ {
		s, err := c.read(ctx)
		if err != nil {
			return nil, false, err
		}
		t, whole := c.sum(s)
		if busy = s.stillBusy(busy); !whole || len(busy) > 0 && look == looks {
			return nil, false, nil
		}
		if len(busy) == 0 {
			counts = t.Sums
			if counts == nil {
				counts = map[string]int64{}
			}
			maps.Copy(counts, t.Most)
			return counts, true, nil
		}
		if err := c.pause(ctx, apart); err != nil {
			return nil, false, err
		}
	}
}

// stillBusy returns the busy rows, or if before is not nil, those among them that have not changed.
func (s *state) stillBusy(before map[string][]byte) map[string][]byte {
	busy := map[string][]byte{}
	for id, r := range s.rows {
		if _, merged := s.base.Merged[id]; r.Busy && !merged && (before == nil || bytes.Equal(before[id], s.values[id])) {
			busy[id] = s.values[id]
		}
	}
	return busy
}
