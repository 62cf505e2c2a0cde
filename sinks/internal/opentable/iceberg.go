package opentable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/avro"
)

const icebergFolder = "metadata/"

// icebergMetadata is what a metadata file says.
type icebergMetadata struct {
	Version   int64  `json:"format-version"`
	Location  string `json:"location"`
	Current   *int64 `json:"current-snapshot-id"`
	Snapshots []struct {
		ID       int64  `json:"snapshot-id"`
		Manifest string `json:"manifest-list"`
	} `json:"snapshots"`
}

// openIceberg reads the manifests of a snapshot of an Iceberg table.
func openIceberg(ctx context.Context, b bucket.Bucket, snapshot int64) (*Table, error) {
	key, err := newestMetadata(ctx, b)
	if err != nil || key == "" {
		return nil, err
	}
	text, err := read(ctx, b, key)
	if err != nil {
		return nil, err
	}
	var m icebergMetadata
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTable, key, err)
	}
	if m.Version < 1 || m.Version > 3 {
		return nil, fmt.Errorf("%w: %s has version %d of the format, and symlake reads 1 to 3", ErrTable, key, m.Version)
	}
	if snapshot == Newest {
		if m.Current == nil || *m.Current == -1 {
			return &Table{Format: "iceberg", Version: Newest}, nil // without rows
		}
		snapshot = *m.Current
	}
	t := &Table{Format: "iceberg", Version: snapshot}
	for _, s := range m.Snapshots {
		if s.ID == snapshot {
			if s.Manifest == "" {
				return nil, fmt.Errorf("%w: snapshot %d has no list of manifests; rewrite its manifests", ErrTable, snapshot)
			}
			return t, t.manifests(ctx, b, m.Location, s.Manifest)
		}
	}
	return nil, fmt.Errorf("%w: %s has no snapshot %d", ErrTable, key, snapshot)
}

// newestMetadata finds the metadata file that counts: what version-hint.text names, or else the one of the highest number. ""
// means that there is none.
func newestMetadata(ctx context.Context, b bucket.Bucket) (string, error) {
	best, highest := "", int64(-1)
	hinted := false
	err := b.List(ctx, icebergFolder, "", func(e bucket.Entry) error {
		name := strings.TrimPrefix(e.Key, icebergFolder)
		if name == "version-hint.text" {
			hinted = true
		}
		base, ok := strings.CutSuffix(strings.TrimSuffix(name, ".gz"), ".metadata.json")
		if !ok || strings.Contains(name, "/") || strings.HasSuffix(name, ".gz") {
			return nil
		}
		digits, _, _ := strings.Cut(strings.TrimPrefix(base, "v"), "-")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n >= highest {
			best, highest = e.Key, n
		}
		return nil
	})
	if err != nil || !hinted || best == "" {
		return best, err
	}
	hint, err := read(ctx, b, icebergFolder+"version-hint.text")
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(hint))
	if _, err := strconv.ParseInt(name, 10, 64); err == nil {
		name = "v" + name
	}
	return icebergFolder + strings.TrimSuffix(name, ".metadata.json") + ".metadata.json", nil
}

// manifests reads the manifests of a list.
func (t *Table) manifests(ctx context.Context, b bucket.Bucket, location, list string) error {
	key, err := keyOf(b, location, list)
	if err != nil {
		return err
	}
	text, err := read(ctx, b, key)
	if err != nil {
		return err
	}
	return eachRecord(text, func(r map[string]any) error {
		path, _ := r["manifest_path"].(string)
		key, err := keyOf(b, location, path)
		if err != nil {
			return err
		}
		text, err := read(ctx, b, key)
		if err != nil {
			return err
		}
		return eachRecord(text, func(entry map[string]any) error { return t.entry(b, location, entry) })
	})
}

// Of an entry of a manifest.
const (
	entryDeleted   = 2
	contentRows    = 0
	contentDeletes = 1 // by position
)

func (t *Table) entry(b bucket.Bucket, location string, entry map[string]any) error {
	if status, _ := entry["status"].(int64); status == entryDeleted {
		return nil
	}
	f, _ := entry["data_file"].(map[string]any)
	path, _ := f["file_path"].(string)
	content, _ := f["content"].(int64)
	form, _ := f["file_format"].(string)
	switch {
	case content == contentDeletes:
		return fmt.Errorf("%w: rows are deleted by position in %s, which symlake does not read; run rewrite_data_files with delete-file-threshold 1 first", ErrTable, path)
	case content != contentRows:
		return fmt.Errorf("%w: rows are deleted by value in %s, which symlake does not read; run rewrite_data_files first", ErrTable, path)
	case !strings.EqualFold(form, "parquet"):
		return fmt.Errorf("%w: %s is of format %s, and symlake reads Parquet", ErrTable, path, form)
	}
	key, err := keyOf(b, location, path)
	if err == nil {
		t.Files = append(t.Files, File{Key: key})
	}
	return err
}

// eachRecord emits the records of a file of Avro.
func eachRecord(text []byte, emit func(r map[string]any) error) error {
	f, err := avro.Open(text)
	if err == nil {
		err = f.Each(emit)
	}
	if errors.Is(err, avro.ErrFile) {
		return fmt.Errorf("%w: %w", ErrTable, err)
	}
	return err
}
