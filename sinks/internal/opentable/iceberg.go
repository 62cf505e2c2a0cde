package opentable

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/avro"
	"github.com/symlake/symlake/sinks/internal/icemeta"
)

const icebergFolder = "metadata/"

// Iceberg is what only Iceberg has.
type Iceberg struct {
	Key      string // of the metadata file
	Metadata []byte // of the table
	Schema   int    // id of the schema of the snapshot
	List     string // key of the list of manifests; "": the table has no snapshot
	Location string // of the table, as its metadata says
}

// icebergMetadata is what a metadata file says.
type icebergMetadata struct {
	Version   int64  `json:"format-version"`
	ID        string `json:"table-uuid"`
	Location  string `json:"location"`
	Current   *int64 `json:"current-snapshot-id"`
	Schema    int    `json:"current-schema-id"`
	Snapshots []struct {
		ID       int64  `json:"snapshot-id"`
		Manifest string `json:"manifest-list"`
		Schema   *int   `json:"schema-id"`
	} `json:"snapshots"`
	Specs []partitionSpec `json:"partition-specs"`
}

// partitionSpec says by what files are partitioned.
type partitionSpec struct {
	ID     int64 `json:"spec-id"`
	Fields []struct {
		Source    int    `json:"source-id"`
		Name      string `json:"name"`
		Transform string `json:"transform"`
	} `json:"fields"`
}

// global reports whether the spec parts nothing.
func (s *partitionSpec) global() bool {
	for _, f := range s.Fields {
		if f.Transform != "void" {
			return false
		}
	}
	return true
}

// identity returns the values of a partition that are values of columns, by the number of the column.
func (s *partitionSpec) identity(partition map[string]any) map[int]any {
	all := map[int]any{}
	for _, f := range s.Fields {
		if v, ok := partition[f.Name]; ok && f.Transform == "identity" {
			all[f.Source] = v
		}
	}
	return all
}

// openIceberg reads the manifests of a snapshot of an Iceberg table.
func openIceberg(ctx context.Context, b bucket.Bucket, snapshot int64, whole bool) (*Table, error) {
	key, err := newestMetadata(ctx, b)
	if err != nil || key == "" {
		return nil, err
	}
	text, err := Read(ctx, b, key)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(key, ".gz.metadata.json") {
		if text, err = unpack(text); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrTable, key, err)
		}
	}
	var m icebergMetadata
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTable, key, err)
	}
	if m.Version < 1 || m.Version > 3 {
		return nil, fmt.Errorf("%w: %s has version %d of the format, and symlake reads 1 to 3", ErrTable, key, m.Version)
	}
	t := &Table{Format: "iceberg", Version: Newest, ID: m.ID, Iceberg: &Iceberg{Key: key, Metadata: text, Schema: m.Schema, Location: m.Location}, whole: whole}
	newest := snapshot == Newest
	if newest {
		if m.Current == nil || *m.Current == -1 {
			return t, nil // without rows
		}
		snapshot = *m.Current
	}
	t.Version = snapshot
	for _, s := range m.Snapshots {
		if s.ID == snapshot {
			if s.Manifest == "" {
				return nil, fmt.Errorf("%w: snapshot %d has no list of manifests; rewrite its manifests", ErrTable, snapshot)
			}
			if s.Schema != nil && !newest {
				t.Iceberg.Schema = *s.Schema
			}
			t.Names, t.specs = namesOf(text, t.Iceberg.Schema), map[int64]partitionSpec{}
			for _, s := range m.Specs {
				t.specs[s.ID] = s
			}
			if err := t.manifests(ctx, b, m.Location, s.Manifest); err != nil {
				return nil, err
			}
			return t, t.readDeletes(ctx, b, m.Location)
		}
	}
	return nil, fmt.Errorf("%w: %s has no snapshot %d", ErrTable, key, snapshot)
}

// newestMetadata finds the metadata file that counts: what version-hint.text names, or a version behind it that was written since,
// or without a hint the one of the highest number. "" means that there is none.
func newestMetadata(ctx context.Context, b bucket.Bucket) (string, error) {
	best, highest := "", int64(-1)
	versions := map[int64]bool{} // vN.metadata.json
	hinted := false
	err := b.List(ctx, icebergFolder, "", func(e bucket.Entry) error {
		name := strings.TrimPrefix(e.Key, icebergFolder)
		if e.Key == icemeta.HintKey(icebergFolder) {
			hinted = true
		}
		base, ok := strings.CutSuffix(name, ".metadata.json")
		if !ok || strings.Contains(name, "/") {
			return nil
		}
		base, packed := strings.CutSuffix(base, ".gz")
		digits, _, _ := strings.Cut(strings.TrimPrefix(base, "v"), "-")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil
		}
		if n >= highest {
			best, highest = e.Key, n
		}
		if base == "v"+digits && !packed {
			versions[n] = true
		}
		return nil
	})
	if err != nil || !hinted || best == "" {
		return best, err
	}
	hint, err := Read(ctx, b, icemeta.HintKey(icebergFolder))
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(hint))
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		for versions[n+1] { // its writer died before it wrote the hint, or is about to write it
			n++
		}
		name = "v" + strconv.FormatInt(n, 10)
		if !versions[n] && best == icebergFolder+name+".gz.metadata.json" {
			return best, nil
		}
	}
	return icebergFolder + strings.TrimSuffix(name, ".metadata.json") + ".metadata.json", nil
}

