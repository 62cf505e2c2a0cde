package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/parallel"
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

	have  bool        // found are all rows of the artifact
	found []sinks.Row // read with its neighbors

	problems      []report.Problem
	digest        [32]byte // of the published load
	read          int      // loads
	noted         int      // loads that an earlier run had read
	whole         []noted  // loads that were read, without a problem
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
	for _, t := range d.whole {
		v.Notes.add(t)
	}
	sum.Loads += d.read
	sum.Noted += d.noted
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
	if r.Published != nil && len(r.Names) > 0 { // gc and forget remove names before they empty the record
		has, err := v.cat.Names.HasAll(ctx, r.Names, r.ID)
		if err != nil {
			d.problem(where, err)
		}
		for i, ok := range has {
			if !ok {
				d.problem(where, fmt.Errorf("its name %q does not lead to it", r.Names[i].Text))
			}
		}
	}
	if r.Published != nil {
		d.digest = d.load(ctx, r.Published)
	}
	if r.Previous != nil {
		d.load(ctx, r.Previous)
	}
}

// scan emits the rows of a load.
func (d *reading) scan(ctx context.Context, l sinks.Load, emit func(sinks.Row) error) error {
	if !d.have {
		return d.v.Store.Blocks.Scan(ctx, stored.Span(d.r.ID, l), emit)
	}
	prefix := row.LoadPrefix(d.r.ID, l)
	for _, r := range d.found {
		if bytes.HasPrefix(r.Key, prefix) {
			if err := emit(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// window is records that follow each other. Their rows come in one scan if all loads are small.
type window struct {
	readings []*reading
	bytes    uint64 // of rows, as the records say
}

// A window has at most windowRecords records, and windowBytes of rows, unless it is one record.
const (
	windowRecords = 256
	windowBytes   = 4 << 20
)

// size returns the bytes of the rows of a record.
func size(r *catalog.Record) (n uint64) {
	for _, l := range []*row.Loaded{r.Published, r.Previous} {
		if l != nil {
			n += l.Bytes
		}
	}
	return n
}

// takes reports whether there is room for one record more.
func (w *window) takes(r *catalog.Record) bool {
	return len(w.readings) == 0 || len(w.readings) < windowRecords && w.bytes+size(r) <= windowBytes
}

// check checks the records of a window.
func (w *window) check(ctx context.Context, v *verifier) {
	if len(w.readings) > 1 && (v.Notes == nil || !w.noted(v)) {
		w.fetch(ctx, v)
	}
	parallel.DoMost(readAtOnce, len(w.readings), func(i int) { w.readings[i].check(ctx) })
}

// noted reports whether an earlier run read the loads of all records.
func (w *window) noted(v *verifier) bool {
	for _, d := range w.readings {
		for _, l := range []*row.Loaded{d.r.Published, d.r.Previous} {
			if l != nil && !v.Notes.has(tagOf(v.Keyring, d.r.ID, l)) {
				return false
			}
		}
	}
	return true
}

// fetch reads the rows of the window in one scan. After an error each load is read for itself, to tell which one is damaged.
// The scan ends early where rows lie between the records that the window does not know.
func (w *window) fetch(ctx context.Context, v *verifier) {
	of := make(map[symbol.ID]*reading, len(w.readings))
	for _, d := range w.readings {
		of[d.r.ID] = d
	}
	first, last := w.readings[0].r.ID, w.readings[len(w.readings)-1].r.ID
	read := 0
	err := v.Store.Blocks.Scan(ctx, sinks.Span{From: first[:], Stop: sinks.Under(last[:]).Stop}, func(r sinks.Row) error {
		if read += len(r.Key) + len(r.Value); read > 2*windowBytes {
			return errMuch
		}
		if d := of[symbol.ID(r.Key[:len(symbol.ID{})])]; d != nil {
			d.found = append(d.found, r)
		}
		return nil
	})
	for _, d := range w.readings {
		if d.have = err == nil; !d.have {
			d.found = nil
		}
	}
}

// errMuch ends a scan over more rows than the records of a window have.
var errMuch = errors.New("more rows than the records have")

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
	var tag noted
	if v.Notes != nil {
		if tag = tagOf(v.Keyring, d.r.ID, l); v.Notes.has(tag) {
			d.read, d.noted = d.read+1, d.noted+1
			d.rows, d.ranges, d.bytes = d.rows+l.Rows, d.ranges+l.Ranges, d.bytes+l.Bytes
			v.progress("rows", l.Bytes)
			return l.Digest
		}
	}
	if l.Bytes > largeBytes {
		v.large <- struct{}{}
		defer func() { <-v.large }()
	}
	d.read++
	check := opened.Verify()
	var rows, ranges, bytes uint64
	err = d.scan(ctx, l.Load, func(rw sinks.Row) error {
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
	switch {
	case err != nil && ctx.Err() == nil:
		d.problem(where, err)
	case err == nil && v.Notes != nil:
		d.whole = append(d.whole, tag)
	}
	return digest
}
