package lake

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// batch implements sinks.LakeBatch: a file a table and partition.
type batch struct {
	l       *Lake
	profile string
	began   journal.Tail
	sorted  bool  // loads come ordered by artifact
	target  int64 // bytes after which a file gets no further load; 0: none
	outputs []*output
	rows    map[*output]*ranges
	current loading
	written map[loadKey]*loading
	err     error
}

func newBatch(l *Lake, profile string) *batch {
	return &batch{l: l, profile: profile, rows: map[*output]*ranges{}, written: map[loadKey]*loading{}}
}

// errRowsMoved: another writer moved rows while a compaction rewrote them. Writing them twice would be wrong, so the
// compaction begins again.
var errRowsMoved = errors.New("rows were moved by another writer while they were rewritten")

var errEnded = errors.New("the batch has ended")

// Load implements sinks.LakeBatch.
func (b *batch) Load(a *symbol.Artifact, l sinks.Load) error {
	if b.err != nil {
		return b.err
	}
	b.end()
	b.current = loading{loadKey: loadKey{a.ID, l}, kind: a.Kind}
	return nil
}

// EndLoad implements sinks.LakeBatch. If the row group is worth it, it ends here, and is encoded beside what the caller does
// until the commit.
func (b *batch) EndLoad() {
	o := b.current.out
	b.end()
	if b.err == nil && o != nil && o.g.Worth() {
		b.err = b.flush(o)
	}
}

// end ends the rows of the current load.
func (b *batch) end() {
	if c := b.current; c.id != (symbol.ID{}) {
		if c.w != nil {
			c.left, c.rows = c.w.left, c.w.rows
		}
		b.written[c.loadKey] = &c
	}
	b.current = loading{}
}

// Write implements sinks.LakeRows.
func (b *batch) Write(r *symbol.Run) error { return b.add(r, nil) }

// WriteScript implements sinks.LakeRows.
func (b *batch) WriteScript(s *symbol.Script) error { return b.add(&s.Run, s.Marks) }

// write writes a run, of a script with the marks of its ranges.
func (b *batch) add(r *symbol.Run, marks []symbol.Mark) error {
	c := &b.current
	if b.err == nil && c.out == nil {
		b.err = b.begin(tableRanges())
	}
	if b.err != nil {
		return b.err
	}
	if c.w == nil {
		if c.w = b.rows[c.out]; c.w == nil {
			c.w = newRanges(c.out)
			b.rows[c.out] = c.w
		}
		c.w.begin(c.id, c.kind, hex.EncodeToString(c.load[:]))
	}
	b.err = c.w.add(r, marks)
	return b.err
}

// WriteClass implements sinks.LakeRows.
func (b *batch) WriteClass(class *symbol.Class) error {
	if b.err == nil && b.current.out == nil {
		b.err = b.begin(tableClasses())
	}
	if b.err == nil {
		b.err = b.current.class(class)
	}
	return b.err
}

// begin gives the current load its file of a table.
func (b *batch) begin(t *pqfile.Table) error {
	c := &b.current
	o, err := b.output(t, c.kind, c.load)
	if err != nil {
		return err
	}
	if err := b.rest(o); err != nil {
		return err
	}
	if o.sorted && o.g.Worth() {
		if err := b.flush(o); err != nil {
			return err
		}
	}
	c.out, c.first = o, o.rows()
	o.Loads++
	return nil
}

// idleBytes bounds the memory of the row groups of all files but the current one.
const idleBytes = 8 << 20

