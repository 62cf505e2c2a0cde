// Package equality finds rows that equal a deleted row in some columns, as Iceberg deletes rows by value.
//
// It leaves to sinks/internal/opentable which files of deletions reach which data file, and to sinks/internal/pqfile the files.
//
// # Invariants
//
//   - values are equal if they are the same number, text, bytes or truth value, in any physical type of a file;
//   - NULL equals NULL, and nothing else;
//   - a Set holds at most MaxBytes, and otherwise returns ErrTooMany.
package equality
