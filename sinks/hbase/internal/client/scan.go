package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"time"
)

// ScanOptions say how to scan.
type ScanOptions struct {
	KeysOnly bool // cells come without values
	Once     bool // the rows are not read again soon: the server does not cache their blocks
	// FirstRows bounds the rows of the first answer of a region, PageBytes the bytes of each (0: many). Small ones are
	// for callers that have many scans under way, or that may stop early.
	FirstRows, PageBytes uint64
}

// Scan emits the cells of a span in order. What one region holds is of one moment, unless the
// region moves meanwhile. emit's error comes back unchanged. Without a deadline, patience is
// for each time that no row comes, not for the whole.
func (c *Client) Scan(ctx context.Context, t Table, col Column, span Span, o ScanOptions, emit func(Cell) error) error {
	for !span.empty() {
		end, err := c.scanRegion(ctx, t, col, &span, o, emit)
		if err != nil {
			return err
		}
		if len(end) == 0 {
			break
		}
		span.From = end
	}
	return ctx.Err()
}

// emitError carries emit's error past the retries.
type emitError struct{ err error }

func (e *emitError) Error() string { return e.err.Error() }

// scanRegion scans what the region of span's first key holds of it, and moves that key on. end
// is the region's.
func (c *Client) scanRegion(ctx context.Context, t Table, col Column, span *Span, o ScanOptions, emit func(Cell) error) (end []byte, err error) {
	for {
		came := false
		err = c.try(ctx, "scan", t, span.From, func(ctx context.Context, r *Region) error {
			end = r.End
			s := scan{start: span.From, stop: span.Stop, family: col.Family, qualifier: col.Qualifier, rows: cmp.Or(o.FirstRows, pageRows),
				keysOnly: o.KeysOnly, once: o.Once, page: true, bytes: cmp.Or(o.PageBytes, pageBytes)}
			return c.pages(ctx, r, s, func(row []Cell) error {
				came = true
				span.From = append(bytes.Clone(row[0].Row), 0)
				if err := emit(row[0]); err != nil {
					return &emitError{err}
				}
				return nil
			})
		})
		var stopped *emitError
		if errors.As(err, &stopped) {
			return nil, stopped.err
		}
		if late := (*timeoutError)(nil); err == nil || ctx.Err() != nil || !came || !errors.As(err, &late) {
			return end, err
		}
	}
}

// renewAfter is how long a scanner may hear nothing of us before it is told that we still read. It is
// given up by the server after a minute.
const renewAfter = 15 * time.Second

// pages opens a scanner in a region and emits its rows, page by page.
func (c *Client) pages(ctx context.Context, r *Region, s scan, emit func(row []Cell) error) error {
	key := connKey{r.Server, clientService, ""}
	param := s.request(r)
	var scanner uint64
	for seq := uint64(0); ; seq++ {
		a, err := c.attempt(ctx, key, &call{method: "Scan", param: param}, c.o.Attempt)
		if err != nil {
			return err
		}
		got, err := readScan(a)
		if err != nil {
			return err
		}
		if seq == 0 {
			scanner = got.scanner
		}
		open := got.more && got.inside
		heard := time.Now()
		for _, row := range got.rows {
			if err := emit(row); err != nil {
				if open {
					c.closeScanner(key, scanner)
				}
				return err
			}
			if open && time.Since(heard) > renewAfter {
				heard = time.Now()
				renew := message(nil).number(3, scanner).number(4, 0).flag(10, true)
				if _, err := c.attempt(ctx, key, &call{method: "Scan", param: renew}, c.o.Attempt); err != nil && actionOf(err) == giveUp {
					return err // any other will come back with the next page
				}
			}
		}
		if !open {
			return nil
		}
		param = message(nil).number(3, scanner).number(4, pageRows).number(6, seq)
	}
}

// closeScanner tells the server that the client reads no further. The server finds out by itself after a minute.
func (c *Client) closeScanner(key connKey, scanner uint64) {
	wait := min(time.Second, c.o.Attempt)
	_, _ = c.attempt(context.Background(), key, &call{method: "Scan", param: message(nil).number(3, scanner).flag(5, true)}, wait)
}
