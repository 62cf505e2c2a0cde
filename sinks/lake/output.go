package lake

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/hostfile"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// output is a data file being written. Until it is whole it has no name, in the lake or in scratch.
type output struct {
	l      *Lake
	folder string
	f      *os.File
	drafts bucket.Drafter // f is a draft of it; nil: f is a scratch file
	enc    *pqfile.Writer
	pager  *pqfile.Pager
	later  later
	sorted bool
	g      *pqfile.RowGroup      // being filled
	made   int                   // row groups: one more while the other is written
	groups chan *pqfile.RowGroup // written
	slices chan *pqfile.Slice    // encoded and empty again
	w      *counted
	journal.File
}

// open begins a file of a table in a folder of the lake. sorted says that its rows ascend as the table says. swift says that
// an ingest waits for the file, and that a compaction writes it again. Its name is random, and a sealed file is sealed to it:
// under another name it does not open. A process that dies before it names the file in the log leaves it to a compaction.
func (l *Lake) open(ctx context.Context, t *pqfile.Table, folder, profile string, sorted, swift bool) (*output, error) {
	o := &output{l: l, folder: folder, g: pqfile.NewRowGroup(t), pager: pqfile.NewPager(), made: 1, later: later{start: l.o.Go}, groups: make(chan *pqfile.RowGroup, 2), slices: make(chan *pqfile.Slice, 3)}
	name := make([]byte, nameBytes)
	rand.Read(name)
	o.Table, o.sorted, o.Path = t.Name, sorted, folder+"/"+hex.EncodeToString(name)+".parquet"
	if sorted {
		o.g.Sorted()
	}
	if swift {
		o.pager = pqfile.NewSwiftPager()
	}
	f, drafts, err := l.file(folder)
	if err != nil {
		return nil, fmt.Errorf("make a file for table %s: %w", t.Name, err)
	}
	o.f, o.drafts = f, drafts
	w := &counted{w: f, n: &o.Bytes}
	o.w = w
	var key *pqfile.FileKey
	if profile == sinks.LakeSealed {
		if key, err = pqfile.NewFileKey(ctx, l.o.Keys, l.o.OneKey); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		key.Prefix = o.Path
		o.Key, o.Bound = key.Version, true
	}
	if o.enc, err = pqfile.NewWriter(w, t, key, sorted, o.pager); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return o, nil
}

// file makes a file without a name, in its place if the lake can make one there. However the process ends, nothing is left
// of the file.
func (l *Lake) file(folder string) (*os.File, bucket.Drafter, error) {
	if d, ok := l.b.(bucket.Drafter); ok && !l.o.SingleWriter {
		if f, err := d.Draft(folder); f != nil || err != nil {
			return f, d, err
		}
	}
	f, err := hostfile.Nameless(l.o.Scratch)
	return f, nil, err
}

// publish gives the whole file its place.
func (o *output) publish(ctx context.Context) error {
	if o.drafts != nil {
		return o.drafts.Publish(o.f, o.Path)
	}
	return o.l.create(ctx, o.Path, io.NewSectionReader(o.f, 0, o.Bytes))
}

// nameBytes is the length of a file's random name.
const nameBytes = 16

// rows is the number of rows so far.
func (o *output) rows() uint64 { return o.Rows + uint64(o.g.Rows) }

// put appends a row with a string, int32, int64 or uint64 for each column and a []string for a list. It is for tables of few
// rows.
func (o *output) put(row ...any) error {
	if o.g.Rows%checkRows == 0 && o.g.Full() {
		if err := o.flush(); err != nil {
			return err
		}
	}
	g := o.g
	s := g.Open
	for i, x := range row {
		v, d := &s.Columns[i], &g.Dicts[i]
		switch x := x.(type) {
		case string:
			v.Ints = append(v.Ints, d.Add(d.Texts.Add(pqfile.Printable(x))))
		case int32:
			v.Ints = append(v.Ints, x)
		case int64:
			v.Longs = append(v.Longs, x)
		case uint64:
			v.Longs = append(v.Longs, int64(x))
		case []string:
			for _, t := range x {
				v.Ints = append(v.Ints, d.Add(d.Texts.Add(pqfile.Printable(t))))
			}
			s.Lengths = append(s.Lengths, uint32(len(x)))
			s.List += len(x)
		}
	}
	s.Rows++
	g.Rows++
	if s.Full() {
		return o.page()
	}
	return nil
}

// page encodes the rows of the open slice.
func (o *output) page() error {
	g := o.g
	if g.Open.Rows == 0 {
		return nil
	}
	var next *pqfile.Slice
	select {
	case next = <-o.slices:
	default:
		next = g.Open.Another()
	}
	return o.encode(g, next)
}

// encode encodes the open slice of g, and gives it another one.
func (o *output) encode(g *pqfile.RowGroup, next *pqfile.Slice) error {
	s := g.Take(next)
	return o.later.do(func() error { return o.pager.Add(g, s) }, func() {
		s.Reset()
		o.slices <- s
	})
}

// flush writes the row group out and puts an empty one in its place. The texts of the written group stay until the next
// flush.
func (o *output) flush() error {
	g := o.g
	if g.Rows == 0 {
		return nil
	}
	if err := o.page(); err != nil {
		return err
	}
	err := o.write(g)
	if o.made == 1 {
		o.made, o.g = 2, g.Another()
	} else {
		o.g = <-o.groups
		o.g.Reset()
	}
	o.g.Open, g.Open = g.Open, o.g.Open // it is empty, and has room
	return err
}

// write writes a row group. Its slices are encoded, or about to be.
func (o *output) write(g *pqfile.RowGroup) error {
	o.Rows += uint64(g.Rows)
	return o.later.do(func() error {
		if err := o.enc.Write(g); err != nil {
			return fmt.Errorf("write table %s: %w", o.Table, err)
		}
		return nil
	}, func() {
		g.Written()
		o.groups <- g
	})
}

// finish gives the file its place in the lake. A file without rows gets none.
func (o *output) finish(ctx context.Context) error {
	defer o.drop()
	if g := o.g; g.Rows > 0 { // no row comes after it
		if g.Open.Rows > 0 {
			if err := o.encode(g, &pqfile.Slice{}); err != nil {
				return err
			}
		}
		if err := o.write(g); err != nil {
			return err
		}
	}
	if err := o.later.end(); err != nil {
		return err
	}
	if o.Rows == 0 {
		return nil
	}
	if err := errors.Join(o.enc.Close(), o.w.err); err != nil {
		return fmt.Errorf("write table %s: %w", o.Table, err)
	}
	if err := o.publish(ctx); err != nil {
		return fmt.Errorf("put %s: %w", o.l.b.URL(o.Path), err)
	}
	return nil
}

// drop gives up the scratch file, and the memory of its rows.
func (o *output) drop() {
	if o.f != nil {
		o.later.end() // the file is given up, with its errors
		o.f.Close()   // it has no name
		o.f = nil
		o.g, o.enc, o.pager, o.groups, o.slices = nil, nil, nil, nil, nil
	}
}

// counted counts the bytes it writes. After an error it writes nothing more.
type counted struct {
	w   io.Writer
	n   *int64
	err error
}

func (c *counted) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(b)
	*c.n += int64(n)
	c.err = err
	return n, err
}

// checkRows is after how many rows a row group is checked for being full.
const checkRows = 64
