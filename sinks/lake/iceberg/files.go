package iceberg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/icemeta"
)

// files is the catalog of the file system: the newest vN.metadata.json counts. Readers find it by version-hint.text.
type files struct {
	b      bucket.Bucket
	put    func(ctx context.Context, key string, text []byte) error // new: bucket.ErrChanged
	folder func(table string) string
	now    func() time.Time
}

func (f *files) name() string { return f.b.URL("") + tablesFolder }

func (f *files) moves() bool { return true }

func (f *files) hintKey(table string) string { return icemeta.HintKey(f.folder(table) + "metadata/") }

func (f *files) versionKey(table string, n uint64) string {
	return icemeta.VersionKey(f.folder(table)+"metadata/", n)
}

// newest lists the versions of a table and returns the highest; 0: there is none. compressed says that a foreign writer wrote it.
func (f *files) newest(ctx context.Context, table string) (version uint64, compressed bool, err error) {
	prefix := f.folder(table) + "metadata/v"
	err = f.b.List(ctx, prefix, "", func(e bucket.Entry) error {
		name := strings.TrimPrefix(e.Key, prefix)
		number, ok := strings.CutSuffix(name, ".metadata.json")
		number, gz := strings.CutSuffix(number, ".gz")
		n, err := strconv.ParseUint(number, 10, 63)
		if ok && err == nil && strconv.FormatUint(n, 10) == number && (n > version || n == version && gz) {
			version, compressed = n, gz
		}
		return nil
	})
	if errors.Is(err, bucket.ErrNotFound) {
		return 0, false, nil
	}
	return version, compressed, err
}

func (f *files) load(ctx context.Context, table string) (*standing, error) {
	n, compressed, err := f.newest(ctx, table)
	if err != nil || n == 0 {
		return nil, err
	}
	if compressed {
		return nil, fmt.Errorf("%w: version %d of its metadata is compressed", ErrForeign, n)
	}
	key := f.versionKey(table, n)
	text, err := read(ctx, f.b, key, icemeta.MaxBytes)
	if err != nil {
		return nil, err
	}
	m, err := icemeta.Read(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.b.URL(key), err)
	}
	s := &standing{metadata: m, version: n}
	if hint, err := read(ctx, f.b, f.hintKey(table), 64); err == nil {
		s.hint = strings.TrimSpace(string(hint))
	} else if !errors.Is(err, bucket.ErrNotFound) && !errors.Is(err, bucket.ErrChanged) { // else another publisher just wrote it
		return nil, err
	}
	return s, nil
}

// create implements catalog. It tries whether the bucket refuses to write the first version twice: commits depend on it.
func (f *files) create(ctx context.Context, s *shape, m *metadata) error {
	if err := f.write(ctx, s.table.Name, 1, m); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	key := f.versionKey(s.table.Name, 1)
	switch err := f.put(ctx, key, text); {
	case errors.Is(err, bucket.ErrChanged):
		return nil
	case err != nil:
		return err
	}
	return errors.Join(fmt.Errorf("%s: %w", f.name(), sinks.ErrLakeUnsafe), f.b.Delete(ctx, []string{key, f.hintKey(s.table.Name)}))
}

func (f *files) write(ctx context.Context, table string, version uint64, m *metadata) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := f.put(ctx, f.versionKey(table, version), text); err != nil {
		if errors.Is(err, bucket.ErrChanged) {
			return errChanged
		}
		return err
	}
	return icemeta.Point(ctx, f.b, f.folder(table)+"metadata/", version)
}

func (f *files) commit(ctx context.Context, table string, base *standing, c *change) error {
	n, err := with(base.metadata, c, f.now())
	if err != nil {
		return err
	}
	log := append(append([]icemeta.Written(nil), base.MetadataLog...), icemeta.Written{At: base.LastUpdated, File: f.location(table, base.version)})
	n.MetadataLog = log[max(0, len(log)-keepVersions+1):]
	if err := f.write(ctx, table, base.version+1, n); err != nil {
		return err
	}
	if base.version+1 > keepVersions {
		return f.b.Delete(ctx, []string{f.versionKey(table, base.version+1-keepVersions)})
	}
	return nil
}

// location of a version, as the table's other locations are written.
func (f *files) location(table string, version uint64) string {
	return icemeta.Location(f.b.URL("")) + f.versionKey(table, version)
}
