package bulk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc64"
	"io/fs"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// ErrUnclear says that the answer to a changing call was lost. The server may have carried it out.
var ErrUnclear = errors.New("the server's answer was lost: it may have been done")

// Loader hands files over to a cluster: the usual Target. It serves one batch.
type Loader struct {
	Cluster Cluster
	// Files opens the file system of the staging folder.
	Files func(ctx context.Context, dir string) (FileSystem, error)
	// Done, unless nil, gets one row of each region that got a file, once all have their files.
	Done func(ctx context.Context, rows [][]byte)
	// AtOnce is how many files are handed over at a time (0: 4).
	AtOnce int
	Now    func() time.Time // nil: time.Now

	dir   string
	fs    FileSystem
	token *Token

	mu   sync.Mutex
	rows [][]byte // one in each region that got a file
}

const (
	defaultAtOnce = 4
	// maxRefusals of one file, each after something has changed.
	maxRefusals = 20
	// unclearTime is how long a file is handed over again while its answers are lost: longer
	// than HBase takes to notice a dead server and to open its regions elsewhere.
	unclearTime = 10 * time.Minute
	// settleTime is how long a load may still be under way after its answer was lost.
	settleTime = 30 * time.Second
)

// Begin implements Target.
func (l *Loader) Begin(ctx context.Context) (FileSystem, string, []Region, error) {
	regions, err := l.Cluster.Regions(ctx, true)
	if err != nil {
		return nil, "", nil, fmt.Errorf("read the table's boundaries: %w", err)
	}
	if l.dir, err = l.Cluster.Prepare(ctx); err != nil {
		return nil, "", nil, fmt.Errorf("prepare a bulk load: %w", err)
	}
	if l.fs, err = l.Files(ctx, l.dir); err != nil {
		return nil, "", nil, err
	}
	if l.Now == nil {
		l.Now = time.Now
	}
	return l.fs, l.dir, regions, nil
}

// Deliver implements Target: all files, several at once. After an error the rest is not begun.
func (l *Loader) Deliver(ctx context.Context, files []*File) error {
	var err error
	if l.token, err = l.fs.Token(ctx); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(l.AtOnce, defaultAtOnce))
	for _, f := range files {
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return err
			}
			return l.deliver(gctx, f)
		})
	}
	err = g.Wait()
	if err == nil && l.Done != nil {
		l.Done(ctx, l.rows)
	}
	return err
}

// End implements Target.
func (l *Loader) End(ctx context.Context) error {
	var err error
	if l.fs != nil {
		err = l.fs.Close()
	}
	if l.dir == "" {
		return err
	}
	return errors.Join(l.Cluster.Cleanup(ctx, l.dir), err)
}

// deliver hands one file over, cut again as often as its region's boundaries change.
func (l *Loader) deliver(ctx context.Context, f *File) error {
	var lost time.Time // when the first answer was
	wait := 100 * time.Millisecond
	for refused, fresh := 0, false; refused < maxRefusals; {
		regions, err := l.Cluster.Regions(ctx, fresh)
		if err != nil {
			return fmt.Errorf("read the table's boundaries: %w", err)
		}
		region, err := find(regions, f.First)
		if err != nil {
			return err
		}
		if !region.holds(f.Last) {
			return l.recut(ctx, f, regions)
		}
		loaded, err := l.Cluster.Load(ctx, f.First, Handover{l.dir, f.Path, true, l.token})
		if err == nil && !loaded {
			// The same call without standing in for the user says why, or succeeds;
			// but first see whether it was the boundaries.
			if regions, err = l.Cluster.Regions(ctx, true); err != nil {
				return fmt.Errorf("read the table's boundaries: %w", err)
			}
			now, err := find(regions, f.First)
			if err != nil {
				return err
			}
			if refused++; !now.same(region) {
				fresh = false // they were just read
				continue
			}
			loaded, err = l.Cluster.Load(ctx, f.First, Handover{l.dir, f.Path, false, l.token})
			if err != nil && !errors.Is(err, ErrUnclear) {
				return fmt.Errorf("region %s refuses %d rows: %w", region, f.Rows, err)
			}
		}
		fresh = true
		if err == nil && !loaded {
			continue
		}
		if err != nil && !errors.Is(err, ErrUnclear) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("load %d rows into region %s: %w", f.Rows, region, err)
		}
		if err != nil {
			// On HDFS a load moves the file: a missing file is loaded, or lost with its server.
			var serr error
			if loaded, serr = l.settle(ctx, f); serr != nil {
				return fmt.Errorf("load %d rows into region %s: %w, after %w", f.Rows, region, serr, err)
			}
		}
		if loaded {
			l.done(f)
			return nil
		}
		switch now := l.Now(); {
		case lost.IsZero():
			lost = now
		case now.Sub(lost) > unclearTime:
			return fmt.Errorf("load %d rows into region %s: %w", f.Rows, region, err)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, 5*time.Second)
	}
	return fmt.Errorf("load %d rows from %x to %x: refused %d times although the region's boundaries hold them: see the region server's log", f.Rows, f.First, f.Last, maxRefusals)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (l *Loader) done(f *File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, f.First)
}

// recut cuts a file at the boundaries that there are now and hands the pieces over.
func (l *Loader) recut(ctx context.Context, f *File, regions []Region) error {
	s := &stage{fs: l.fs, dir: l.dir, regions: regions, now: l.Now, bloom: f.bloom}
	defer s.abort()
	if err := mergeInto(ctx, []*File{f}, s); err != nil {
		return fmt.Errorf("cut %d rows at new boundaries: %w", f.Rows, err)
	}
	for _, piece := range s.files {
		if err := l.deliver(ctx, piece); err != nil {
			return err
		}
	}
	return nil
}

// errGone: the file was moved and its rows are not all in the table.
var errGone = errors.New("the server took the file and died before it was in the table: run it again")

// settle finds out whether a file was loaded; false: it is still there, to be
// handed over again, which is right even if it was.
func (l *Loader) settle(ctx context.Context, f *File) (loaded bool, err error) {
	for deadline := l.Now().Add(settleTime); ; {
		if in, err := f.fs.Open(ctx, f.Path); err == nil {
			in.Close()
			return false, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		there, err := l.there(ctx, f)
		if err != nil || there {
			return there, err
		}
		if l.Now().After(deadline) {
			return false, errGone
		}
		if err := sleep(ctx, time.Second); err != nil { // the load may still be under way
			return false, err
		}
	}
}

// there reads back which of the file's loads have which rows: all of them, or not.
func (l *Loader) there(ctx context.Context, f *File) (bool, error) {
	table := crc64.MakeTable(crc64.ECMA)
	var rows, sum uint64
	i := 0
	stop := append(bytes.Clone(f.Last), 0)
	err := l.Cluster.Keys(ctx, f.First, stop, func(row []byte) error {
		for i < len(f.loads) && bytes.Compare(f.loads[i], row[:min(len(row), len(f.loads[i]))]) < 0 {
			i++
		}
		if i < len(f.loads) && bytes.HasPrefix(row, f.loads[i]) {
			rows++
			sum = crc64.Update(sum, table, row)
		}
		return nil
	})
	return rows == f.Rows && sum == f.sum, err
}

// Boundaries makes regions of split keys.
func Boundaries(splits [][]byte) []Region {
	splits = slices.SortedFunc(slices.Values(splits), bytes.Compare)
	regions := []Region{{}}
	for _, k := range splits {
		regions[len(regions)-1].End = k
		regions = append(regions, Region{Start: k})
	}
	return regions
}
