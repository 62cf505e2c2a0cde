package lake

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

const (
	targetBytes = 128 << 20
	// A step of a compaction takes files of at most so many times the target: it sorts their artifacts and keeps its new files
	// in scratch.
	stepTargets = 16
)

// errProfileMoved: while a lake was converted, another writer added files of the old profile. The compaction begins again.
var errProfileMoved = errors.New("files came while the lake was converted")

// Compact implements sinks.Lake. Each step writes files anew from the store's rows, ordered by artifact, and replaces the old
// files in one entry of the log. A lake of an earlier version gets its log.
func (l *Lake) Compact(ctx context.Context, o sinks.LakeCompact) (*sinks.LakeCompacted, error) {
	if o.Now == nil {
		o.Now = l.o.Now
	}
	if o.TargetBytes == 0 {
		o.TargetBytes = targetBytes
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	c := &compaction{l: l, o: o, done: &sinks.LakeCompacted{}}
	s, err := l.State(ctx, 0)
	if err != nil || s.Profile == "" {
		return c.done, err
	}
	c.done.Before = total(s)
	if s.Number == 0 && !o.DryRun {
		if err := l.takeOver(ctx); err != nil {
			return nil, err
		}
	}
	for range maxRebases {
		if err = c.run(ctx); !errors.Is(err, errProfileMoved) && !errors.Is(err, errRowsMoved) {
			break
		}
	}
	if err == nil {
		c.shown, err = l.publishCompacted(ctx, &c.o, c.done)
	}
	if err == nil {
		err = c.clean(ctx)
	}
	if err != nil {
		return nil, err
	}
	if s, err = l.State(ctx, 0); err == nil {
		c.done.After = total(s)
	}
	return c.done, err
}

func total(s *journal.State) (n int64) {
	for _, f := range s.Counting() {
		n += f.Bytes
	}
	return n
}

type compaction struct {
	l     *Lake
	o     sinks.LakeCompact
	done  *sinks.LakeCompacted
	shown shown
}

// run rewrites the files that are worth it, a step at a time.
func (c *compaction) run(ctx context.Context) error {
	s, err := c.l.State(ctx, 0)
	if err != nil {
		return err
	}
	profile := c.o.Profile
	if profile == "" {
		profile = s.Profile
	}
	converts := profile != s.Profile
	steps := c.plan(s, profile)
	if c.o.DryRun {
		for _, files := range steps {
			c.done.Rewritten += len(files)
		}
		return nil
	}
	if converts {
		// In one entry: a lake is of one profile.
		var all []string
		for _, files := range steps {
			all = append(all, files...)
		}
		return c.step(ctx, s, profile, all)
	}
	for _, files := range steps {
		if err := c.step(ctx, s, profile, files); err != nil {
			return err
		}
		if s, err = c.l.State(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// plan returns, by kind and day, the files that are worth rewriting together.
func (c *compaction) plan(s *journal.State, profile string) [][]string {
	alive := map[string]int{} // loads that count, by file
	for _, n := range s.Live {
		alive[n.Rows.File]++
		alive[n.Facts.File]++
		alive[n.Names.File]++
	}
	type group struct {
		must  []journal.Filed
		small map[string][]journal.Filed // by table
	}
	groups := map[string]*group{}
	var order []string
	for _, e := range s.Counting() {
		_, where, _ := strings.Cut(path.Dir(e.Path), "/")
		g := groups[where]
		if g == nil {
			g = &group{small: map[string][]journal.Filed{}}
			groups[where] = g
			order = append(order, where)
		}
		switch {
		case profile != s.Profile, c.o.Rekey && e.Key != c.l.o.Keys.Newest && profile == sinks.LakeSealed, alive[e.Path] < e.Loads:
			g.must = append(g.must, e)
		case e.Bytes < c.o.TargetBytes/2 && !c.o.Erase:
			g.small[e.Table] = append(g.small[e.Table], e)
		}
	}
	slices.Sort(order)
	var steps [][]string
	for _, where := range order {
		g := groups[where]
		files := g.must
		for _, t := range Tables() {
			small := g.small[t.Name]
			if len(small) > 1 || len(small) == 1 && slices.ContainsFunc(g.must, func(e journal.Filed) bool { return e.Table == t.Name }) {
				files = append(files, small...)
			}
		}
		var now []string
		var size int64
		for _, e := range files {
			if size += e.Bytes; size > stepTargets*c.o.TargetBytes && len(now) > 0 {
				steps, now, size = append(steps, now), nil, e.Bytes
			}
			now = append(now, e.Path)
		}
		if len(now) > 0 {
			steps = append(steps, now)
		}
	}
	return steps
}

// step rewrites the live rows of files and retires the files.
func (c *compaction) step(ctx context.Context, s *journal.State, profile string, files []string) error {
	old := map[string]bool{}
	for _, f := range files {
		if _, counts := s.Find(f); counts { // else an earlier step has taken it
			old[f] = true
		}
	}
	if len(old) == 0 && profile == s.Profile {
		return nil
	}
	ids := withFacts(s, old)
	b := newBatch(c.l, profile)
	b.sorted = true
	b.target = c.o.TargetBytes
	defer b.Abort()
	var loads []*sinks.LakeLoad
	var gone []symbol.ID
	for i, id := range ids {
		if c.o.Progress != nil {
			c.o.Progress(i, len(ids))
		}
		to := sinks.LakeBatch(b)
		if was := s.Live[id].Rows.File; !old[was] && was != "" {
			to = nil
		}
		x, err := c.o.Export(ctx, id, to)
		if err != nil {
			return fmt.Errorf("compact artifact %s: %w", id, err)
		}
		if x == nil {
			gone = append(gone, id)
			continue
		}
		if to == nil && x.Load != s.Live[id].Load {
			continue // it was published anew: the batch that names the new load moves it
		}
		loads = append(loads, x)
	}
	b.end()
	err := b.commit(ctx, loads, &edit{expected: s.Live, last: func(now *journal.State, e *journal.Entry) error { return retire(s, now, e, old, gone, profile) }})
	if err != nil {
		return err
	}
	c.done.Rewritten += len(old)
	c.done.Dropped += len(gone)
	for _, o := range b.outputs {
		if o.Rows > 0 {
			c.done.Written++
		}
	}
	return nil
}

// withFacts adds the files of facts and names of moving loads to old, since such files move whole. It returns the
// artifacts with a file in old, ascending.
func withFacts(s *journal.State, old map[string]bool) (ids []symbol.ID) {
	for n := -1; n < len(old); {
		n = len(old)
		for _, r := range s.Live {
			if old[r.Rows.File] || old[r.Facts.File] || old[r.Names.File] {
				old[r.Facts.File] = true
				if r.Names.File != "" {
					old[r.Names.File] = true
				}
			}
		}
	}
	for id, r := range s.Live {
		if old[r.Rows.File] || old[r.Facts.File] || old[r.Names.File] {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
	return ids
}

// retire takes the artifacts gone out of the lake, and retires the files old that it names no more. s is the lake as the step
// saw it, and now as e finds it.
func retire(s, now *journal.State, e *journal.Entry, old map[string]bool, gone []symbol.ID, profile string) error {
	named := map[string]bool{}
	name := func(n journal.Live) { named[n.Rows.File], named[n.Facts.File], named[n.Names.File] = true, true, true }
	moved := map[symbol.ID]bool{}
	for _, n := range e.Live {
		moved[n.Artifact] = true
		name(n.Live)
	}
	for _, id := range gone {
		if n, ok := now.Live[id]; ok && n.Live == s.Live[id].Live && !moved[id] {
			e.Gone = append(e.Gone, journal.ID(id))
			moved[id] = true
		}
	}
	for id, n := range now.Live {
		if !moved[id] {
			name(n.Live)
		}
	}
	for _, f := range now.Counting() {
		switch {
		case old[f.Path] && !named[f.Path]:
			e.Retired = append(e.Retired, f.Path)
		case (f.Key == 0) != (profile == sinks.LakePlain):
			return errProfileMoved
		}
	}
	return nil
}

// clean deletes what the log has not named for the grace: retired files, files that it never named, entries and checkpoints
// before a checkpoint of that age, with their parts.
func (c *compaction) clean(ctx context.Context) error {
	before := c.o.Now().Add(-c.o.Grace)
	if !c.o.DryRun {
		if err := c.l.collapse(ctx, c.o.Rekey); err != nil {
			return err
		}
	}
	floor, parts, err := c.l.floor(ctx, before)
	if err != nil {
		return err
	}
	var erased []string
	if !c.o.DryRun {
		err := c.l.change(ctx, "", nil, func(v seen) (*journal.Entry, error) {
			e := &journal.Entry{Made: c.l.o.Now().UTC(), Profile: v.state.Profile}
			for _, f := range v.Retiring() {
				if c.o.Erase || !f.At.After(before) && !c.shown.shows(&f) {
					e.Deleted = append(e.Deleted, f.Path)
				}
			}
			if floor > v.state.Forgotten+1 {
				e.Forgotten = floor - 1
			}
			if erased = e.Deleted; len(e.Deleted) == 0 && e.Forgotten == 0 {
				return nil, nil
			}
			return e, nil
		})
		if err != nil {
			return err
		}
	}
	s, err := c.l.State(ctx, 0)
	if err != nil {
		return err
	}
	old, err := readLegacy(ctx, c.l.b)
	if err != nil {
		return err
	}
	var drop []string
	err = c.l.b.List(ctx, "", "", func(e bucket.Entry) error {
		_, named := s.Files[e.Key]
		switch {
		case !ours(e.Key), named, parts[e.Key], logged(e.Key, floor), s.Number == 0, e.Key == manifestKey(old.newest):
		case !e.Modified.After(before) || slices.Contains(erased, e.Key):
			drop = append(drop, e.Key)
		case path.Ext(e.Key) == ".parquet":
			c.done.Unnamed++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list the lake: %w", err)
	}
	c.done.Deleted += len(drop)
	if c.o.DryRun || len(drop) == 0 {
		return nil
	}
	if err := c.l.b.Delete(ctx, drop); err != nil {
		return fmt.Errorf("delete files of the lake: %w", err)
	}
	return nil
}

// collapse makes a checkpoint at the end of the log, so that what comes before it may go after the grace. rekey seals it under
// the newest master key.
func (l *Lake) collapse(ctx context.Context, rekey bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range maxRebases {
		s, err := l.full(ctx)
		if err != nil {
			return err
		}
		whole := false
		for v := range s.Sealed {
			whole = whole || rekey && v != 0 && v != l.o.Keys.Newest
		}
		if whole { // the last entry stays, and may be sealed under an older key
			err = l.appendEmpty(ctx)
			if errors.Is(err, bucket.ErrChanged) {
				continue
			}
			if err != nil {
				return err
			}
		}
		if l.tail.Number == l.tail.Checkpoint {
			return nil
		}
		return l.checkpoint(ctx, whole)
	}
	return fmt.Errorf("make a checkpoint of the lake: %w: others were faster %d times", sinks.ErrConflict, maxRebases)
}

// floor returns the number of the newest checkpoint that was made before a time, and the parts of it and of those after it: a
// reader that began since then may read them. It returns 0 if there is no such checkpoint.
func (l *Lake) floor(ctx context.Context, before time.Time) (floor uint64, parts map[string]bool, err error) {
	var numbers []uint64
	err = l.b.List(ctx, journal.CheckpointDir, "", func(e bucket.Entry) error { // the newest first
		if n, ok := journal.CheckpointNumber(e.Key); ok && floor == 0 {
			numbers = append(numbers, n)
			if !e.Modified.After(before) {
				floor = n
			}
		}
		return nil
	})
	if err != nil {
		return 0, nil, fmt.Errorf("list the checkpoints of the lake: %w", err)
	}
	parts = map[string]bool{}
	for _, n := range numbers {
		c, err := l.log.ReadCheckpoint(ctx, n)
		if err != nil {
			return 0, nil, err
		}
		for _, p := range c.Parts {
			parts[p.Path] = true
		}
	}
	return floor, parts, nil
}

// logged reports whether the log needs an entry or checkpoint, with a floor of its checkpoints.
func logged(key string, floor uint64) bool {
	if n, ok := journal.EntryNumber(key); ok {
		return n >= floor
	}
	n, ok := journal.CheckpointNumber(key)
	return ok && n >= floor
}

// ours reports whether a lake may have written a key: TABLE/kind=KIND/day=DAY/NAME.parquet, a part of a checkpoint, an
// object of the log or of earlier versions. Any other file belongs to somebody else, also below a table's folder.
func ours(key string) bool {
	for _, is := range []func(string) (uint64, bool){manifestNumber, journal.EntryNumber, journal.CheckpointNumber} {
		if _, ok := is(key); ok {
			return true
		}
	}
	parts := strings.Split(key, "/")
	if parts[0] == "_probe" {
		return true
	}
	name, ok := strings.CutSuffix(parts[len(parts)-1], ".parquet")
	if b, err := hex.DecodeString(name); !ok || err != nil || len(b) != nameBytes || name != strings.ToLower(name) {
		return false
	}
	switch len(parts) {
	case 2:
		return parts[0] == liveTable || parts[0]+"/" == journal.PartDir
	case 4:
		return slices.ContainsFunc(Tables(), func(t *pqfile.Table) bool { return t.Name == parts[0] }) &&
			strings.HasPrefix(parts[1], "kind=") && strings.HasPrefix(parts[2], "day=")
	}
	return false
}
