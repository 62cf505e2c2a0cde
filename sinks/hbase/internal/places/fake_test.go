package places

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/symlake/symlake/sinks"
)

// table is Rows in memory. A scan shows a new state every few rows, as regions do.
type table struct {
	mu     sync.Mutex
	values map[string][]byte
	scans  int
	reads  int
	steps  int
	at     int    // before this step of a reader, counted from 1,
	then   func() // this happens
}

// step is called before each row and page that is read, and before each change.
func (t *table) step() {
	t.mu.Lock()
	t.steps++
	now := t.steps == t.at
	t.mu.Unlock()
	if now {
		t.then()
	}
}

func newTable() *table { return &table{values: map[string][]byte{}} }

func (t *table) Read(_ context.Context, rows [][]byte) ([][]byte, error) {
	out := make([][]byte, len(rows))
	for i, row := range rows { // each at a moment of its own
		t.step()
		t.mu.Lock()
		t.reads++
		out[i] = t.values[string(row)]
		t.mu.Unlock()
		runtime.Gosched()
	}
	return out, nil
}

func (t *table) Check(_ context.Context, changes []sinks.Change) []error {
	errs := make([]error, len(changes))
	for i, ch := range changes {
		t.step()
		t.mu.Lock()
		if bytes.Equal(t.values[string(ch.Key)], ch.Old) {
			t.values[string(ch.Key)] = ch.New
		} else {
			errs[i] = sinks.ErrConflict
		}
		t.mu.Unlock()
		runtime.Gosched()
	}
	return errs
}

func (t *table) Scan(ctx context.Context, s sinks.Span, _ bool, emit func(row, value []byte) error) error {
	t.mu.Lock()
	t.scans++
	t.mu.Unlock()
	const some = 3
	for {
		t.step()
		t.mu.Lock()
		var keys []string
		for k := range t.values {
			if k >= string(s.From) && (s.Stop == nil || k < string(s.Stop)) {
				keys = append(keys, k)
			}
		}
		sort.Strings(keys)
		var page []pair
		for _, k := range keys[:min(some, len(keys))] {
			page = append(page, pair{[]byte(k), t.values[k]})
		}
		t.mu.Unlock()
		runtime.Gosched()
		for _, p := range page {
			if err := emit(p.key, p.value); err != nil {
				return err
			}
			s.From = append(bytes.Clone(p.key), 0)
		}
		if len(page) < some {
			return ctx.Err()
		}
	}
}

func (t *table) Delete(_ context.Context, rows [][]byte) error {
	for _, row := range rows {
		t.mu.Lock()
		delete(t.values, string(row))
		t.mu.Unlock()
		runtime.Gosched()
	}
	return nil
}

// old puts a record as an older program did.
func (t *table) old(url, record string) { t.values["o"+url] = Value([]byte(record)) }

var errDead = errors.New("dead")

// mortal is a process that dies at its at-th write. after: that write takes effect.
type mortal struct {
	*table
	at    int
	after bool
	n     int
}

func (m *mortal) write(op func()) error {
	m.n++
	if m.n < m.at || m.n == m.at && m.after {
		op()
	}
	if m.n >= m.at {
		return errDead
	}
	return nil
}

func (m *mortal) Check(ctx context.Context, changes []sinks.Change) []error {
	errs := make([]error, len(changes))
	for i, ch := range changes {
		if err := m.write(func() { errs[i] = m.table.Check(ctx, []sinks.Change{ch})[0] }); err != nil {
			errs[i] = err
		}
	}
	return errs
}

func (m *mortal) Delete(ctx context.Context, rows [][]byte) (err error) {
	for _, row := range rows {
		if err := m.write(func() { _ = m.table.Delete(ctx, [][]byte{row}) }); err != nil {
			return err
		}
	}
	return nil
}

// all lists a span as "key=record" texts.
func all(c sinks.Catalog, s sinks.Span) (list []string, err error) {
	err = c.List(context.Background(), s, func(r sinks.Row) error {
		list = append(list, fmt.Sprintf("%s=%s", r.Key, r.Value))
		return nil
	})
	if err == nil && !slices.IsSorted(list) {
		err = fmt.Errorf("out of order: %q", list)
	}
	return list, err
}
