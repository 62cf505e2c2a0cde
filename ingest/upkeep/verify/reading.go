package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/loads"
)

const (
	// readAtOnce artifacts are read at a time, so that they share requests. Of loads with more than largeBytes of
	// rows, as many as there are processors.
	readAtOnce = 64
	largeBytes = 1 << 20
)

// reading is a record and its loads, read beside others. What it finds goes into the report in order of artifacts.
type reading struct {
	v *verifier
	r *catalog.Record

	problems      []report.Problem
	digest        [32]byte // of the published load
	read          int      // loads
	shredded      int
	rows          uint64
	ranges, bytes uint64
}

func (d *reading) problem(where string, err error) {
	d.problems = append(d.problems, report.Problem{Where: where, Error: err.Error()})
}

// tell adds a reading to the report.
func (d *reading) tell() {
	v, sum := d.v, d.v.report
	v.known[d.r.ID] = true
	for _, p := range d.problems {
		v.problem(p.Where, errors.New(p.Error))
	}
	if d.r.Published != nil {
		sum.Artifacts++
		v.sum.Write(d.r.ID[:])
		v.sum.Write(d.digest[:])
	}
	sum.Loads += d.read
	sum.Shredded += d.shredded
	sum.Rows += d.rows
	sum.Ranges += d.ranges
	sum.Bytes += d.bytes
}

// check checks the record, and reads its loads back.
func (d *reading) check(ctx context.Context) {
	r, v := d.r, d.v
	where := "artifact " + r.ID.String()
	if err := errors.Join(v.source(ctx, r.Published), v.waiters(ctx, r)); err != nil {
		d.problem(where, err)
	}
	for _, n := range r.Names {
		if r.Published == nil {
			break // gc and forget remove names before they empty the record
		}
		ok, err := v.cat.Names.Has(ctx, n.Text, r.ID)
		if err == nil && !ok {
			err = fmt.Errorf("its name %q does not lead to it", n.Text)
		}
		if err != nil {
			d.problem(where, err)
		}
	}
	if r.Published != nil {
		d.digest = d.load(ctx, r.Published)
	}
	if r.Previous != nil {
		d.load(ctx, r.Previous)
	}
}

// load reads one load back. It returns the digest of the load's content, or zero.
func (d *reading) load(ctx context.Context, l *row.Loaded) (digest [32]byte) {
	v := d.v
	where := fmt.Sprintf("load %x of %s", l.Load, d.r.ID)
	opened, err := loads.Open(v.Keyring, d.r.ID, l)
	if errors.Is(err, row.ErrShredded) {
		d.shredded++
		return digest
	}
	if err != nil {
		d.problem(where, err)
		return digest
	}
	if l.Bytes > largeBytes {
		v.large <- struct{}{}
		defer func() { <-v.large }()
	}
	d.read++
	check := opened.Verify()
	var rows, ranges, bytes uint64
	err = v.Store.Blocks.Scan(ctx, stored.Span(d.r.ID, l.Load), func(rw sinks.Row) error {
		bytes += uint64(len(rw.Key) + len(rw.Value))
		v.progress("rows", uint64(len(rw.Key)+len(rw.Value)))
		b, err := check.Add(rw)
		if err != nil || b == nil {
			return err
		}
		rows++
		for i := range b.Classes.Len() {
			if b.Classes.Name(i) != "" {
				ranges++
			}
		}
		return b.Each(func(start, end uint64, _ []symbol.Frame) error {
			ranges++
			return nil
		})
	})
	d.rows += rows
	d.ranges += ranges
	d.bytes += bytes
	if err == nil {
		err = opened.Err()
	}
	if err == nil {
		digest, err = check.Digest()
	}
	switch {
	case err != nil:
	case digest != l.Digest:
		err = errors.New("its content is not what its record says")
	case rows != l.Rows || ranges != l.Ranges || bytes != l.Bytes:
		err = fmt.Errorf("%d rows, %d ranges, %d bytes; its record says %d, %d, %d", rows, ranges, bytes, l.Rows, l.Ranges, l.Bytes)
	}
	if err != nil && ctx.Err() == nil {
		d.problem(where, err)
	}
	return digest
}
