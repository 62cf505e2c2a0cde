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
)

const (
	targetBytes  = 128 << 20
	defaultGrace = 24 * time.Hour
	// A step of a compaction takes files of at most so many times the target: it sorts their artifacts and keeps its new files
	// in scratch.
	stepTargets = 16
)

// errProfileMoved: while a lake was converted, another writer added files of the old profile. The compaction begins again.
var errProfileMoved = errors.New("files came while the lake was converted")

// Compact implements sinks.Lake. Each step writes files anew from the store's rows, ordered by artifact, and replaces the old
// files in one manifest.
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
	s, err := l.state(ctx)
	if err != nil || s.manifest == nil {
		return c.done, err
	}
	c.done.Before = total(s.manifest)
	for range maxRebases {
		if err = c.run(ctx); !errors.Is(err, errProfileMoved) && !errors.Is(err, errRowsMoved) {
			break
		}
	}
	if err == nil {
		err = c.clean(ctx)
	}
	if err != nil {
		return nil, err
	}
	if s, err = l.state(ctx); err == nil {
		c.done.After = total(s.manifest)
	}
	return c.done, err
}

func total(m *manifest) (n int64) {
	for _, e := range m.Files {
		n += e.Bytes
	}
	return n
}

type compaction struct {
	l    *Lake
	o    sinks.LakeCompact
	done *sinks.LakeCompacted
}

// run rewrites the files that are worth it, a step at a time.
func (c *compaction) run(ctx context.Context) error {
	s, err := c.l.state(ctx)
	if err != nil {
		return err
	}
	profile := c.o.Profile
	if profile == "" {
		profile = s.manifest.Profile
	}
	converts := profile != s.manifest.Profile
	steps := c.plan(s, profile)
	if c.o.DryRun {
		for _, files := range steps {
			c.done.Rewritten += len(files)
		}
		return nil
	}
	if converts {
		// In one manifest: a lake is of one profile.
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
		if s, err = c.l.state(ctx); err != nil {
			return err
		}
	}
	return nil
}

