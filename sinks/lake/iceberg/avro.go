package iceberg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
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
	Low        []keyBytes `avro:"lower_bounds"`
	High       []keyBytes `avro:"upper_bounds"`
	Splits     []int64    `avro:"split_offsets"`
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

// The schemas of both kinds of files. Engines find fields by field-id.
const (
	entrySchema = `{"type":"record","name":"manifest_entry","fields":[
{"name":"status","type":"int","field-id":0},
{"name":"snapshot_id","type":["null","long"],"default":null,"field-id":1},
{"name":"sequence_number","type":["null","long"],"default":null,"field-id":3},
{"name":"file_sequence_number","type":["null","long"],"default":null,"field-id":4},
{"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[
{"name":"content","type":"int","field-id":134},
{"name":"file_path","type":"string","field-id":100},
{"name":"file_format","type":"string","field-id":101},
{"name":"partition","field-id":102,"type":{"type":"record","name":"r102","fields":[
{"name":"kind","type":["null","string"],"default":null,"field-id":1000},
{"name":"day","type":["null",{"type":"int","logicalType":"date"}],"default":null,"field-id":1001}]}},
{"name":"record_count","type":"long","field-id":103},
{"name":"file_size_in_bytes","type":"long","field-id":104},
{"name":"column_sizes","field-id":108,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k117_v118","fields":[{"name":"key","type":"int","field-id":117},{"name":"value","type":"long","field-id":118}]}}]},
{"name":"value_counts","field-id":109,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k119_v120","fields":[{"name":"key","type":"int","field-id":119},{"name":"value","type":"long","field-id":120}]}}]},
{"name":"null_value_counts","field-id":110,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k121_v122","fields":[{"name":"key","type":"int","field-id":121},{"name":"value","type":"long","field-id":122}]}}]},
{"name":"lower_bounds","field-id":125,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k126_v127","fields":[{"name":"key","type":"int","field-id":126},{"name":"value","type":"bytes","field-id":127}]}}]},
{"name":"upper_bounds","field-id":128,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k129_v130","fields":[{"name":"key","type":"int","field-id":129},{"name":"value","type":"bytes","field-id":130}]}}]},
{"name":"split_offsets","field-id":132,"default":null,"type":["null",{"type":"array","items":"long","element-id":133}]},
{"name":"sort_order_id","type":["null","int"],"default":null,"field-id":140},
{"name":"referenced_data_file","type":["null","string"],"default":null,"field-id":143}]}}]}`

	listSchema = `{"type":"record","name":"manifest_file","fields":[
{"name":"manifest_path","type":"string","field-id":500},
{"name":"manifest_length","type":"long","field-id":501},
{"name":"partition_spec_id","type":"int","field-id":502},
{"name":"content","type":"int","field-id":517},
{"name":"sequence_number","type":"long","field-id":515},
{"name":"min_sequence_number","type":"long","field-id":516},
{"name":"added_snapshot_id","type":"long","field-id":503},
{"name":"added_files_count","type":"int","field-id":504},
{"name":"existing_files_count","type":"int","field-id":505},
{"name":"deleted_files_count","type":"int","field-id":506},
{"name":"added_rows_count","type":"long","field-id":512},
{"name":"existing_rows_count","type":"long","field-id":513},
{"name":"deleted_rows_count","type":"long","field-id":514},
{"name":"partitions","field-id":507,"default":null,"type":["null",{"type":"array","element-id":508,"items":{"type":"record","name":"r508","fields":[
{"name":"contains_null","type":"boolean","field-id":509},
{"name":"lower_bound","type":["null","bytes"],"default":null,"field-id":510},
{"name":"upper_bound","type":["null","bytes"],"default":null,"field-id":511}]}}]}]}`
)

// Parsed when they are used: a start of the program costs nothing.
var (
	entries = sync.OnceValue(func() *avro.Schema { return avro.MustParse(entrySchema) })
	lists   = sync.OnceValue(func() *avro.Schema { return avro.MustParse(listSchema) })
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
