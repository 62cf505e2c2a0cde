package icemeta

// EntrySchema returns the Avro schema of the entries of a manifest, version 2. partition is the Avro type of a file's partition:
// a record. Engines find fields by field-id.
func EntrySchema(partition string) string { return entryBefore + partition + entryAfter }

const (
	entryBefore = `{"type":"record","name":"manifest_entry","fields":[
{"name":"status","type":"int","field-id":0},
{"name":"snapshot_id","type":["null","long"],"default":null,"field-id":1},
{"name":"sequence_number","type":["null","long"],"default":null,"field-id":3},
{"name":"file_sequence_number","type":["null","long"],"default":null,"field-id":4},
{"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[
{"name":"content","type":"int","field-id":134},
{"name":"file_path","type":"string","field-id":100},
{"name":"file_format","type":"string","field-id":101},
{"name":"partition","field-id":102,"type":`
	entryAfter = `},
{"name":"record_count","type":"long","field-id":103},
{"name":"file_size_in_bytes","type":"long","field-id":104},
{"name":"column_sizes","field-id":108,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k117_v118","fields":[{"name":"key","type":"int","field-id":117},{"name":"value","type":"long","field-id":118}]}}]},
{"name":"value_counts","field-id":109,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k119_v120","fields":[{"name":"key","type":"int","field-id":119},{"name":"value","type":"long","field-id":120}]}}]},
{"name":"null_value_counts","field-id":110,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k121_v122","fields":[{"name":"key","type":"int","field-id":121},{"name":"value","type":"long","field-id":122}]}}]},
{"name":"nan_value_counts","field-id":137,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k138_v139","fields":[{"name":"key","type":"int","field-id":138},{"name":"value","type":"long","field-id":139}]}}]},
{"name":"lower_bounds","field-id":125,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k126_v127","fields":[{"name":"key","type":"int","field-id":126},{"name":"value","type":"bytes","field-id":127}]}}]},
{"name":"upper_bounds","field-id":128,"default":null,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k129_v130","fields":[{"name":"key","type":"int","field-id":129},{"name":"value","type":"bytes","field-id":130}]}}]},
{"name":"key_metadata","type":["null","bytes"],"default":null,"field-id":131},
{"name":"split_offsets","field-id":132,"default":null,"type":["null",{"type":"array","items":"long","element-id":133}]},
{"name":"equality_ids","field-id":135,"default":null,"type":["null",{"type":"array","items":"int","element-id":136}]},
{"name":"sort_order_id","type":["null","int"],"default":null,"field-id":140},
{"name":"referenced_data_file","type":["null","string"],"default":null,"field-id":143}]}}]}`

	// ListSchema is the Avro schema of the records of a list of manifests.
	ListSchema = `{"type":"record","name":"manifest_file","fields":[
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
