package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/row"
)

// ShredOptions names the artifacts to shred.
type ShredOptions struct {
	Store     *sinks.Store
	Keyring   *row.Keyring
	Lake      sinks.Lake // nil: there is none
	Artifacts []symbol.ID
	// Alone says that the caller holds the store's ingest lock. Then no process is about to name the
	// unnamed files of the lake.
	Alone bool
	Now   func() time.Time // nil: time.Now
}

// ShredReport tells what a shredding did, and what it could not reach.
type ShredReport struct {
	Job       string      `json:"job"`
	Started   time.Time   `json:"started"`
	Seconds   float64     `json:"seconds"`
	Artifacts []symbol.ID `json:"artifacts"`
	Loads     int         `json:"loads"`      // their keys were destroyed and their rows deleted
	LakeFiles int         `json:"lake_files"` // deleted
	// Left names places that may still hold symbols or keys to them: bucket objects, copies, backups.
	Left []string `json:"left"`
}

// Shred destroys the keys of all loads of artifacts, in this order:
//
//  1. The lake is published without them, and the files with their rows are deleted.
//  2. Their keys go from the catalog, and from its past.
//  3. Their rows go. Small loads may share a file with other loads: then their sealed bytes stay in it,
//     and no key opens them.
//
// From then on the artifacts answer "sealed", and only a forced ingest brings them back. If the process
// dies, the next call ends the work. Shred goes over an artifact again that was shredded before.
func Shred(ctx context.Context, o ShredOptions) (*ShredReport, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &shredder{ShredOptions: o, cat: catalog.New(o.Store.Catalog, o.Keyring),
		report: &ShredReport{Job: "shred", Started: o.Now(), Artifacts: o.Artifacts, Left: []string{}}}
	err := s.run(ctx)
	s.report.Seconds = o.Now().Sub(s.report.Started).Seconds()
	return s.report, err
}

// shredder is one shredding at work.
type shredder struct {
	ShredOptions
	cat    *catalog.Catalog
	report *ShredReport
	drop   [][]byte
}

func (s *shredder) run(ctx context.Context) error {
	if err := s.eraseLake(ctx); err != nil {
		return fmt.Errorf("take it out of the lake (no key was touched yet): %w", err)
	}
	for _, id := range s.Artifacts {
		if err := s.destroy(ctx, id); err != nil {
			return fmt.Errorf("destroy the keys of artifact %s: %w", id, err)
		}
	}

	// An ingest may have named an artifact again before its key was gone.
	if err := s.eraseLake(ctx); err != nil {
		return fmt.Errorf("take it out of the lake: %w", err)
	}
	if s.Store.Purge != nil {
		beyond, err := s.Store.Purge(ctx)
		s.report.Left = append(s.report.Left, beyond...)
		if err != nil {
			return fmt.Errorf("purge the catalog's past: %w", err)
		}
	}
	if len(s.drop) > 0 {
		if err := s.Store.Blocks.Drop(ctx, s.drop); err != nil {
			return fmt.Errorf("delete its rows: %w", err)
		}
	}
	return s.elsewhere(ctx)
}

// eraseLake publishes the lake without the artifacts and deletes the files with their rows.
func (s *shredder) eraseLake(ctx context.Context) error {
	if s.Lake == nil {
		return nil
	}
	if err := s.Lake.Drop(ctx, s.Artifacts); err != nil {
		return err
	}
	c := projection.Compaction(s.Store, s.cat, s.Keyring)
	c.Erase, c.Now = true, s.Now
	if s.Alone {
		c.Grace = 1
	}
	done, err := s.Lake.Compact(ctx, c)
	if err != nil {
		return err
	}
	s.report.LakeFiles += done.Deleted
	for _, t := range done.Tables {
		if t.Err != nil {
			s.report.Left = append(s.report.Left, fmt.Sprintf("snapshots, which name deleted files: %v", t.Err))
		}
	}
	if done.Unnamed > 0 {
		s.report.Left = append(s.report.Left, fmt.Sprintf("%d files of the lake that are being written, or that a process left when it died: symlake compact deletes them after its grace", done.Unnamed))
	}
	return nil
}

// destroy takes the wrapped keys out of an artifact's record.
func (s *shredder) destroy(ctx context.Context, id symbol.ID) error {
	for {
		old, err := s.cat.Artifacts.Get(ctx, id)
		if err != nil {
			return err
		}
		if old == nil {
			return errors.New("the store knows nothing of it")
		}
		next := record.Copy(old, id)
		next.State = catalog.Shredded
		var drop [][]byte
		for _, l := range []**row.Loaded{&next.Published, &next.Previous} {
			if *l == nil {
				continue
			}
			bare := **l
			bare.WrappedKey = nil
			*l = &bare
			drop = append(drop, row.LoadPrefix(id, bare.Load))
		}
		// Keys of older loads left the record when they were replaced; their rows wait for gc.
		for _, p := range next.Progress {
			if p.Owner == record.Superseded {
				drop = append(drop, row.LoadPrefix(id, p.Load))
			}
		}
		err = s.cat.Artifacts.Swap(ctx, old, next)
		if err == nil {
			s.report.Loads += len(drop)
			s.drop = append(s.drop, drop...)
			return nil
		}
		if !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// elsewhere lists where the symbols still are: in objects, by the ledger, and in other stores, by the
// audit.
func (s *shredder) elsewhere(ctx context.Context) error {
	err := s.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		for _, a := range o.Artifacts {
			if slices.Contains(s.Artifacts, a.ID) {
				s.tell("object %s", ledger.Place(o.URL, a.Member))
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = s.cat.Audit.Each(ctx, func(e audit.Event) error {
		switch e.What {
		case "load", "copied":
			s.tell("%s (%s, %s)", e.Detail, e.What, e.At.Format(time.RFC3339))
		case "export":
			s.tell("copies of lake files whose readers hold %s (exported %s by %s)", e.Detail, e.At.Format(time.RFC3339), e.Who)
		}
		return nil
	})
	s.tell("look-up clients that read it, until their catalog TTL is over (a minute, unless set otherwise)")
	return err
}

// tell adds a place to report.Left, once.
func (s *shredder) tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(s.report.Left, text) && len(s.report.Left) < report.MaxListed {
		s.report.Left = append(s.report.Left, text)
	}
}
