// Package opentable finds the data files of tables that others keep: of Delta by its log, of Iceberg by the manifests of a
// snapshot.
//
// It leaves to sinks/internal/pqfile the files of rows, and to sinks/tables what rows mean. It writes nothing.
//
// # Invariants
//
//   - Open returns all files of one version, or an error;
//   - a feature that changes what rows a file has, and that is not read, is an error: ErrTable;
//   - a length of Avro is compared with the bytes left before memory is taken for it.
package opentable
