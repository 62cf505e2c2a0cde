package hbase

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/internal/places"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// recordFiles writes the records of a catalog as HFiles, in the order of their keys. No file reaches over a
// boundary of the table's regions. The ledger has a file a salt.
type recordFiles struct {
	dir        string
	boundaries [][]byte
	now        time.Time

	file *recordFile // of the rows outside of the ledger
	at   int         // its region
	salt map[byte]*recordFile
}

type recordFile struct {
	f *os.File
	w *hfile.Writer
}

// exportCatalog writes the records, and returns how many there are.
func exportCatalog(ctx context.Context, from sinks.Catalog, dir string, a *address, now time.Time) (records uint64, err error) {
	dir = filepath.Join(dir, catalogColumn.Family)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return 0, err
	}
	w := &recordFiles{dir: dir, boundaries: a.boundaries(a.catalog()), now: now, salt: map[byte]*recordFile{}}
	err = from.List(ctx, sinks.Span{}, func(r sinks.Row) error {
		records++
		return w.append(r.Key, r.Value)
	})
	return records, errors.Join(err, w.close(err == nil))
}

func (w *recordFiles) append(key, record []byte) error {
	row := places.Row(key)
	if len(row) > len(key) { // of the ledger
		f := w.salt[row[1]]
		if f == nil {
			var err error
			if f, err = w.create(); err != nil {
				return err
			}
			w.salt[row[1]] = f
		}
		return f.w.Append(row, places.Value(record))
	}
	at, is := slices.BinarySearchFunc(w.boundaries, row, bytes.Compare)
	if is {
		at++
	}
	if w.file == nil || w.at != at {
		if err := w.file.close(true); err != nil {
			return err
		}
		f, err := w.create()
		if err != nil {
			return err
		}
		w.file, w.at = f, at
	}
	return w.file.w.Append(row, places.Value(record))
}

func (w *recordFiles) create() (*recordFile, error) {
	f, err := os.OpenFile(filepath.Join(w.dir, bulk.FileName()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	o := hfile.Options{Created: w.now, Family: catalogColumn.Family[0], Timestamp: client.Everlasting, BlockBytes: catalogBlock,
		Bloom: hfile.Bloom{Kind: hfile.BloomRow}}
	return &recordFile{f, hfile.NewWriter(f, o)}, nil
}

// close ends a file. whole: it has all its records.
func (f *recordFile) close(whole bool) error {
	if f == nil {
		return nil
	}
	var err error
	if whole {
		err = f.w.Close()
	}
	return errors.Join(err, f.f.Close())
}

func (w *recordFiles) close(whole bool) error {
	err := w.file.close(whole)
	for _, f := range w.salt {
		err = errors.Join(err, f.close(whole))
	}
	return err
}
