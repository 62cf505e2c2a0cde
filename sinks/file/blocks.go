package file

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// blocks is the store's rows.
type blocks struct{ *store }

func (b blocks) First(ctx context.Context, spans []sinks.Span, found func(i int, r sinks.Row, err error)) error {
	for i, s := range spans {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := b.first(ctx, s)
		found(i, r, err)
	}
	return nil
}

func (b blocks) first(ctx context.Context, s sinks.Span) (row sinks.Row, err error) {
	if !below(s.From, s.Stop) {
		return row, nil
	}
	if at, is := within(s); is { // as every lookup
		err := b.in(at, func(h *handle) error {
			c, ok, err := h.First(s.From, s.Stop)
			if ok {
				row = sinks.Row{Key: c.Row, Value: c.Value}
			}
			return err
		})
		return row, err
	}
	err = b.Scan(ctx, s, func(r sinks.Row) error {
		row = r
		return errEnough
	})
	if err == errEnough {
		err = nil
	}
	return row, err
}

// within returns the load that holds all of a span.
func within(s sinks.Span) (at sinks.Prefix, is bool) {
	if len(s.From) < sinks.PrefixBytes || s.Stop == nil {
		return at, false
	}
	at = sinks.Prefix(s.From)
	next := at.Next()
	return at, next == nil || bytes.Compare(s.Stop, next) <= 0
}

// errEnough ends a scan after its first row.
var errEnough = errors.New("enough")

// in runs read on the file of a load; not at all if the store has none of it.
// A file that is gone was left by its last load: the catalog is asked once more.
func (b blocks) in(at sinks.Prefix, read func(h *handle) error) error {
	gone := ""
	for {
		name, err := b.where.find(at)
		if err != nil {
			return fmt.Errorf("find the file of load %x: %w", at, err)
		}
		if name == "" {
			return nil
		}
		if name == gone {
			return fmt.Errorf("%s, of load %x, is missing: %w", b.path(name), at, sinks.ErrCorrupt)
		}
		h, err := b.files.acquire(name)
		if errors.Is(err, fs.ErrNotExist) {
			b.where.forget(at)
			gone = name
			continue
		}
		if err != nil {
			return err
		}
		err = read(h)
		b.files.release(h)
		var damage *hfile.Error
		if errors.As(err, &damage) {
			err = fmt.Errorf("%s: %w", b.path(name), err)
		}
		return err
	}
}

// scanPage is how many loads are asked for at once.
const scanPage = 1024

// Scan goes load by load: each is whole in one file, so that is the order of keys.
func (b blocks) Scan(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if !below(s.From, s.Stop) {
		return nil
	}
	if at, is := within(s); is {
		return b.scan(ctx, at, s, emit)
	}
	from := s.From[:min(len(s.From), sinks.PrefixBytes)]
	for {
		page, err := b.where.page(from, s.Stop, scanPage)
		if err != nil {
			return err
		}
		for _, at := range page {
			if err := b.scan(ctx, at, s, emit); err != nil {
				return err
			}
		}
		if len(page) < scanPage {
			return nil
		}
		if from = page[len(page)-1].Next(); from == nil {
			return nil
		}
	}
}

// scan emits the rows of one load that are in s.
func (b blocks) scan(ctx context.Context, at sinks.Prefix, s sinks.Span, emit func(sinks.Row) error) error {
	from, stop := at[:], at.Next()
	if bytes.Compare(s.From, from) > 0 {
		from = s.From
	}
	if s.Stop != nil && below(s.Stop, stop) {
		stop = s.Stop
	}
	var emitted error
	err := b.in(at, func(h *handle) error {
		return h.Scan(from, stop, func(c hfile.Cell) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			emitted = emit(sinks.Row{Key: c.Row, Value: c.Value})
			return emitted
		})
	})
	if emitted != nil {
		return emitted
	}
	return err
}

func (b blocks) Drop(ctx context.Context, prefixes [][]byte) error {
	loads := make([]sinks.Prefix, len(prefixes))
	for i, p := range prefixes {
		if len(p) != sinks.PrefixBytes {
			return fmt.Errorf("drop %x: not a prefix of %d bytes", p, sinks.PrefixBytes)
		}
		loads[i] = sinks.Prefix(p)
	}
	if len(loads) == 0 {
		return nil
	}
	var empty []string
	err := b.db.apply(ctx, func(w *writer) (verdict, err error) {
		empty, err = leave(w, loads)
		return nil, err
	})
	if err != nil {
		return fmt.Errorf("drop %d loads: %w", len(loads), err)
	}
	for _, at := range loads {
		b.where.forget(at)
	}
	return b.unlink(empty)
}

// KeepsAll implements sinks.Keeper: each file that loads name is there.
func (b blocks) KeepsAll(ctx context.Context) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var names []string
	err := b.db.read(func(c *conn) error {
		names = names[:0]
		return c.each(filesQuery, nil, func(values []driver.Value) error {
			names = append(names, string(bytesOf(values[0])))
			return nil
		})
	})
	if err != nil {
		return false, fmt.Errorf("list the files of loads: %w", err)
	}
	gone := false
	for _, name := range names {
		if !validName(name) {
			return false, nil
		}
		if _, err := os.Lstat(b.path(name)); err != nil {
			gone = true
			break
		}
	}
	if !gone {
		return true, nil
	}
	// A load that was dropped meanwhile leaves its file. What is gone for good is still named.
	used, err := b.where.inUse(names)
	for name := range used {
		if _, serr := os.Lstat(b.path(name)); serr != nil {
			return false, err
		}
	}
	return err == nil, err
}