// rest writes out the row groups of the other files if they take more than idleBytes.
func (b *batch) rest(o *output) error {
	idle := 0
	for _, other := range b.outputs {
		if other != o {
			idle += other.g.Bytes()
		}
	}
	if idle < idleBytes {
		return nil
	}
	for _, other := range b.outputs {
		if other != o {
			if err := b.flush(other); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the row group of a file out.
func (b *batch) flush(o *output) error {
	if w := b.rows[o]; w != nil {
		return w.flush()
	}
	return o.flush()
}

// output returns the batch's file of a table and partition, and opens it if it has none.
func (b *batch) output(t *pqfile.Table, k symbol.Kind, l sinks.Load) (*output, error) {
	folder := folderOf(t.Name, k, l)
	for _, o := range b.outputs {
		if o.folder == folder && o.f != nil && (b.target == 0 || o.Bytes < b.target) {
			return o, nil
		}
	}
	sorted := b.sorted || t.Name == artifactsTable || t.Name == namesTable
	o, err := b.l.open(context.Background(), t, folder, b.profile, sorted, !b.sorted)
	if err != nil {
		return nil, err
	}
	b.outputs = append(b.outputs, o)
	return o, nil
}

// Commit implements sinks.LakeBatch.
func (b *batch) Commit(ctx context.Context, loads []*sinks.LakeLoad) (done sinks.LakeCommitted, err error) {
	if b.err != nil {
		return done, b.err
	}
	b.end()
	err = b.commit(ctx, loads, nil)
	b.Abort()
	if err != nil {
		return done, err
	}
	for _, o := range b.outputs {
		if o.Rows > 0 {
			done.Files = append(done.Files, o.Path)
			done.Bytes += o.Bytes
			done.Rows += o.Rows
		}
	}
	return done, nil
}

// edit is the part of a change that only a compaction makes.
type edit struct {
	// expected is what the lake named when the compaction began. The compaction leaves rows that changed since then.
	expected map[symbol.ID]journal.Naming
	last     func(*journal.State, *journal.Entry) error
}

// finishAtOnce is how many files get their places at once, if the lake may start goroutines: each waits for its disk or its
// bucket.
const finishAtOnce = 4

// finish gives all files their places.
func (b *batch) finish(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if g.SetLimit(finishAtOnce); b.l.o.Go == nil {
		g.SetLimit(1)
	}
	for _, o := range b.outputs {
		if o.f != nil {
			g.Go(func() error {
				if err := context.Cause(ctx); err != nil {
					return err
				}
				return o.finish(ctx)
			})
		}
	}
	return g.Wait()
}

// commit publishes the batch.
func (b *batch) commit(ctx context.Context, loads []*sinks.LakeLoad, edit *edit) error {
	loads = slices.Clone(loads)
	slices.SortFunc(loads, func(x, y *sinks.LakeLoad) int {
		return cmp.Or(bytes.Compare(x.Artifact.ID[:], y.Artifact.ID[:]), bytes.Compare(x.Load[:], y.Load[:]))
	})
	rows := map[loadKey]journal.Live{}
	if err := b.tell(loads, rows); err != nil {
		return err
	}
	if err := b.finish(ctx); err != nil {
		return err
	}
	if len(loads) == 0 && edit == nil {
		return nil
	}
	since := &b.began
	if edit != nil || slices.ContainsFunc(loads, func(x *sinks.LakeLoad) bool { return !x.Fresh }) {
		since = nil
	}
	return b.l.change(ctx, b.profile, since, func(v seen) (*journal.Entry, error) {
		now := b.l.profile()
		if edit == nil && now != "" && now != b.profile {
			return nil, fmt.Errorf("%w: it became %s", sinks.ErrLakeProfile, now)
		}
		e := &journal.Entry{Made: b.l.o.Now().UTC(), Profile: b.profile}
		for _, x := range loads {
			n, err := b.place(ctx, v, x, edit, rows[loadKey{x.Artifact.ID, x.Load}])
			if err != nil {
				return nil, err
			}
			if n != nil {
				e.Live = append(e.Live, journal.Named{Artifact: x.Artifact.ID, Live: *n})
			}
		}
		for _, o := range b.outputs {
			if o.Rows > 0 {
				e.Files = append(e.Files, o.File)
			}
		}
		if edit != nil {
			return e, edit.last(v.state, e)
		}
		return e, nil
	})
}

// place completes what the lake is to name of x with the place of its rows. nil: another writer changed the artifact during a
// compaction, and the lake names it rightly.
func (b *batch) place(ctx context.Context, v seen, x *sinks.LakeLoad, edit *edit, n journal.Live) (*journal.Live, error) {
	key := loadKey{x.Artifact.ID, x.Load}
	n.Load, n.Revision = x.Load, x.Revision()
	w, was := b.written[key], v.Live[key.id].Live
	var span journal.Span
	if w != nil && w.rows > 0 {
		span = journal.Span{File: w.out.Path, First: w.first, Rows: w.rows}
	}
	if edit != nil {
		if expected := edit.expected[key.id].Live; was != expected {
			switch {
			case span.File == "" || was.Load != x.Load || was.Rows == span:
				return nil, nil
			case was.Rows == expected.Rows: // its facts alone are new
				was.Rows = span
				return &was, nil
			}
			return nil, fmt.Errorf("load %x of %s: %w", x.Load, key.id, errRowsMoved)
		}
	}
	switch _, counts := v.Find(was.Rows.File); {
	case edit == nil && span.File != "" && was.Load == x.Load && was.Rows.File != "" && was.Rows.File != span.File && counts:
		// Another writer has put its rows there meanwhile: twice would be wrong.
		return nil, fmt.Errorf("load %x of %s: %w", x.Load, key.id, sinks.ErrConflict)
	case span.File != "":
		n.Rows = span
	case w == nil && was.Load == x.Load:
		n.Rows = was.Rows
	case w == nil: // published again after another load: the lake has its rows already
		var err error
		if n.Rows, err = b.l.holder(ctx, v.Changes, &x.Artifact, x.Load); err != nil {
			return nil, err
		}
		if n.Rows.File == "" {
			return nil, fmt.Errorf("load %x of %s: the lake has no rows of it: %w", x.Load, key.id, sinks.ErrConflict)
		}
	}
	return &n, nil
}

// tell writes the rows of artifacts and names, and notes their places in rows.
func (b *batch) tell(loads []*sinks.LakeLoad, rows map[loadKey]journal.Live) error {
	for _, x := range loads {
		key := loadKey{x.Artifact.ID, x.Load}
		var left uint64
		if w := b.written[key]; w != nil {
			left = w.left
		}
		o, err := b.output(tableArtifacts(), x.Artifact.Kind, x.Load)
		if err != nil {
			return err
		}
		n := journal.Live{Facts: journal.Span{File: o.Path, First: o.rows(), Rows: 1}}
		o.Loads++
		if err := putFacts(o, x, left); err != nil {
			return err
		}
		if names := len(x.Artifact.Names); names > 0 {
			if o, err = b.output(tableNames(), x.Artifact.Kind, x.Load); err != nil {
				return err
			}
			n.Names = journal.Span{File: o.Path, First: o.rows(), Rows: uint64(names)}
			o.Loads++
			if err := putNames(o, x); err != nil {
				return err
			}
		}
		rows[key] = n
	}
	return nil
}

// Abort implements sinks.LakeBatch.
func (b *batch) Abort() {
	for _, o := range b.outputs {
		o.drop()
	}
	b.rows, b.written, b.current = nil, nil, loading{}
	if b.err == nil {
		b.err = errEnded
	}
}

// Begin implements sinks.Lake.
func (l *Lake) Begin(ctx context.Context) (sinks.LakeBatch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(ctx); err != nil {
		return nil, err
	}
	switch p := l.profile(); {
	case p == "":
		if err := l.probe(ctx); err != nil {
			return nil, err
		}
	case p != l.o.Profile:
		return nil, fmt.Errorf("%w: it is %s, not %s", sinks.ErrLakeProfile, p, l.o.Profile)
	}
	b := newBatch(l, l.o.Profile)
	b.began = l.tail
	return b, nil
}