// plan returns, by kind and day, the files that are worth rewriting together.
func (c *compaction) plan(s *state, profile string) [][]string {
	alive := map[string]int{} // loads that count, by file
	for _, r := range s.live {
		alive[r.file]++
		alive[r.facts]++
		alive[r.names]++
	}
	type group struct {
		must  []entry
		small map[string][]entry // by table
	}
	groups := map[string]*group{}
	var order []string
	for _, e := range s.manifest.Files {
		_, where, _ := strings.Cut(path.Dir(e.Path), "/")
		g := groups[where]
		if g == nil {
			g = &group{small: map[string][]entry{}}
			groups[where] = g
			order = append(order, where)
		}
		switch {
		case profile != s.manifest.Profile, c.o.Rekey && e.Key != c.l.o.Keys.Newest && profile == sinks.LakeSealed, alive[e.Path] < e.Loads:
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
			if len(small) > 1 || len(small) == 1 && slices.ContainsFunc(g.must, func(e entry) bool { return e.Table == t.Name }) {
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
func (c *compaction) step(ctx context.Context, s *state, profile string, files []string) error {
	old := map[string]bool{}
	for _, f := range files {
		if s.manifest.find(f) != nil { // else an earlier step has taken it
			old[f] = true
		}
	}
	if len(old) == 0 && profile == s.manifest.Profile {
		return nil
	}
	ids := withFacts(s, old)
	b := newBatch(c.l, profile)
	b.sorted = true
	b.salt, b.target = fmt.Sprint("compact ", s.manifest.Number), c.o.TargetBytes
	defer b.Abort()
	var loads []*sinks.LakeLoad
	var gone []symbol.ID
	for i, id := range ids {
		if c.o.Progress != nil {
			c.o.Progress(i, len(ids))
		}
		to := sinks.LakeBatch(b)
		if !old[s.live[id].file] && s.live[id].file != "" {
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
		if to == nil && x.Load != s.live[id].load {
			continue // it was published anew: the batch that names the new load moves it
		}
		loads = append(loads, x)
	}
	b.end()
	err := b.commit(ctx, loads, &edit{expected: s.live, last: func(n *next) error { return retire(s, n, old, gone, profile) }})
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
func withFacts(s *state, old map[string]bool) (ids []symbol.ID) {
	for n := -1; n < len(old); {
		n = len(old)
		for _, r := range s.live {
			if old[r.file] || old[r.facts] || old[r.names] {
				old[r.facts] = true
				if r.names != "" {
					old[r.names] = true
				}
			}
		}
	}
	for id, r := range s.live {
		if old[r.file] || old[r.facts] || old[r.names] {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
	return ids
}

// retire takes the artifacts gone out of n, and retires the files old that n names no more.
func retire(s *state, n *next, old map[string]bool, gone []symbol.ID, profile string) error {
	for _, id := range gone {
		if n.live[id] == s.live[id] {
			delete(n.live, id)
		}
	}
	named := map[string]bool{}
	for _, r := range n.live {
		named[r.file], named[r.facts], named[r.names] = true, true, true
	}
	n.Files = slices.DeleteFunc(n.Files, func(e entry) bool {
		if !old[e.Path] || named[e.Path] {
			return false
		}
		n.Retired = append(n.Retired, retired{e.Path, n.Made})
		return true
	})
	for _, e := range n.Files {
		if (e.Key == 0) != (profile == sinks.LakePlain) {
			return errProfileMoved
		}
	}
	return nil
}

// clean deletes files that no manifest has named for the grace: retired files, files that no manifest ever named, and
// manifests before the newest.
func (c *compaction) clean(ctx context.Context) error {
	before := c.o.Now().Add(-c.o.Grace)
	due := func(r retired) bool { return c.o.Erase || !r.At.After(before) }
	var drop, erased []string
	if !c.o.DryRun {
		err := c.l.change(ctx, func(s *state) (*next, error) {
			if !slices.ContainsFunc(s.manifest.Retired, due) {
				return nil, nil
			}
			n := c.l.following(s)
			n.Retired = slices.DeleteFunc(n.Retired, due)
			erased = nil
			for _, r := range s.manifest.Retired {
				if due(r) {
					erased = append(erased, r.Path)
				}
			}
			return n, nil
		})
		if err != nil {
			return err
		}
	}
	s, err := c.l.state(ctx)
	if err != nil {
		return err
	}
	keep := map[string]bool{manifestKey(s.manifest.Number): true}
	if s.manifest.Live != nil {
		keep[s.manifest.Live.Path] = true
	}
	for _, e := range s.manifest.Files {
		keep[e.Path] = true
	}
	for _, r := range s.manifest.Retired {
		keep[r.Path] = true
	}
	err = c.l.b.List(ctx, "", "", func(e bucket.Entry) error {
		switch {
		case !ours(e.Key) || keep[e.Key]:
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
	c.done.Deleted = len(drop)
	if c.o.DryRun || len(drop) == 0 {
		return nil
	}
	if err := c.l.b.Delete(ctx, drop); err != nil {
		return fmt.Errorf("delete files of the lake: %w", err)
	}
	return nil
}

// ours reports whether a lake may have written a key: TABLE/kind=KIND/day=DAY/NAME.parquet, live/NAME.parquet or a
// manifest. Any other file belongs to somebody else, also below a table's folder.
func ours(key string) bool {
	parts := strings.Split(key, "/")
	if parts[0]+"/" == manifestDir {
		_, ok := manifestNumber(key)
		return ok
	}
	if parts[0] == "_probe" {
		return true
	}
	name, ok := strings.CutSuffix(parts[len(parts)-1], ".parquet")
	if b, err := hex.DecodeString(name); !ok || err != nil || len(b) != nameBytes || name != strings.ToLower(name) {
		return false
	}
	if !slices.ContainsFunc(Tables(), func(t *pqfile.Table) bool { return t.Name == parts[0] }) {
		return false
	}
	switch len(parts) {
	case 2:
		return true // the table live
	case 4:
		return strings.HasPrefix(parts[1], "kind=") && strings.HasPrefix(parts[2], "day=")
	}
	return false
}
