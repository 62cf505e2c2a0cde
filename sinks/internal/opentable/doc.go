// Package opentable finds the data files of tables that others keep, and which of their rows are deleted: of Delta by its log and
// deletion vectors, of Iceberg by the manifests of a snapshot, deletions by position and by value, and deletion vectors.
//
// It leaves to sinks/internal/pqfile the files of rows, and to sinks/tables what rows mean. It writes nothing.
//
// # Invariants
//
//   - Open returns all files of one version, or an error;
//   - a feature that changes what rows a file has, and that is not read, is an error: ErrTable;
//   - a length of Avro or of a deletion vector is compared with the bytes left before memory is taken for it.
package opentable
