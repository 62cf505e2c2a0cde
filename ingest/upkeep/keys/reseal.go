package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build/spill"
	"github.com/symlake/symlake/ingest/build/sweep"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
	"github.com/symlake/symlake/sinks/scratch"
)

// ResealOptions names the artifacts that get new data keys.
type ResealOptions struct {
	Store       *sinks.Store
	Keyring     *row.Keyring
	Lake        sinks.Lake // nil: there is none
	Artifacts   []symbol.ID
	MemoryBytes int64  // for sorting classes anew
	Scratch     string // folder for sealed scratch files
	Owner       string // stands in the leases, for people
	Now         func() time.Time
	Progress    func(ResealReport) // is called after each artifact (nil: none)
}

// ResealReport tells what a resealing did.
type ResealReport struct {
	Artifacts int    `json:"artifacts"`
	Loads     int    `json:"loads"` // published and previous; gc drops the rows of the replaced loads after its grace
	Rows      uint64 `json:"rows"`
	Bytes     uint64 `json:"bytes"`
}

// Reseal gives the loads of artifacts new data keys, for example because a data key became known. A new
// load of the same content replaces each load, and gc drops the old rows. Reseal replaces an artifact
// whole or not at all. If the process dies, the next call begins the artifact again, and gc clears up.
func Reseal(ctx context.Context, o ResealOptions) (*ResealReport, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &resealer{ResealOptions: o, cat: catalog.New(o.Store.Catalog, o.Keyring), report: &ResealReport{}}
	for _, id := range o.Artifacts {
		if err := r.artifact(ctx, id); err != nil {
			return r.report, fmt.Errorf("reseal artifact %s: %w", id, err)
		}
		if o.Progress != nil {
			o.Progress(*r.report)
		}
	}
	if o.Lake != nil {
		if _, err := projection.Update(ctx, projection.Stores{Store: o.Store, Keyring: o.Keyring, Lake: o.Lake}, o.Artifacts); err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

// resealer is one resealing at work.
type resealer struct {
	ResealOptions
	cat    *catalog.Catalog
	report *ResealReport
}

// artifact reseals the loads of an artifact. It begins again if another load is published meanwhile.
func (r *resealer) artifact(ctx context.Context, id symbol.ID) error {
	for {
		rec, err := r.cat.Artifacts.Get(ctx, id)
		if err != nil || rec == nil || !record.Published(rec) {
			return err
		}
		again, err := r.record(ctx, rec)
		if err != nil || !again {
			return err
		}
	}
}

func (r *resealer) record(ctx context.Context, rec *catalog.Record) (again bool, err error) {
	olds := []*row.Loaded{rec.Previous, rec.Published} // so that the ids of loads ascend by age
	news := make([]*row.Loaded, len(olds))
	at := r.Now()
	next := record.Copy(rec, rec.ID)
	loads := make([]sinks.Load, len(olds))
	for i := range olds {
		if olds[i] != nil && len(olds[i].WrappedKey) > 0 {
			loads[i] = row.NewLoad(at.Add(time.Duration(i) * time.Millisecond))
			next.Progress = append(next.Progress, catalog.Progress{Load: loads[i], Owner: r.Owner, Lease: at.Add(record.LeaseTime)})
		}
	}
	if err := r.cat.Artifacts.Swap(ctx, rec, next); err != nil {
		return errors.Is(err, sinks.ErrConflict), unless(err, sinks.ErrConflict)
	}
	b, err := r.Store.Blocks.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer b.Abort()
	for i, l := range olds {
		if loads[i] == (sinks.Load{}) {
			continue
		}
		if l.Artifact.Kind == symbol.R8 {
			news[i], err = r.classes(ctx, rec.ID, l, loads[i], b)
		} else {
			news[i], err = r.rows(ctx, rec.ID, l, loads[i], b)
		}
		if err != nil {
			return false, fmt.Errorf("load %x: %w", l.Load, err)
		}
	}
	if err := b.Commit(ctx); err != nil {
		return false, err
	}
	return r.replace(ctx, rec, news)
}

func unless(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// replace publishes the new loads in place of the old ones, if these are still there.
func (r *resealer) replace(ctx context.Context, was *catalog.Record, news []*row.Loaded) (again bool, err error) {
	for {
		rec, err := r.cat.Artifacts.Get(ctx, was.ID)
		if err != nil {
			return false, err
		}
		if rec == nil || !record.Published(rec) {
			return false, nil // shredded or forgotten meanwhile: gc drops the new rows
		}
		next := record.Copy(rec, rec.ID)
		entered := map[sinks.Load]bool{}
		for _, p := range rec.Progress {
			entered[p.Load] = p.Owner == r.Owner
		}
		changed := 0
		for i, place := range []**row.Loaded{&next.Previous, &next.Published} {
			old := []*row.Loaded{was.Previous, was.Published}[i]
			if news[i] == nil || *place == nil || (*place).Load != old.Load || !entered[news[i].Load] {
				continue
			}
			next.Progress = append(next.Progress, catalog.Progress{Load: old.Load, Owner: record.Superseded, Lease: r.Now()})
			*place = news[i]
			changed++
			for k, p := range next.Progress {
				if p.Load == news[i].Load {
					next.Progress = append(next.Progress[:k], next.Progress[k+1:]...)
					break
				}
			}
		}
		for k, p := range next.Progress { // new loads without a place go to gc
			if p.Owner == r.Owner && (news[0] != nil && p.Load == news[0].Load || news[1] != nil && p.Load == news[1].Load) {
				next.Progress[k].Owner, next.Progress[k].Lease = record.Superseded, r.Now()
			}
		}
		err = r.cat.Artifacts.Swap(ctx, rec, next)
		if errors.Is(err, sinks.ErrConflict) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return false, err
		}
		r.report.Loads += changed
		if next.Published.Load == rec.Published.Load {
			return true, nil
		}
		r.report.Artifacts++
		for _, l := range news {
			if l != nil {
				r.report.Rows += l.Rows
				r.report.Bytes += l.Bytes
			}
		}
		return false, nil
	}
}

// rows seals the rows of a load again, one after the other.
func (r *resealer) rows(ctx context.Context, id symbol.ID, l *row.Loaded, to sinks.Load, b sinks.Batch) (*row.Loaded, error) {
	next, reseal, err := r.Keyring.Reseal(id, l, to)
	if err != nil {
		return nil, err
	}
	bytes := uint64(0)
	err = r.Store.Blocks.Scan(ctx, stored.Span(id, l.Load), func(rw sinks.Row) error {
		bytes += uint64(len(rw.Key) + len(rw.Value))
		again, err := reseal(rw)
		if err != nil {
			return err
		}
		return b.Write(again)
	})
	if err == nil && bytes != l.Bytes {
		err = fmt.Errorf("it has %d bytes of rows, its record says %d", bytes, l.Bytes)
	}
	return next, err
}

// classes sorts the classes of a load again, because their positions depend on the data key.
func (r *resealer) classes(ctx context.Context, id symbol.ID, l *row.Loaded, to sinks.Load, b sinks.Batch) (next *row.Loaded, err error) {
	secret := row.NewSecret()
	s := spill.New(spill.Options{Budget: scratch.NewBudget(r.MemoryBytes), Scratch: r.Scratch,
		StringBytes: max(r.MemoryBytes, spill.MinStringBytes), Position: secret.Position})
	defer func() { err = errors.Join(err, s.Close()) }()
	lane := s.Lane()
	if err := stored.Classes(ctx, r.Store, r.Keyring, id, l, func(c *symbol.Class) error { return lane.AddClass(0, c) }); err != nil {
		return nil, err
	}
	s.Sort()
	t := s.Table()
	enc, err := loads.NewEncoder(r.Keyring, &l.Artifact, to, secret, dictionary.Table{Strings: t.Strings, Runs: t.Runs, Numbers: t.Numbers}, b.Write)
	if err != nil {
		return nil, err
	}
	m, err := s.Merge()
	if err != nil {
		return nil, err
	}
	if _, err := sweep.Classes(m.NextClass, enc.AddClass); err != nil {
		return nil, err
	}
	if next, err = enc.Close(); err != nil {
		return nil, err
	}
	if next.Digest != l.Digest {
		return nil, errors.New("what came out is not what went in")
	}
	next.Format, next.Parser, next.Rank, next.At, next.Quality, next.Source = l.Format, l.Parser, l.Rank, l.At, l.Quality, l.Source
	return next, nil
}
