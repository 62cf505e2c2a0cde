// Package stored reads the rows of loads in a store.
package stored

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Span returns the span of the rows of a load.
func Span(id symbol.ID, l sinks.Load) sinks.Span {
	prefix := row.LoadPrefix(id, l)
	return sinks.Span{From: prefix, Stop: After(prefix)}
}

// After returns the first key that follows all keys with prefix p, or nil if there is none.
func After(p []byte) []byte {
	next := bytes.Clone(p)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			return next[:i+1]
		}
	}
	return nil
}

// Load names a load of an artifact.
type Load struct {
	Artifact symbol.ID
	ID       sinks.Load
}

// haveRowsAtOnce is the number of loads to ask for at a time.
const haveRowsAtOnce = 256

// HaveRows reports for each load whether the store has a readable row of it. It returns an error if the
// store does not answer.
func HaveRows(ctx context.Context, b sinks.Blocks, loads []Load) ([]bool, error) {
	have := make([]bool, 0, len(loads))
	for some := range slices.Chunk(loads, haveRowsAtOnce) {
		spans := make([]sinks.Span, len(some))
		for i, l := range some {
			spans[i] = Span(l.Artifact, l.ID)
		}
		at, failed := len(have), error(nil)
		have = append(have, make([]bool, len(some))...)
		err := b.First(ctx, spans, func(i int, r sinks.Row, err error) {
			have[at+i] = err == nil && r.Key != nil
			if err != nil && !errors.Is(err, sinks.ErrCorrupt) {
				failed = errors.Join(failed, err)
			}
		})
		if err := errors.Join(err, failed); err != nil {
			return nil, err
		}
	}
	return have, nil
}

// Each emits the loads of a store in key order. It takes one short scan a load.
func Each(ctx context.Context, b sinks.Blocks, emit func(symbol.ID, sinks.Load) error) error {
	from := []byte{}
	for from != nil {
		var first sinks.Row
		var ferr error
		err := b.First(ctx, []sinks.Span{{From: from}}, func(_ int, r sinks.Row, err error) { first, ferr = r, err })
		if err := errors.Join(err, ferr); err != nil {
			return err
		}
		if first.Key == nil {
			return nil
		}
		p, err := prefixOf(first)
		if err != nil {
			return err
		}
		if err := emit(symbol.ID(p[:16]), sinks.Load(p[16:])); err != nil {
			return err
		}
		from = After(p)
	}
	return nil
}

// prefixOf returns the part of a row's key that names its load.
func prefixOf(r sinks.Row) ([]byte, error) {
	if len(r.Key) < sinks.PrefixBytes {
		return nil, fmt.Errorf("row %x: its key is shorter than a prefix", r.Key)
	}
	return r.Key[:sinks.PrefixBytes], nil
}

// Began returns the time at which a load began.
func Began(l sinks.Load) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(l[:]) >> 16))
}
