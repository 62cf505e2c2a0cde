package lake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/lake/iceberg"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// Names of the folders of a path that are columns of Iceberg tables.
const (
	kindFolder = "kind"
	dayFolder  = "day"
)

// icebergTables are the tables that engines find in a catalog.
func icebergTables() (all []iceberg.Table) {
	for _, t := range Tables() {
		if ids := columnIDs[t.Name]; ids != nil {
			all = append(all, iceberg.Table{Table: t, Kind: ids[kindFolder], Day: ids[dayFolder]})
		}
	}
	return all
}

// defaultGrace is how long what counts no more stays for readers.
const defaultGrace = 24 * time.Hour

// openTables opens the Iceberg tables; nil: the lake has none.
func (l *Lake) openTables(grace time.Duration, now func() time.Time) (*iceberg.Tables, error) {
	if l.o.NoTables {
		return nil, nil
	}
	return iceberg.Open(iceberg.Options{Bucket: l.b, Tables: icebergTables(), Catalog: l.o.Catalog, SingleWriter: l.o.SingleWriter, Grace: grace, Now: now})
}

// Publish implements sinks.Lake.
func (l *Lake) Publish(ctx context.Context, o sinks.LakePublish) ([]sinks.LakeTable, error) {
	t, err := l.openTables(defaultGrace, l.o.Now)
	if err != nil || t == nil {
		return nil, err
	}
	return l.publish(ctx, t, o)
}

func (l *Lake) publish(ctx context.Context, t *iceberg.Tables, o sinks.LakePublish) ([]sinks.LakeTable, error) {
	s, err := l.State(ctx, 0)
	if err != nil || s.Number == 0 {
		return nil, err
	}
	st, err := icebergState(s)
	if err != nil {
		return nil, err
	}
	st.Run, st.Erase = cmp.Or(o.Run, l.o.Run), o.Erase
	var all []sinks.LakeTable
	for _, r := range t.Publish(ctx, st, o.DryRun) {
		if st.Sealed && r.Snapshot == 0 && r.Err == nil {
			continue // there is no such table
		}
		all = append(all, sinks.LakeTable{Name: r.Table, Log: r.Log, Newest: s.Number, Snapshot: r.Snapshot, Changed: r.Changed, Err: r.Err})
	}
	return all, nil
}

// icebergState returns the files and rows that count. No engine could read the files of a sealed lake: it has no tables.
func icebergState(s *journal.State) (*iceberg.State, error) {
	to := &iceberg.State{Lake: s.Lake, Log: s.Number, Made: s.Made, Sealed: s.Profile == sinks.LakeSealed}
	if to.Sealed {
		return to, nil
	}
	alive := map[string][]iceberg.Span{}
	for _, n := range s.Live {
		for _, span := range []journal.Span{n.Rows, n.Facts, n.Names} {
			if span.Rows > 0 {
				alive[span.File] = append(alive[span.File], iceberg.Span{First: span.First, Rows: span.Rows})
			}
		}
	}
	for _, f := range s.Counting() {
		live := alive[f.Path]
		if len(live) == 0 {
			continue
		}
		slices.SortFunc(live, func(a, b iceberg.Span) int { return cmp.Compare(a.First, b.First) })
		at := uint64(0)
		for _, span := range live {
			if span.First < at || span.Rows > f.Rows || span.First > f.Rows-span.Rows {
				return nil, fmt.Errorf("%w: rows %d to %d of %s, which has %d, are outside it or of two loads", journal.ErrBroken, span.First, span.First+span.Rows, f.Path, f.Rows)
			}
			at = span.First + span.Rows
		}
		kind, day, err := partitionOf(f.Path)
		if err != nil {
			return nil, err
		}
		to.Files = append(to.Files, iceberg.File{Table: f.Table, Path: f.Path, Kind: kind, Day: day, Rows: f.Rows, Bytes: f.Bytes, Live: live})
	}
	return to, nil
}

// partitionOf returns the kind and the day of TABLE/kind=KIND/day=DAY/NAME.parquet.
func partitionOf(path string) (kind, day string, err error) {
	parts := strings.Split(path, "/")
	if len(parts) == 4 {
		kind, day = strings.TrimPrefix(parts[1], kindFolder+"="), strings.TrimPrefix(parts[2], dayFolder+"=")
	}
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return "", "", fmt.Errorf("%w: file %q is in no folder of a kind and a day", journal.ErrBroken, path)
	}
	return kind, day, nil
}

// shown is what the Iceberg tables still show to readers.
type shown struct {
	until map[string]time.Time // by table: files that the lake gave up later stay
	all   bool                 // it is not known: all files stay
}

// publishCompacted brings the tables up to a compaction, and finds out which files their readers still need. A catalog that
// refuses does not fail the compaction.
func (l *Lake) publishCompacted(ctx context.Context, o *sinks.LakeCompact, done *sinks.LakeCompacted) (s shown, err error) {
	t, err := l.openTables(o.Grace, o.Now)
	if err != nil || t == nil {
		return s, err
	}
	if done.Tables, err = l.publish(ctx, t, sinks.LakePublish{Erase: o.Erase, DryRun: o.DryRun}); err != nil {
		return s, err
	}
	if s.until, err = t.Held(ctx); err != nil {
		return shown{all: true}, context.Cause(ctx)
	}
	if done.Deleted, err = t.Clean(ctx, o.DryRun); err != nil { // the tables' own errors tell
		err = context.Cause(ctx)
	}
	return s, err
}

// shows reports whether a reader of the tables may need a retired file.
func (s *shown) shows(f *journal.Filed) bool {
	table, _, _ := strings.Cut(f.Path, "/")
	until, ok := s.until[table]
	return s.all || ok && f.At.After(until)
}