// manifests reads the manifests of a list.
func (t *Table) manifests(ctx context.Context, b bucket.Bucket, location, list string) error {
	key, err := KeyOf(b, location, list)
	if err != nil {
		return err
	}
	t.Iceberg.List = key
	text, err := Read(ctx, b, key)
	if err != nil {
		return err
	}
	return eachRecord(text, func(r map[string]any) error {
		path, _ := r["manifest_path"].(string)
		key, err := KeyOf(b, location, path)
		if err != nil {
			return err
		}
		text, err := Read(ctx, b, key)
		if err != nil {
			return err
		}
		f, err := avro.Open(text)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrTable, err)
		}
		partition := ""
		if t.whole {
			partition = f.Schema.Field("data_file", "partition")
		}
		spec, _ := r["partition_spec_id"].(int64)
		err = f.Each(func(entry map[string]any) error {
			before := len(t.Files)
			err := t.entry(b, location, spec, entry, sequenceOf(r, entry))
			if t.whole && len(t.Files) > before {
				f := &t.Files[before]
				f.Entry, _ = entry["data_file"].(map[string]any)
				f.Spec, f.Partition = spec, partition
			}
			return err
		})
		if errors.Is(err, avro.ErrFile) {
			return fmt.Errorf("%w: %w", ErrTable, err)
		}
		return err
	})
}

// sequenceOf returns the number of the commit that added a file: of its entry, or else of the manifest. Version 1 has none.
func sequenceOf(manifest, entry map[string]any) int64 {
	if n, ok := entry["sequence_number"].(int64); ok {
		return n
	}
	n, _ := manifest["sequence_number"].(int64)
	return n
}

// Of an entry of a manifest.
const (
	entryDeleted   = 2
	contentDeletes = 1 // by position
	contentEqual   = 2 // by value
)

func (t *Table) entry(b bucket.Bucket, location string, spec int64, entry map[string]any, sequence int64) error {
	if status, _ := entry["status"].(int64); status == entryDeleted {
		return nil
	}
	f, _ := entry["data_file"].(map[string]any)
	path, _ := f["file_path"].(string)
	content, _ := f["content"].(int64)
	form, _ := f["file_format"].(string)
	key, err := KeyOf(b, location, path)
	partition, _ := f["partition"].(map[string]any)
	parted := t.specs[spec]
	scope := fmt.Sprintf("%d %#v", spec, partition)
	switch {
	case content > contentEqual:
		return fmt.Errorf("%w: %s has content %d, and symlake reads 0 to %d", ErrTable, path, content, contentEqual)
	case content == contentDeletes && strings.EqualFold(form, "puffin"):
		d := deletes{key: key, sequence: sequence}
		d.references, _ = f["referenced_data_file"].(string)
		d.offset, _ = f["content_offset"].(int64)
		if d.bytes, _ = f["content_size_in_bytes"].(int64); d.bytes <= 0 || d.references == "" {
			return fmt.Errorf("%w: %s has deleted rows of no file", ErrTable, path)
		}
		t.deletes = append(t.deletes, d)
	case !strings.EqualFold(form, "parquet"):
		return fmt.Errorf("%w: %s is of format %s, and symlake reads Parquet", ErrTable, path, form)
	case content == contentDeletes:
		t.deletes = append(t.deletes, deletes{key: key, sequence: sequence})
	case content == contentEqual:
		d := deletes{key: key, sequence: sequence, scope: scope}
		if parted.global() {
			d.scope = ""
		}
		ids, _ := f["equality_ids"].([]any)
		for _, id := range ids {
			n, _ := id.(int64)
			d.columns = append(d.columns, int(n))
		}
		if len(d.columns) == 0 || t.Names == nil {
			return fmt.Errorf("%w: %s deletes rows by the values of no column", ErrTable, path)
		}
		t.deletes = append(t.deletes, d)
	default:
		file := File{Key: key, sequence: sequence, scope: scope, identity: parted.identity(partition), names: t.Names}
		if t.Names != nil {
			file.Values = t.Names.beside(&file)
		}
		t.Files = append(t.Files, file)
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

// unpack returns what gzip compressed.
func unpack(text []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, icemeta.MaxBytes+1))
	if err == nil && len(plain) > icemeta.MaxBytes {
		err = fmt.Errorf("it has more than %d bytes", icemeta.MaxBytes)
	}
	return plain, err
}
