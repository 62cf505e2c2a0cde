package iceberg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/symlake/symlake/sinks/internal/icemeta"
)

// entry is a record of a manifest: a file that a snapshot added, kept or removed.
type entry struct {
	Status       int32    `avro:"status"`
	Snapshot     *int64   `avro:"snapshot_id"`
	Sequence     *int64   `avro:"sequence_number"`
	FileSequence *int64   `avro:"file_sequence_number"`
	File         dataFile `avro:"data_file"`
}

// Values of entry.Status.
const (
	existing = iota
	added
	deleted
)

// dataFile is a data file, or a file of position deletes.
type dataFile struct {
	Content    int32      `avro:"content"`
	Path       string     `avro:"file_path"`
	Format     string     `avro:"file_format"`
	Partition  partition  `avro:"partition"`
	Rows       int64      `avro:"record_count"`
	Bytes      int64      `avro:"file_size_in_bytes"`
	Sizes      []keyLong  `avro:"column_sizes"`
	Values     []keyLong  `avro:"value_counts"`
	Nulls      []keyLong  `avro:"null_value_counts"`
	NaNs       []keyLong  `avro:"nan_value_counts"`
	Low        []keyBytes `avro:"lower_bounds"`
	High       []keyBytes `avro:"upper_bounds"`
	Key        []byte     `avro:"key_metadata"` // none
	Splits     []int64    `avro:"split_offsets"`
	Equality   []int32    `avro:"equality_ids"` // none
	Order      *int32     `avro:"sort_order_id"`
	References *string    `avro:"referenced_data_file"`
}

// Values of dataFile.Content and listed.Content.
const (
	contentData    = 0
	contentDeletes = 1
)

// partition is the values of a file's partition. Day counts days from 1970 on.
type partition struct {
	Kind *string `avro:"kind"`
	Day  *int32  `avro:"day"`
}

type keyLong struct {
	Key   int32 `avro:"key"`
	Value int64 `avro:"value"`
}

type keyBytes struct {
	Key   int32  `avro:"key"`
	Value []byte `avro:"value"`
}

// listed is a record of a list of manifests.
type listed struct {
	Path         string    `avro:"manifest_path"`
	Bytes        int64     `avro:"manifest_length"`
	Spec         int32     `avro:"partition_spec_id"`
	Content      int32     `avro:"content"`
	Sequence     int64     `avro:"sequence_number"`
	MinSequence  int64     `avro:"min_sequence_number"`
	Snapshot     int64     `avro:"added_snapshot_id"`
	Added        int32     `avro:"added_files_count"`
	Existing     int32     `avro:"existing_files_count"`
	Deleted      int32     `avro:"deleted_files_count"`
	AddedRows    int64     `avro:"added_rows_count"`
	ExistingRows int64     `avro:"existing_rows_count"`
	DeletedRows  int64     `avro:"deleted_rows_count"`
	Partitions   []summary `avro:"partitions"`
}

// summary tells the bounds of a partition field in a manifest.
type summary struct {
	Null bool   `avro:"contains_null"`
	Low  []byte `avro:"lower_bound"`
	High []byte `avro:"upper_bound"`
}

// partitionSchema is the type of partition.
const partitionSchema = `{"type":"record","name":"r102","fields":[
{"name":"kind","type":["null","string"],"default":null,"field-id":1000},
{"name":"day","type":["null",{"type":"int","logicalType":"date"}],"default":null,"field-id":1001}]}`

// Parsed when they are used: a start of the program costs nothing.
var (
	entries = sync.OnceValue(func() *avro.Schema { return avro.MustParse(icemeta.EntrySchema(partitionSchema)) })
	lists   = sync.OnceValue(func() *avro.Schema { return avro.MustParse(icemeta.ListSchema) })
)

// writeAvro returns records as an Avro file.
func writeAvro[T any](s *avro.Schema, meta map[string][]byte, records []T) ([]byte, error) {
	var b bytes.Buffer
	w, err := ocf.NewWriter(&b, s, ocf.WithMetadata(meta), ocf.WithCodec(ocf.DeflateCodec(6)))
	if err != nil {
		return nil, err
	}
	for i := range records {
		if err := w.Encode(&records[i]); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	err = w.Close()
	return b.Bytes(), err
}

// maxRecords bounds the records of an Avro file.
const maxRecords = 1 << 22

// readAvro returns the records of an Avro file of this package.
func readAvro[T any](s *avro.Schema, data []byte) (all []T, err error) {
	r, err := ocf.NewReader(bytes.NewReader(data), ocf.WithReaderSchema(s), ocf.WithMaxDecompressedBlockBytes(256<<20))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		var x T
		if err := r.Decode(&x); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if len(all) == maxRecords {
			return nil, fmt.Errorf("it has more than %d records", maxRecords)
		}
		all = append(all, x)
	}
}
