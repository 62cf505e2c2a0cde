// Package avro reads and writes object container files of Apache Avro, as manifests of Iceberg tables are.
//
// It is for files of any writer and any schema: records are maps by field, and a record can be written again under the schema of
// its file. Package sinks/lake/iceberg has records of one known schema, of its own files alone, by the
// hundred thousand. It reads and writes them with github.com/twmb/avro, which makes no maps.
//
// # Invariants
//
//   - a length is compared with the bytes left before memory is taken for it;
//   - a file that cannot be read is ErrFile;
//   - a record that was read and is written under its schema is read again as it was.
package avro
