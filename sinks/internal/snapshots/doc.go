// Package snapshots adds rows to tables of Iceberg and Delta: rows that another table's snapshot has, with columns added.
//
// Each data file of the source becomes one data file of the table. The caller writes it under the key that File says. Commit then
// shows all of them at once, in one snapshot.
//
// It leaves to sinks/internal/opentable what a table has, to sinks/internal/icemeta the metadata of Iceberg, and to sinks/tables
// the files of rows.
//
// # What a table notes
//
// A table notes up to which snapshot of a source it has the rows: Iceberg in the summaries of snapshots, Delta as the version of
// an application. The next Commit takes up what came to the source since. Data files that the source gave up leave the table.
//
// # Invariants
//
//   - readers see the table before a commit or after it. A commit creates one object that must be new: a version of Iceberg's
//     metadata, or of Delta's log. If another writer was faster, Commit starts again from that writer's table;
//   - a data file is written once and never replaced. Its name tells source, file and options, so that a run which follows a
//     killed one finds it;
//   - rows of a source are in the table once. What other writers added stays. If they rewrote the files of a source, and these
//     must go, nothing is changed: ErrTable.
package snapshots
