package lake

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Verify reads back what the newest manifest names, as far as it tells which rows there are, and calls problem
// for each fault. It calls rows with the number of rows of ranges of each load. It fails if ctx ends or
// the bucket cannot be read at all.
func (l *Lake) Verify(ctx context.Context, rows func(id symbol.ID, load sinks.Load, n uint64), problem func(where string, err error)) error {
	s, err := l.state(ctx)
	if err != nil || s.manifest == nil {
		return err
	}
	files := map[string]map[loadKey]uint64{}
	for i := range s.manifest.Files {
		e := &s.manifest.Files[i]
		counts, err := l.count(ctx, e)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			problem("file "+l.b.URL(e.Path), err)
			continue
		}
		files[e.Path] = counts
	}
	for id, r := range s.live {
		key := loadKey{id, r.load}
		for _, path := range []string{r.file, r.facts, r.names} {
			counts, read := files[path]
			switch {
			case path == "":
			case s.manifest.find(path) == nil:
				problem("artifact "+id.String(), fmt.Errorf("the manifest does not name its file %s", path))
			case read && counts[key] == 0:
				problem("artifact "+id.String(), fmt.Errorf("file %s has no row of its load %x", path, r.load))
			}
		}
		for path, counts := range files {
			if e := s.manifest.find(path); counts[key] > 0 && (e.Table == rangesTable || e.Table == classesTable) && path != r.file {
				problem("artifact "+id.String(), fmt.Errorf("its load %x has rows in %s and in %s", r.load, r.file, path))
			}
		}
		if e := s.manifest.find(r.file); e != nil && e.Table == rangesTable || r.file == "" {
			rows(id, r.load, files[r.file][key])
		}
	}
	return nil
}

// count reads which loads a file has rows of, and how many.
func (l *Lake) count(ctx context.Context, e *entry) (map[loadKey]uint64, error) {
	there, _, err := l.b.Stat(ctx, e.Path)
	if err != nil {
		return nil, err
	}
	if there.Size != e.Bytes {
		return nil, fmt.Errorf("it has %d bytes, its manifest says %d", there.Size, e.Bytes)
	}
	r, err := l.b.Open(ctx, there)
	if err != nil {
		return nil, err
	}
	counts := map[loadKey]uint64{}
	var total uint64
	var key loadKey
	var last [2]string
	err = pqfile.ReadTexts(ctx, l.o.Keys, r, there.Size, []int{0, 1}, func(row []string) error {
		if !slices.Equal(row, last[:]) {
			copy(last[:], row)
			id, err := symbol.ParseID(row[0])
			n, err1 := hex.Decode(key.load[:], []byte(row[1]))
			if err != nil || err1 != nil || n != len(key.load) {
				return fmt.Errorf("artifact %q, load %q", row[0], row[1])
			}
			key.id = id
		}
		counts[key]++
		total++
		return ctx.Err()
	})
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if total != e.Rows || len(counts) > e.Loads {
		return nil, fmt.Errorf("%d rows of %d loads, its manifest says %d of %d", total, len(counts), e.Rows, e.Loads)
	}
	return counts, nil
}
