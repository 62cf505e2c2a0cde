package projection

import (
	"context"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// CompactOptions says how to compact a lake.
type CompactOptions struct {
	Stores
	TargetBytes int64         // 0: 128 MiB
	Grace       time.Duration // unnamed files stay so long (0: 24 hours)
	Profile     string        // change to this profile ("": keep the present one)
	Rekey       bool
	DryRun      bool
	Now         func() time.Time // nil: time.Now
	// Progress is called first, and after each artifact, from one goroutine (nil: none). total is 0 where it is not known.
	Progress func(done, total int)
}

// CompactReport tells what a compaction did, or would do.
type CompactReport struct {
	Job       string    `json:"job"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Added     int       `json:"added"`     // artifacts that the lake lacked
	Facts     int       `json:"facts"`     // artifacts with new names or counts
	Dropped   int       `json:"dropped"`   // artifacts that the store no longer publishes
	Rewritten int       `json:"rewritten"` // files
	Written   int       `json:"written"`   // files in their place
	Deleted   int       `json:"deleted"`   // files past their grace
	Before    int64     `json:"bytes_before"`
	After     int64     `json:"bytes_after"`
	Tables    []Table   `json:"tables,omitempty"`
}

// Compact brings a lake up to date with its store: it compares all artifacts if something may differ, as CatchUp does, also
// where a worker is at work. Then it rewrites small files, and files with rows of no more use, from the store's rows.
func Compact(ctx context.Context, o CompactOptions) (*CompactReport, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &CompactReport{Job: "compact", Started: o.Now()}
	defer func() { r.Seconds = o.Now().Sub(r.Started).Seconds() }()
	if o.Progress != nil {
		o.Progress(0, 0)
	}
	cat := catalog.New(o.Store.Catalog, o.Keyring)
	if !o.DryRun && o.Profile == "" {
		o.Stores.Now = o.Now
		noted, lags, err := lagging(ctx, o.Lake, cat)
		if err != nil {
			return r, err
		}
		if !noted || len(lags) > 0 {
			p, err := updateAll(ctx, o.Stores, cat, noted, lags, o.Progress)
			if err != nil {
				return r, err
			}
			r.Added, r.Facts, r.Dropped = p.Artifacts, p.Facts, p.Dropped
		}
	}
	work := Compaction(o.Store, cat, o.Keyring)
	work.TargetBytes, work.Grace, work.Profile, work.Rekey, work.DryRun, work.Now, work.Progress = o.TargetBytes, o.Grace, o.Profile, o.Rekey, o.DryRun, o.Now, o.Progress
	c, err := o.Lake.Compact(ctx, work)
	if err != nil {
		return r, err
	}
	r.Dropped += c.Dropped
	r.Tables = NewTables(c.Tables, o.DryRun)
	r.Rewritten, r.Written, r.Deleted, r.Before, r.After = c.Rewritten, c.Written, c.Deleted, c.Before, c.After
	return r, nil
}

// Compaction returns a compaction that takes rows from the store.
func Compaction(s *sinks.Store, cat *catalog.Catalog, k *row.Keyring) sinks.LakeCompact {
	return sinks.LakeCompact{
		Export: func(ctx context.Context, id symbol.ID, b sinks.LakeBatch) (*sinks.LakeLoad, error) {
			rec, err := cat.Artifacts.Get(ctx, id)
			if err != nil || rec == nil || !record.Published(rec) {
				return nil, err
			}
			if b != nil {
				if err := Export(ctx, s, k, rec, b); err != nil {
					return nil, err
				}
			}
			return LoadOf(rec), nil
		}}
}
