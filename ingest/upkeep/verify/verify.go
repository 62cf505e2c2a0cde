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
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/gather"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
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
	// Progress is called with the bytes of rows and files read so far, one call at a
	// time (nil: none). stage is rows or lake.
	Progress func(stage string, bytes uint64)
	// Alive tells whether a process still runs, if this host can know (nil: each lease is believed).
	Alive func(host, process string) (alive, known bool)
	Now   func() time.Time // nil: time.Now
	// Notes of runs that died: the loads in them are not read again, and those that are found whole are added. The caller
	// closes them. nil: all loads are read.
	Notes *Notes
}

// Report counts the contents of a store and lists its problems.
type Report struct {
	Job       string    `json:"job"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Artifacts int       `json:"artifacts"` // with a published load
	Loads     int       `json:"loads"`     // read back: published and previous
	Noted     int       `json:"noted"`     // loads among them that an earlier run had read
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
	v := &verifier{Options: o, cat: catalog.New(gather.Catalog(o.Store.Catalog), o.Keyring), sum: sha256.New(), large: make(chan struct{}, runtime.GOMAXPROCS(0)),
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
	rows   map[symbol.ID]bool // artifacts with rows that no record names
	bare   bool               // loads may have come without the ledger entries of their objects
	large  chan struct{}      // holds one token for each large load that is being read

	telling sync.Mutex // guards bytes and calls of Progress
	bytes   uint64     // of rows and files
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
	v.telling.Lock()
	defer v.telling.Unlock()
	if v.bytes += n; v.Progress != nil {
		v.Progress(stage, v.bytes)
	}
}

func (v *verifier) run(ctx context.Context) error {
	if err := v.audit(ctx); err != nil && ctx.Err() == nil {
		v.problem("audit", err)
	}
	v.loads(ctx)
	if err := v.dangling(ctx); err != nil && ctx.Err() == nil {
		v.problem("names", err)
	}

	each := func(take func(*entry) error) error {
		return v.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error { return take(&entry{Object: o}) })
	}
	err := parallel.Ordered(readAtOnce, each, func(o *entry) { v.object(ctx, o) }, func(o *entry) error {
		v.report.Objects++
		for _, err := range o.problems {
			v.problem("object "+o.URL, err)
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		v.problem("ledger", err)
	}
	v.conflicts(ctx)
	return ctx.Err()
}

// loads reads all records, with their rows, several at a time. It tells of them in order of their artifacts. Then it
// looks for rows that no record names.
func (v *verifier) loads(ctx context.Context) {
	var known []stored.Known
	each := func(take func(*window) error) error {
		w := &window{}
		err := v.cat.Artifacts.Each(ctx, func(r *catalog.Record) error {
			known = stored.AppendKnown(known, r, nil)
			if !w.takes(r) {
				if err := take(w); err != nil {
					return err
				}
				w = &window{}
			}
			w.readings, w.bytes = append(w.readings, &reading{v: v, r: r}), w.bytes+size(r)
			return nil
		})
		return errors.Join(err, take(w))
	}
	err := parallel.Ordered(2*runtime.GOMAXPROCS(0), each, func(w *window) { w.check(ctx, v) }, func(w *window) error {
		for _, d := range w.readings {
			d.tell()
		}
		if err := v.Notes.flush(); err != nil {
			v.problem("notes", err)
		}
		return ctx.Err()
	})
	if err != nil {
		if ctx.Err() == nil {
			v.problem("artifacts", err) // the records after it were not read
		}
		return
	}

	var strays []stored.Load
	err = stored.Strays(ctx, v.Store.Blocks, known, func(id symbol.ID, l sinks.Load) error {
		strays = append(strays, stored.Load{Artifact: id, ID: l})
		return nil
	})
	if err != nil && ctx.Err() == nil {
		v.problem("rows", err)
	}
	slices.SortFunc(strays, func(x, y stored.Load) int {
		return cmp.Or(bytes.Compare(x.Artifact[:], y.Artifact[:]), bytes.Compare(x.ID[:], y.ID[:]))
	})
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

// entry is a ledger entry that is being checked.
type entry struct {
	*catalog.Object
	problems []error
}

// object checks that the store publishes the artifacts that the ledger calls loaded.
func (v *verifier) object(ctx context.Context, o *entry) {
	if o.State != catalog.ObjectLoaded && o.State != catalog.ObjectKept && o.State != catalog.ObjectConflict && o.State != catalog.ObjectPublished {
		return
	}
	for _, a := range o.Artifacts {
		if a.Outcome == ledger.OutcomeConflict && o.State != catalog.ObjectPublished {
			if err := v.conflict(ctx, o.Object, &a); err != nil && ctx.Err() == nil {
				o.problems = append(o.problems, err)
			}
		}
		if a.Outcome != ledger.OutcomeLoaded && a.Outcome != ledger.OutcomeKept {
			continue
		}
		r, err := v.cat.Artifacts.Get(ctx, a.ID)
		if err == nil && (r == nil || r.Published == nil && r.State == catalog.Live) {
			err = fmt.Errorf("artifact %s is %s by the ledger, and not published", a.ID, a.Outcome)
		}
		if err != nil && ctx.Err() == nil {
			o.problems = append(o.problems, err)
		}
	}
}
