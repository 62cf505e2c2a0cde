package file

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hostfile"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

const (
	// bigLoad: a load with more bytes gets a file of its own, written as rows come.
	bigLoad = 1 << 20
	// packBytes bounds what a batch buffers of small loads: a full pack is written before Commit.
	packBytes = 16 << 20
)

// batch buffers small loads and writes big ones as they come. Memory is one pack, one small load and a block.
type batch struct {
	*store
	id  string // of 16 hex digits
	err error  // the first one; or that the batch is over

	order sinks.Order
	at    sinks.Prefix
	rows  []sinks.Row // of the load at at, while it is small
	size  int         // their bytes
	big   *output     // of the load at at, once it is not
	pack  []small
	bytes int // in pack

	names []string // of every file created
	open  *os.File // the one being written
	alive *os.File // the first of them, locked
	done  []loadOf
}

var errOver = errors.New("batch is already committed or aborted")

func (b blocks) Begin(ctx context.Context) (sinks.Batch, error) {
	if b.readOnly {
		return nil, errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var id [8]byte
	rand.Read(id[:]) // never fails
	return &batch{store: b.store, id: fmt.Sprintf("%x", id)}, nil
}

func (b *batch) Write(r sinks.Row) error {
	if b.err == nil {
		b.err = b.write(r)
	}
	return b.err
}

func (b *batch) write(r sinks.Row) error {
	begins, err := b.order.Add(r.Key)
	if err != nil {
		return err
	}
	if begins {
		if err := b.endLoad(); err != nil {
			return err
		}
		b.at = sinks.Prefix(r.Key)
	}
	if b.big != nil {
		return b.big.Append(r.Key, r.Value)
	}
	b.rows = append(b.rows, r)
	b.size += len(r.Key) + len(r.Value)
	if b.size <= bigLoad {
		return nil
	}
	o, err := b.create()
	if err != nil {
		return err
	}
	o.loads = []sinks.Prefix{b.at}
	rows := b.rows
	b.big, b.rows, b.size = o, nil, 0
	return o.write(rows)
}

// endLoad settles the load being written: its own file is finished, or its rows go to the pack.
func (b *batch) endLoad() error {
	if b.big != nil {
		o := b.big
		b.big = nil
		return b.finish(o)
	}
	if len(b.rows) == 0 {
		return nil
	}
	b.pack = append(b.pack, small{b.at, b.rows})
	b.bytes += b.size
	b.rows, b.size = nil, 0
	if b.bytes < packBytes {
		return nil
	}
	return b.endPack()
}

// endPack writes the small loads in order of their keys.
func (b *batch) endPack() error {
	if len(b.pack) == 0 {
		return nil
	}
	slices.SortFunc(b.pack, comparePrefix)
	o, err := b.create()
	if err != nil {
		return err
	}
	for _, s := range b.pack {
		if err := o.write(s.rows); err != nil {
			return err
		}
		o.loads = append(o.loads, s.at)
	}
	b.pack, b.bytes = nil, 0
	return b.finish(o)
}

func (b *batch) Commit(ctx context.Context) error {
	if b.err == nil {
		b.err = ctx.Err()
	}
	if b.err == nil {
		b.err = b.commit(ctx)
	}
	if b.err != nil {
		return b.err
	}
	b.end()
	return nil
}

func (b *batch) commit(ctx context.Context) error {
	if err := b.endLoad(); err != nil {
		return err
	}
	if err := b.endPack(); err != nil {
		return err
	}
	if len(b.names) == 0 {
		return nil
	}
	for _, name := range b.names {
		if err := os.Rename(b.temporary(name), b.path(name)); err != nil {
			return err
		}
	}
	folder := filepath.Dir(b.path(b.names[0])) // they share it
	if err := errors.Join(hostfile.SyncFolder(folder), hostfile.SyncFolder(filepath.Dir(folder))); err != nil {
		return err
	}
	var empty []string
	err := b.db.apply(ctx, func(w *writer) (verdict, err error) {
		empty, err = enter(w, b.done)
		return nil, err
	})
	if err != nil {
		return fmt.Errorf("enter %d files in the catalog: %w", len(b.names), err)
	}
	for _, l := range b.done {
		b.where.forget(l.at)
	}
	_ = b.unlink(empty) // of loads written again; Tidy's if it fails
	return nil
}

// end closes the open file.
func (b *batch) end() {
	b.err = errOver
	if b.open != nil && b.open != b.alive {
		b.open.Close() // given up
	}
	if b.alive != nil {
		b.alive.Close() // synced before, where it matters; unlocks
	}
	b.big, b.open, b.alive, b.rows, b.pack = nil, nil, nil, nil, nil
}

func (b *batch) Abort() {
	if b.err == errOver {
		return
	}
	// After an unclear end of the transaction the files may be in use; a store
	// that cannot say leaves them to Tidy.
	if is, err := b.where.inUse(b.names); err == nil {
		for _, name := range b.names {
			if !is[name] {
				hostfile.Unlink(b.temporary(name)) // one of them is there
				hostfile.Unlink(b.path(name))
			}
		}
	}
	b.end()
}

// create opens the next file of the batch. The first one is kept open and
// locked until the batch is over: by that Tidy knows that it lives.
func (b *batch) create() (*output, error) {
	name := fmt.Sprintf("%s%016x", b.id, len(b.names))
	path := b.temporary(name)
	f, err := hostfile.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		f, err = hostfile.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	}
	if err != nil {
		return nil, err
	}
	b.names = append(b.names, name)
	b.open = f
	if b.alive == nil {
		b.alive = f
		if _, err := hostfile.Lock(f, false, true); err != nil { // at most Tidy has it, for a moment
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
	return &output{name: name, file: f, Writer: hfile.NewWriter(f, hfile.Options{Created: b.now()})}, nil
}

// finish completes and syncs a file, and enters its loads in what the batch will commit.
func (b *batch) finish(o *output) error {
	if err := errors.Join(o.Close(), o.file.Sync()); err != nil {
		return err
	}
	if b.open = nil; o.file != b.alive {
		if err := o.file.Close(); err != nil {
			return err
		}
	}
	for _, at := range o.loads {
		b.done = append(b.done, loadOf{at, o.name})
	}
	return nil
}
