package lake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
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
	end, made, err := l.end(ctx)
	if err != nil || end.Number == 0 {
		return nil, err
	}
	p := &projected{l: l, end: end}
	st := &iceberg.State{Lake: end.Lake, Log: end.Number, Mark: end.MAC.String(), Made: made, Run: cmp.Or(o.Run, l.o.Run), Erase: o.Erase,
		Sealed: end.Profile == sinks.LakeSealed, Files: p.files, Since: p.since}
	tables, err := t.Publish(ctx, st, o.DryRun)
	if err != nil {
		return nil, err
	}
	var all []sinks.LakeTable
	for _, r := range tables {
		if st.Sealed && r.Snapshot == 0 && r.Err == nil {
			continue // there is no such table
		}
		all = append(all, sinks.LakeTable{Name: r.Table, Log: r.Log, Newest: end.Number, Snapshot: r.Snapshot, Changed: r.Changed, Err: r.Err})
	}
	return all, nil
}

// end returns the end of the log, and when its last entry was made.
func (l *Lake) end(ctx context.Context) (journal.Tail, time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(ctx); err != nil || l.tail.Number == 0 {
		return l.tail, time.Time{}, err
	}
	if n := len(l.recent); n > 0 {
		return l.tail, l.recent[n-1].Made, nil
	}
	e, err := l.log.Entry(ctx, l.tail.Number)
	if err != nil {
		return l.tail, time.Time{}, err
	}
	return l.tail, e.Made, nil
}

// projected tells the Iceberg tables what a lake holds at an entry of its log. No engine could read the files of a sealed lake:
// it has no tables. Safe for concurrent use.
type projected struct {
	l   *Lake
	end journal.Tail

	mu    sync.Mutex
	all   []iceberg.File              // nil: not asked yet
	after map[uint64]*iceberg.Changes // by entry; nil: the whole state tells
}

// files returns the files and rows that count. It costs the whole state of the log.
func (p *projected) files(ctx context.Context) ([]iceberg.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all != nil {
		return p.all, nil
	}
	err := p.l.view(ctx, func(s *journal.State) (err error) {
		if s.Number == p.end.Number {
			p.all, err = icebergFiles(&s.Changes)
		}
		return err
	})
	if err == nil && p.all == nil { // another writer went on meanwhile
		var s *journal.State
		if s, err = p.l.log.State(ctx, p.end.Number); err == nil {
			p.all, err = icebergFiles(&s.Changes)
		}
	}
	return p.all, err
}

// maxSince bounds the entries that are looked through: beyond, the state costs less.
const maxSince = 4 * journal.Every

// since returns what changed after an entry; nil: the whole state tells, because the log does not have the entries any more, or
// because they change much. It costs what changed.
func (p *projected) since(ctx context.Context, number uint64, mark string) (*iceberg.Changes, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.after[number]; ok {
		return c, nil
	}
	entries, err := p.l.between(ctx, number, mark, p.end)
	var c *iceberg.Changes
	if err == nil && entries != nil {
		c, err = p.l.changed(ctx, number, entries)
	}
	if errors.Is(err, bucket.ErrNotFound) || errors.Is(err, journal.ErrBroken) {
		c, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if p.after == nil {
		p.after = map[uint64]*iceberg.Changes{}
	}
	p.after[number] = c
	return c, nil
}

// between returns the entries after a number up to an end. mark is the MAC of the entry of that number. nil: the log has another
// such entry, or there are many.
func (l *Lake) between(ctx context.Context, number uint64, mark string, end journal.Tail) ([]*journal.Read, error) {
	var mac journal.MAC
	if number > end.Number || end.Number-number > maxSince || mac.UnmarshalText([]byte(mark)) != nil {
		return nil, nil
	}
	from := journal.Tail{Lake: end.Lake, Number: number, MAC: mac}
	l.mu.Lock()
	entries := l.recent
	l.mu.Unlock()
	for len(entries) > 0 && entries[0].Number <= number {
		entries = entries[1:]
	}
	if number < end.Number && (len(entries) == 0 || entries[0].Number != number+1) {
		var err error
		if entries, err = l.log.After(ctx, from); err != nil {
			return nil, err
		}
	}
	all := []*journal.Read{}
	for _, e := range entries {
		if e.Number > end.Number {
			break
		}
		if e.Number != from.Number+1 || e.Before != from.MAC {
			return nil, nil
		}
		all, from = append(all, e), from.To(e)
	}
	if from.Number != end.Number || from.MAC != end.MAC {
		return nil, nil
	}
	return all, nil
}

// maxChanged bounds the artifacts that are looked for in the log: beyond, the state costs less.
const maxChanged = 4096

// changed returns what entries after a number change. nil: that is much, or not to be told from them.
func (l *Lake) changed(ctx context.Context, number uint64, entries []*journal.Read) (*iceberg.Changes, error) {
	c := journal.NewChanges()
	for _, e := range entries {
		if e.Profile != sinks.LakePlain {
			return nil, nil
		}
		c.Add(e.Entry)
	}
	if len(c.Live) > maxChanged {
		return nil, nil
	}
	was, err := l.log.Find(ctx, number, slices.Collect(maps.Keys(c.Live)))
	if err != nil {
		return nil, err
	}
	x := &iceberg.Changes{Died: map[string][]iceberg.Span{}}
	for id, n := range c.Live {
		now, before := spansOf(n), spansOf(was[id])
		for _, span := range now {
			if f, ok := c.Files[span.File]; (!ok || f.Fate != journal.Counts) && !slices.Contains(before, span) {
				return nil, nil // rows of an older file that did not count
			}
		}
		for _, span := range before {
			f, told := c.Files[span.File]
			if told && f.Fate == journal.Counts { // it was listed again
				return nil, nil
			}
			if !told && !slices.Contains(now, span) {
				x.Died[span.File] = append(x.Died[span.File], iceberg.Span{First: span.First, Rows: span.Rows})
			}
		}
	}
	for path, f := range c.Files {
		if f.Fate != journal.Counts {
			x.Gone = append(x.Gone, path)
		}
	}
	x.Came, err = icebergFiles(c)
	return x, err
}

// spansOf returns where the rows of an artifact are; none: it has none.
func spansOf(n journal.Naming) (all []journal.Span) {
	for _, span := range []journal.Span{n.Rows, n.Facts, n.Names} {
		if !n.Gone && span.Rows > 0 {
			all = append(all, span)
		}
	}
	return all
}

// icebergFiles returns the files with rows that count, and these rows.
func icebergFiles(c *journal.Changes) ([]iceberg.File, error) {
	alive := map[string][]iceberg.Span{}
	for _, n := range c.Live {
		for _, span := range spansOf(n) {
			alive[span.File] = append(alive[span.File], iceberg.Span{First: span.First, Rows: span.Rows})
		}
	}
	all := []iceberg.File{}
	for _, f := range c.Counting() {
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
		all = append(all, iceberg.File{Table: f.Table, Path: f.Path, Kind: kind, Day: day, Rows: f.Rows, Bytes: f.Bytes, Live: live})
	}
	return all, nil
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
