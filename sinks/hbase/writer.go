package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// WriteOptions say how rows get into the table. Zero values are what is documented.
type WriteOptions struct {
	// Puts sends rows as mutations, where HBase's file system is out of reach:
	// slower, dearer for the servers, the same rows in the end.
	Puts    bool
	Scratch string // folder for sealed rows before they are sent as Puts; "": the system's
	// User is whom HDFS is told; "": the process's. HadoopConf is a folder of
	// core-site.xml and hdfs-site.xml, for name services.
	User, HadoopConf string
	// Notice hears what an operator may want to know, from any goroutine (nil: nobody).
	Notice func(string)
	Now    func() time.Time // nil: time.Now
}

// writer is the writing half of a store's blocks: batches, Drop and Tidy.
//
// Beside the catalog's records its table holds the writer's notes, in columns of
// their own, which no reader asks for:
//
//	"g" artifact ‖ load   column g   generation that the load's cells carry from now on (8);
//	                                 none: 1
//	"s" staging folder    column s   when it was made, when its batch was last heard of (8 each, ms)
type writer struct {
	c       *client.Client
	rows    client.Table
	catalog client.Table
	family  string // of the catalog's table
	o       WriteOptions

	mu      sync.Mutex
	regions []*client.Region     // as last read
	staging map[string]time.Time // folders of batches of this process: when they were last noted
	dropped map[string][]byte    // regions, by name, whose rows were dropped: one of their rows
}

func newWriter(c *client.Client, rows, catalog client.Table, family string, o WriteOptions) *writer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return &writer{c: c, rows: rows, catalog: catalog, family: family, o: o,
		staging: make(map[string]time.Time), dropped: make(map[string][]byte)}
}

// rowColumn is where a row's value is.
func rowColumn() client.Column { return client.Column{Family: "b", Qualifier: "v"} }

func (w *writer) note(qualifier string) client.Column {
	return client.Column{Family: w.family, Qualifier: qualifier}
}

const (
	noteGeneration = "g"
	noteStaging    = "s"
)

// Begin implements sinks.Blocks.
func (w *writer) Begin(ctx context.Context) (sinks.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := bulk.Options{Generations: w.generations, Now: w.o.Now}
	if w.o.Puts {
		o.To = &puts{w: w}
	} else {
		o.To = &bulk.Loader{Cluster: cluster{w}, Files: w.files, Done: w.loaded, Now: w.o.Now}
	}
	return bulk.New(ctx, o), nil
}

func (w *writer) files(ctx context.Context, dir string) (bulk.FileSystem, error) {
	return bulk.OpenFileSystem(ctx, dir, bulk.FileOptions{User: w.o.User, HadoopConf: w.o.HadoopConf})
}

// generationKey is the row of a load's note.
func generationKey(prefix []byte) []byte { return append([]byte(noteGeneration), prefix...) }

// generations gives what the cells of loads are to be stamped with: 1, and 1 more
// each time their rows were dropped, so that they stand above the delete markers.
func (w *writer) generations(ctx context.Context, prefixes [][]byte) ([]uint64, error) {
	keys := make([][]byte, len(prefixes))
	for i, p := range prefixes {
		keys[i] = generationKey(p)
	}
	cells, err := w.c.GetAll(ctx, w.catalog, w.note(noteGeneration), keys)
	if err != nil {
		return nil, err
	}
	list := make([]uint64, len(cells))
	for i, c := range cells {
		if list[i], err = generation(c); err != nil {
			return nil, err
		}
	}
	return list, w.heartbeat(ctx)
}

func generation(c client.Cell) (uint64, error) {
	switch {
	case c.Row == nil:
		return 1, nil
	case len(c.Value) != 8:
		return 0, fmt.Errorf("note %x of %d bytes: %w", c.Row, len(c.Value), sinks.ErrCorrupt)
	}
	return binary.BigEndian.Uint64(c.Value), nil
}

// raise makes the generation of a load at least n.
func (w *writer) raise(ctx context.Context, prefix []byte, n uint64) error {
	key, col := generationKey(prefix), w.note(noteGeneration)
	for {
		old, err := w.c.Get(ctx, w.catalog, col, key)
		if err != nil {
			return err
		}
		is, err := generation(old)
		if err != nil || is >= n {
			return err
		}
		done, err := w.c.CheckAndPut(ctx, w.catalog, col, key, old.Value, binary.BigEndian.AppendUint64(nil, n))
		if done || err != nil && !client.Unclear(err) || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

// dropRows is how many rows are deleted in one transaction: mostly a whole load.
const dropRows = 4096

// Drop implements sinks.Blocks. HBase deletes by markers, which hide every cell
// up to their own timestamp until a major compaction; so the load's generation
// is raised first, and what is loaded after that stands above them.
func (w *writer) Drop(ctx context.Context, prefixes [][]byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, p := range prefixes {
		if len(p) != sinks.PrefixBytes {
			return fmt.Errorf("drop %x: not a prefix of %d bytes", p, sinks.PrefixBytes)
		}
	}
	for _, p := range prefixes {
		if err := w.drop(ctx, p); err != nil {
			return fmt.Errorf("drop load %x: %w", p, err)
		}
	}
	return nil
}

func (w *writer) drop(ctx context.Context, prefix []byte) error {
	var keys [][]byte
	stamp := uint64(0)
	flush := func() error {
		if len(keys) == 0 {
			return nil
		}
		if err := w.raise(ctx, prefix, stamp+1); err != nil {
			return fmt.Errorf("note its generation: %w", err)
		}
		cells := make([]client.Cell, len(keys))
		for i, k := range keys {
			cells[i] = client.Delete(k, rowColumn(), stamp)
		}
		keys = keys[:0]
		return w.c.Write(ctx, w.rows, cells, client.TableDefault, true)
	}
	span := client.Span{From: prefix, Stop: bulk.After(prefix)}
	err := w.c.Scan(ctx, w.rows, rowColumn(), span, client.ScanOptions{KeysOnly: true, Once: true}, func(c client.Cell) error {
		keys, stamp = append(keys, bytes.Clone(c.Row)), max(stamp, c.Timestamp)
		if len(keys) < dropRows {
			return nil
		}
		return flush()
	})
	if err == nil {
		if len(keys) > 0 || stamp > 0 {
			w.mu.Lock()
			w.dropped[string(prefix)] = prefix
			w.mu.Unlock()
		}
		err = flush()
	}
	return err
}
