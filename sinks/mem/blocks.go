package mem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/symlake/symlake/sinks"
)

// errEnough ends a scan after its first row.
var errEnough = errors.New("enough")

// load is immutable once it is in blocks.
type load struct{ rows []sinks.Row }

type blocks struct {
	mu    sync.RWMutex
	loads map[sinks.Prefix]*load
}

// add makes loads visible; one written again replaces its earlier self.
func (b *blocks) add(loads map[sinks.Prefix]*load) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.loads, loads)
}

func (b *blocks) First(ctx context.Context, spans []sinks.Span, found func(i int, r sinks.Row, err error)) error {
	for i, s := range spans {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := b.first(ctx, s)
		found(i, r, err)
	}
	return nil
}

func (b *blocks) first(ctx context.Context, s sinks.Span) (sinks.Row, error) {
	if len(s.From) >= sinks.PrefixBytes { // the load of From answers, unless it ends before
		b.mu.RLock()
		l := b.loads[sinks.Prefix(s.From)]
		b.mu.RUnlock()
		if l != nil {
			if i := l.ceiling(s.From); i < len(l.rows) {
				if before(l.rows[i].Key, s.Stop) {
					return l.rows[i], nil
				}
				return sinks.Row{}, nil
			}
		}
		if s.Stop != nil && len(s.Stop) >= sinks.PrefixBytes && sinks.Prefix(s.Stop) == sinks.Prefix(s.From) {
			return sinks.Row{}, nil
		}
	}
	var first sinks.Row
	err := b.Scan(ctx, s, func(r sinks.Row) error {
		first = r
		return errEnough
	})
	if err == errEnough {
		err = nil
	}
	return first, err
}

func (b *blocks) Scan(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	type entry struct {
		at   sinks.Prefix
		load *load
	}
	b.mu.RLock()
	var in []entry
	for p, l := range b.loads {
		n := len(l.rows)
		if string(l.rows[n-1].Key) >= string(s.From) && before(l.rows[0].Key, s.Stop) {
			in = append(in, entry{p, l})
		}
	}
	b.mu.RUnlock()
	slices.SortFunc(in, func(x, y entry) int { return bytes.Compare(x.at[:], y.at[:]) })
	for _, e := range in {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, r := range e.load.rows[e.load.ceiling(s.From):] {
			if !before(r.Key, s.Stop) {
				return nil
			}
			if err := emit(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *blocks) Drop(ctx context.Context, prefixes [][]byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range prefixes {
		if len(p) != sinks.PrefixBytes {
			return fmt.Errorf("drop %x: not a prefix of %d bytes", p, sinks.PrefixBytes)
		}
		delete(b.loads, sinks.Prefix(p))
	}
	return nil
}

// ceiling is the index of the first row at or after key.
func (l *load) ceiling(key []byte) int {
	return sort.Search(len(l.rows), func(i int) bool { return bytes.Compare(l.rows[i].Key, key) >= 0 })
}

// before tells whether key is below stop; nil is no end.
func before(key, stop []byte) bool { return stop == nil || bytes.Compare(key, stop) < 0 }
