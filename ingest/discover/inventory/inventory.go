// Package inventory reads S3 Inventory: the daily or weekly list of a bucket's
// objects, as CSV or Parquet files that a manifest names. For the first backfill
// of a bucket it replaces thousands of LIST requests.
//
// An inventory is of some time ago and in no order; what has changed since is
// found when the objects are opened, and by the next listing. ORC is not read.
package inventory

import (
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/sinks/bucket"
)

// maxManifest bounds a manifest: 10^8 objects are some hundred files.
const maxManifest = 64 << 20

// Manifest says which files make up an inventory.
type Manifest struct {
	SourceBucket string `json:"sourceBucket"`
	Format       string `json:"fileFormat"` // CSV or Parquet
	Schema       string `json:"fileSchema"` // of CSV: names of the columns
	Files        []File `json:"files"`
}

// File is one file of an inventory.
type File struct {
	Key  string `json:"key"` // in the bucket that the inventory is written to
	Size int64  `json:"size"`
	MD5  string `json:"MD5checksum"`
}

// ReadManifest reads a manifest.json.
func ReadManifest(ctx context.Context, b bucket.Bucket, key string) (*Manifest, error) {
	e, _, err := b.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	if e.Size > maxManifest {
		return nil, fmt.Errorf("%s: %d bytes are too many for a manifest", b.URL(key), e.Size)
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.NewSectionReader(r, 0, e.Size))
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: no manifest of an inventory: %w", b.URL(key), err)
	}
	if m.SourceBucket == "" || len(m.Files) == 0 || m.Format != "CSV" && m.Format != "Parquet" {
		return nil, fmt.Errorf("%s: no manifest of an inventory in CSV or Parquet", b.URL(key))
	}
	return m, nil
}

// Read emits the objects of an inventory, with whole URLs ("s3://bucket/key") as keys. b is the bucket of the inventory,
// from its root. Old versions and delete markers are left out. emit's error comes back unchanged.
func (m *Manifest) Read(ctx context.Context, b bucket.Bucket, emit func(bucket.Entry) error) error {
	for _, f := range m.Files {
		if err := m.file(ctx, b, f, emit); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manifest) file(ctx context.Context, b bucket.Bucket, f File, emit func(bucket.Entry) error) (err error) {
	e, _, err := b.Stat(ctx, f.Key)
	if err != nil {
		return err
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sum := md5.New()
	if f.MD5 != "" {
		if _, err := io.Copy(sum, io.NewSectionReader(r, 0, e.Size)); err != nil {
			return err
		}
		if got := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(got, f.MD5) {
			return fmt.Errorf("%s: its MD5 is %s, and %s by the manifest", b.URL(f.Key), got, f.MD5)
		}
	}
	if m.Format == "CSV" {
		err = m.csv(io.NewSectionReader(r, 0, e.Size), emit)
	} else {
		err = formats.Guard("inventory", func() error { return m.parquet(r, e.Size, emit) }) // the library panics on some damage
	}
	if err != nil {
		return fmt.Errorf("%s: %w", b.URL(f.Key), err)
	}
	return ctx.Err()
}

// object is one line of an inventory.
type object struct {
	Bucket   string    `parquet:"bucket,optional"`
	Key      string    `parquet:"key,optional"`
	Size     int64     `parquet:"size,optional"`
	Modified time.Time `parquet:"last_modified_date,optional,timestamp(millisecond)"`
	ETag     string    `parquet:"e_tag,optional"`
	Latest   *bool     `parquet:"is_latest,optional"`
	Deleted  *bool     `parquet:"is_delete_marker,optional"`
}

func (m *Manifest) emit(o *object, emit func(bucket.Entry) error) error {
	if o.Latest != nil && !*o.Latest || o.Deleted != nil && *o.Deleted || o.Key == "" || o.Bucket != "" && o.Bucket != m.SourceBucket {
		return nil
	}
	if o.Size == 0 && strings.HasSuffix(o.Key, "/") { // a folder mark
		return nil
	}
	return emit(bucket.Entry{Key: "s3://" + m.SourceBucket + "/" + o.Key, ETag: strings.Trim(o.ETag, `"`), Size: o.Size, Modified: o.Modified})
}

func (m *Manifest) csv(r io.Reader, emit func(bucket.Entry) error) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	columns := map[string]int{}
	for i, name := range strings.Split(m.Schema, ",") {
		columns[strings.TrimSpace(name)] = i
	}
	if _, ok := columns["Key"]; !ok {
		return fmt.Errorf("its schema %q has no Key", m.Schema)
	}
	lines := csv.NewReader(z)
	lines.ReuseRecord = true
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		field := func(name string) string {
			if i, ok := columns[name]; ok && i < len(fields) {
				return fields[i]
			}
			return ""
		}
		o := &object{Bucket: field("Bucket"), ETag: strings.Clone(field("ETag"))}
		if o.Key, err = url.QueryUnescape(field("Key")); err != nil {
			return fmt.Errorf("key %q: %w", field("Key"), err)
		}
		o.Key = strings.Clone(o.Key)
		if o.Size, err = strconv.ParseInt(field("Size"), 10, 64); err != nil {
			o.Size, o.ETag = 0, "" // it is asked for
		}
		o.Modified, _ = time.Parse(time.RFC3339, field("LastModifiedDate")) // for people
		if b, err := strconv.ParseBool(field("IsLatest")); err == nil {
			o.Latest = &b
		}
		if b, err := strconv.ParseBool(field("IsDeleteMarker")); err == nil {
			o.Deleted = &b
		}
		if err := m.emit(o, emit); err != nil {
			return err
		}
	}
}

func (m *Manifest) parquet(r io.ReaderAt, size int64, emit func(bucket.Entry) error) error {
	f, err := parquet.OpenFile(r, size)
	if err != nil {
		return err
	}
	if _, ok := f.Schema().Lookup("key"); !ok {
		return errors.New("it has no column key")
	}
	rows := parquet.NewGenericReader[object](f)
	defer rows.Close()
	batch := make([]object, 256)
	for {
		clear(batch)
		n, err := rows.Read(batch)
		for i := range batch[:n] {
			if err := m.emit(&batch[i], emit); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
