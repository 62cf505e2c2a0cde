// Package verify reads a store back and lists all that differs from the written.
//
//	audit        the chain of events
//	rows         each load against the fence, seals and digest of its record; rows without a record
//	names        lead to artifacts, and back
//	ledger       artifacts and conflicts that it names are in the store
//	obligations  work that no process does
//	outbox       reports that wait to be told
//	lake         names and holds what the store publishes
//
// [Report].Digest is over identity and content of all published loads, so equal stores have equal
// digests.
package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/loads"
)

// Options names the store to read.
type Options struct {
	Store   *sinks.Store
	Keyring *row.Keyring
	Lake    sinks.Lake // nil: there is none
	// AuditHead is a head of the audit that was noted outside the store. The events must go on from it
	// ("": none was noted).
	AuditHead string
	// Problem is called with each problem as Run finds it, beside the report (nil: none).
	Problem func(report.Problem)
	// Progress is called with the bytes of rows and files read so far, from one goroutine (nil: none). stage is rows or
	// lake.
	Progress func(stage string, bytes uint64)
	// Alive tells whether a process still runs, if this host can know (nil: each lease is believed).
	Alive func(host, process string) (alive, known bool)
	Now   func() time.Time // nil: time.Now
}

// Report counts the contents of a store and lists its problems.
type Report struct {
	Job       string    `json:"job"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Artifacts int       `json:"artifacts"` // with a published load
	Loads     int       `json:"loads"`     // read back: published and previous
	Shredded  int       `json:"shredded"`  // loads with destroyed keys: not readable, and no problem
	Rows      uint64    `json:"rows"`
	Ranges    uint64    `json:"ranges"`
	Bytes     uint64    `json:"bytes"`
	Objects   int       `json:"objects"` // ledger entries
	Events    int       `json:"events"`  // of the audit
	AuditHead string    `json:"audit_head"`
	InLake    int       `json:"in_lake"` // artifacts that the lake names
	// Waiting counts work that a live run may be about to do: artifacts to name in the lake, objects to
	// derive again.
	Waiting int `json:"waiting"`
	// Digest is over the identity and content of each published load, in order of artifacts. Equal
	// content has equal digests.
	Digest   string           `json:"digest"`
	Problems []report.Problem `json:"problems"`
}

// Run reads everything back. It goes on after a problem. The error comes from ctx, or from a store that
// cannot be read at all.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	v := &verifier{Options: o, cat: catalog.New(o.Store.Catalog, o.Keyring), sum: sha256.New(),
		known: make(map[symbol.ID]bool), rows: make(map[symbol.ID]bool),
		report: &Report{Job: "verify", Started: o.Now(), Problems: []report.Problem{}}}
	err := v.run(ctx)
	if err == nil {
		err = v.obligations(ctx)
	}
	if err == nil {
		err = v.outbox(ctx)
	}
	if err == nil {
		err = v.lake(ctx)
	}
	v.report.Digest = hex.EncodeToString(v.sum.Sum(nil))
	v.report.Seconds = o.Now().Sub(v.report.Started).Seconds()
	return v.report, err
}

// verifier is one verification at work.
type verifier struct {
	Options
	cat    *catalog.Catalog
	sum    hash.Hash
	report *Report
	known  map[symbol.ID]bool // artifacts that have a record
	read   uint64             // bytes of rows
	rows   map[symbol.ID]bool // artifacts with rows that no record names
	bare   bool               // loads may have come without the ledger entries of their objects
}

func (v *verifier) problem(where string, err error) {
	p := report.Problem{Where: where, Error: err.Error()}
	v.report.Problems = append(v.report.Problems, p)
	if v.Options.Problem != nil {
		v.Options.Problem(p)
	}
}

// progress tells of n more bytes.
func (v *verifier) progress(stage string, n uint64) {
	if v.read += n; v.Progress != nil {
		v.Progress(stage, v.read)
	}
}

// errUnread ends a listing that nothing reads on.
var errUnread = errors.New("no more loads are asked for")

func (v *verifier) run(ctx context.Context) error {
	if err := v.audit(ctx); err != nil && ctx.Err() == nil {
		v.problem("audit", err)
	}
	v.loads(ctx)
	if err := v.dangling(ctx); err != nil && ctx.Err() == nil {
		v.problem("names", err)
	}

	err := v.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		v.report.Objects++
		return v.object(ctx, o)
	})
	if err != nil && ctx.Err() == nil {
		v.problem("ledger", err)
	}
	v.conflicts(ctx)
	return ctx.Err()
}

// loads reads records and rows side by side: both come in order of their artifacts.
func (v *verifier) loads(ctx context.Context) {
	var scanErr error
	next, stop := iter.Pull(func(yield func(stored.Load) bool) {
		scanErr = stored.Each(ctx, v.Store.Blocks, func(id symbol.ID, l sinks.Load) error {
			if !yield(stored.Load{Artifact: id, ID: l}) {
				return errUnread
			}
			return nil
		})
	})
	defer stop()

	load, more := next()
	var strays []stored.Load
	unnamed := func() {
		strays = append(strays, load)
		load, more = next()
	}
	err := v.cat.Artifacts.Each(ctx, func(r *catalog.Record) error {
		for more && string(load.Artifact[:]) < string(r.ID[:]) {
			unnamed()
		}
		for more && load.Artifact == r.ID {
			if record.Knows(r, load.ID) {
				load, more = next()
			} else {
				unnamed()
			}
		}
		return v.record(ctx, r)
	})
	if err != nil && ctx.Err() == nil {
		v.problem("artifacts", err) // the records after it were not read
	} else {
		for more && ctx.Err() == nil {
			unnamed()
		}
	}
	if scanErr != nil && scanErr != errUnread && ctx.Err() == nil {
		v.problem("rows", scanErr)
	}

	for _, l := range strays { // their record may have come since: it is written before the first row
		r, err := v.cat.Artifacts.Get(ctx, l.Artifact)
		if err == nil && (r == nil || !record.Knows(r, l.ID)) {
			err = errors.New("no record names its rows")
		}
		if err != nil && ctx.Err() == nil {
			v.rows[l.Artifact] = true
			v.problem(fmt.Sprintf("load %x of %s", l.ID, l.Artifact), err)
		}
	}
}

func (v *verifier) record(ctx context.Context, r *catalog.Record) error {
	where := "artifact " + r.ID.String()
	v.known[r.ID] = true
	if err := errors.Join(v.source(ctx, r.Published), v.waiters(ctx, r)); err != nil {
		v.problem(where, err)
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
			v.problem(where, err)
		}
	}
	if l := r.Published; l != nil {
		v.report.Artifacts++
		digest := v.load(ctx, r, l)
		v.sum.Write(r.ID[:])
		v.sum.Write(digest[:])
	}
	if r.Previous != nil {
		v.load(ctx, r, r.Previous)
	}
	return ctx.Err()
}

// load reads one load back. It returns the digest of the load's content, or zero.
func (v *verifier) load(ctx context.Context, r *catalog.Record, l *row.Loaded) (digest [32]byte) {
	where := fmt.Sprintf("load %x of %s", l.Load, r.ID)
	opened, err := loads.Open(v.Keyring, r.ID, l)
	if errors.Is(err, row.ErrShredded) {
		v.report.Shredded++
		return digest
	}
	if err != nil {
		v.problem(where, err)
		return digest
	}
	v.report.Loads++
	check := opened.Verify()
	var rows, ranges, bytes uint64
	err = v.Store.Blocks.Scan(ctx, stored.Span(r.ID, l.Load), func(rw sinks.Row) error {
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
	v.report.Rows += rows
	v.report.Ranges += ranges
	v.report.Bytes += bytes
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
		v.problem(where, err)
	}
	return digest
}

// object checks that the store publishes the artifacts that the ledger calls loaded.
func (v *verifier) object(ctx context.Context, o *catalog.Object) error {
	if o.State != catalog.ObjectLoaded && o.State != catalog.ObjectKept && o.State != catalog.ObjectConflict && o.State != catalog.ObjectPublished {
		return ctx.Err()
	}
	for _, a := range o.Artifacts {
		if a.Outcome == ledger.OutcomeConflict && o.State != catalog.ObjectPublished {
			v.conflict(ctx, o, &a)
		}
		if a.Outcome != ledger.OutcomeLoaded && a.Outcome != ledger.OutcomeKept {
			continue
		}
		r, err := v.cat.Artifacts.Get(ctx, a.ID)
		if err == nil && (r == nil || r.Published == nil && r.State == catalog.Live) {
			err = fmt.Errorf("artifact %s is %s by the ledger, and not published", a.ID, a.Outcome)
		}
		if err != nil && ctx.Err() == nil {
			v.problem("object "+o.URL, err)
		}
	}
	return ctx.Err()
}
