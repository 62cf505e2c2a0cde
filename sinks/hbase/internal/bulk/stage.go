package bulk

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc64"
	"iter"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// File is a staged HFile: rows of one region.
type File struct {
	Path        string
	First, Last []byte // rows
	Rows        uint64
	Bytes       int64 // of the file

	fs     FileSystem
	region Region // as it was when the file was cut
	bloom  hfile.Bloom
	loads  [][]byte // prefixes, ascending
	sum    uint64   // over its keys, in order: tells whether they are all in the table
}

// stage writes rows into files cut at boundaries. Rows may come in several
// ascending passes.
type stage struct {
	fs      FileSystem
	dir     string
	regions []Region
	now     func() time.Time
	bloom   hfile.Bloom

	out   *output
	last  []byte
	files []*File
}

// output is the file being written.
type output struct {
	f     *File
	to    Output
	w     *hfile.Writer
	table *crc64.Table
}

// FileName is as HBase names its own: 32 hex digits.
func FileName() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x", b)
}

// family of all cells; HBase wants it as a folder.
const family = "b"

func (s *stage) add(ctx context.Context, row, value []byte, stamp uint64) error {
	if s.out != nil && (bytes.Compare(s.last, row) >= 0 || !s.out.f.region.holds(row)) {
		if err := s.close(); err != nil {
			return err
		}
	}
	if s.out == nil {
		region, err := find(s.regions, row)
		if err != nil {
			return err
		}
		if err := s.create(ctx, *region); err != nil {
			return err
		}
		s.out.f.First = bytes.Clone(row)
	}
	s.last = append(s.last[:0], row...)
	return s.out.add(row, value, stamp)
}

func (s *stage) create(ctx context.Context, region Region) error {
	f := &File{Path: s.dir + "/" + family + "/" + FileName(), fs: s.fs, region: region, bloom: s.bloom}
	to, err := s.fs.Create(ctx, f.Path)
	if err != nil {
		return fmt.Errorf("stage rows of region %s: %w", &region, err)
	}
	s.out = &output{f: f, to: to, w: hfile.NewWriter(to, hfile.Options{Created: s.now(), Bloom: s.bloom}), table: crc64.MakeTable(crc64.ECMA)}
	return nil
}

func (o *output) add(row, value []byte, stamp uint64) error {
	f := o.f
	if err := o.w.AppendAt(row, value, stamp); err != nil {
		return fmt.Errorf("stage %s: %w", f.Path, err)
	}
	if n := len(f.loads); n == 0 || !bytes.HasPrefix(row, f.loads[n-1]) {
		f.loads = append(f.loads, bytes.Clone(row[:sinks.PrefixBytes]))
	}
	f.sum = crc64.Update(f.sum, o.table, row)
	f.Last = append(f.Last[:0], row...)
	f.Rows++
	return nil
}

// close finishes the file being written.
func (s *stage) close() error {
	if s.out == nil {
		return nil
	}
	o := s.out
	s.out = nil
	err := o.w.Close()
	if err == nil {
		err = o.to.Close()
	} else {
		o.to.Abort()
	}
	if err != nil {
		return fmt.Errorf("stage %s: %w", o.f.Path, err)
	}
	o.f.Bytes = o.w.Bytes()
	s.files = append(s.files, o.f)
	return nil
}

func (s *stage) abort() {
	if s.out != nil {
		s.out.to.Abort()
		s.out = nil
	}
}

// mergeFiles is how many files are read at once: each takes a few blocks of memory.
const mergeFiles = 32

// finish gives one file a region, ascending.
func (s *stage) finish(ctx context.Context) ([]*File, error) {
	if err := s.close(); err != nil {
		return nil, err
	}
	byRegion := make(map[string][]*File)
	for _, f := range s.files {
		byRegion[string(f.region.Start)] = append(byRegion[string(f.region.Start)], f)
	}
	var files []*File
	for _, group := range byRegion {
		for len(group) > 1 {
			n := min(len(group), mergeFiles)
			merged, err := s.merge(ctx, group[:n])
			if err != nil {
				return nil, err
			}
			group = append(group[n:], merged)
		}
		files = append(files, group[0])
	}
	slices.SortFunc(files, func(x, y *File) int { return bytes.Compare(x.First, y.First) })
	s.files = files
	return files, nil
}

// merge makes one file of several of one region, and removes them.
func (s *stage) merge(ctx context.Context, from []*File) (*File, error) {
	to := &stage{fs: s.fs, dir: s.dir, regions: []Region{from[0].region}, now: s.now, bloom: s.bloom}
	defer to.abort()
	if err := mergeInto(ctx, from, to); err != nil {
		return nil, err
	}
	if len(to.files) != 1 {
		return nil, fmt.Errorf("merge of %d files gave %d", len(from), len(to.files))
	}
	return to.files[0], nil
}

// mergeInto writes the cells of files in order and removes the files.
func mergeInto(ctx context.Context, from []*File, to *stage) error {
	heads := make([]*head, 0, len(from))
	defer func() {
		for _, h := range heads {
			h.stop()
		}
	}()
	for _, f := range from {
		h := f.read(ctx)
		heads = append(heads, h)
		h.next()
		if h.err != nil {
			return h.err
		}
	}
	for {
		var least *head
		for _, h := range heads {
			if h.more && (least == nil || bytes.Compare(h.cell.Row, least.cell.Row) < 0) {
				least = h
			}
		}
		if least == nil {
			break
		}
		if err := to.add(ctx, least.cell.Row, least.cell.Value, least.cell.Timestamp); err != nil {
			return err
		}
		if least.next(); least.err != nil {
			return least.err
		}
	}
	if err := to.close(); err != nil {
		return err
	}
	for _, f := range from {
		if err := f.fs.Remove(ctx, f.Path); err != nil {
			return fmt.Errorf("remove %s: %w", f.Path, err)
		}
	}
	return nil
}

// head is a file being read, at one of its cells.
type head struct {
	pull func() (hfile.Cell, bool)
	stop func()
	cell hfile.Cell
	more bool
	err  error
}

func (h *head) next() { h.cell, h.more = h.pull() }

var errStopped = errors.New("stopped")

// read reads a file from its first cell on; an error ends the cells and stands in err.
func (f *File) read(ctx context.Context) *head {
	h := &head{}
	h.pull, h.stop = iter.Pull(func(yield func(hfile.Cell) bool) {
		h.err = f.scan(ctx, func(c hfile.Cell) error {
			if !yield(c) {
				return errStopped
			}
			return nil
		})
	})
	return h
}

// Each emits the rows of a file in order; emit's error comes back unchanged.
func (f *File) Each(ctx context.Context, emit func(row, value []byte, stamp uint64) error) error {
	return f.scan(ctx, func(c hfile.Cell) error { return emit(c.Row, c.Value, c.Timestamp) })
}

// scan emits a file's cells; emit's error comes back unchanged.
func (f *File) scan(ctx context.Context, emit func(hfile.Cell) error) error {
	in, err := f.fs.Open(ctx, f.Path)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	defer in.Close()
	r, err := hfile.Open(in, in.Size())
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	n := uint64(0)
	var emitted error
	err = r.Scan(nil, nil, func(c hfile.Cell) error {
		if n++; n%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		emitted = emit(c)
		return emitted
	})
	switch {
	case emitted != nil:
		return emitted
	case err != nil:
		return fmt.Errorf("read %s: %w", f.Path, err)
	case n != f.Rows:
		return fmt.Errorf("read %s: %d rows of %d: %w", f.Path, n, f.Rows, sinks.ErrCorrupt)
	}
	return nil
}
