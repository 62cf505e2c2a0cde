// Package file is the embedded store: one folder on a local disk, which one
// machine's jobs write while any number of processes read.
//
//	DIR/format            "symlake file store 1": written last, so a folder without it is no store
//	DIR/catalog.db        SQLite in WAL mode (with -wal and -shm beside it while it is written)
//	DIR/blocks/XX/N.hfile rows, HFile v3, immutable; N is 32 hex digits: 16 of the batch, 16 counting; XX the first two
//	DIR/blocks/XX/N.tmp   the same while it is written
//	DIR/lock, lock-NAME   what Lock and Join lock
//
// catalog.db holds three tables: catalog (key → value), the store's catalog,
// files (prefix → N), the file of each load's rows, and counters (name → n), which
// change in the transaction of the records and loads that they count. Databases of
// earlier versions have no counters. A load above 1 MiB has a file
// of its own. Smaller loads of a batch share packs, sorted by prefix, since loads
// come in any order and an HFile's rows ascend.
//
// Commit writes and syncs all files of a batch under temporary names, renames
// them, syncs the folder, then enters them in files in one transaction. Swaps and
// batches of the same moment share one transaction and one sync. Tidy removes
// files that no transaction named.
//
// Invariants:
//   - A file named in the table is whole and never changes; it is unlinked
//     after the transaction that removed its last prefix. A reader with the
//     file open reads on; a reader that finds it gone asks the table again.
//   - Tidy removes no file of a living process's batch: the batch holds a lock
//     on its first file until it is over.
//   - Read-only stores create nothing, not even SQLite's side files.
//
// Callers decide which loads are published and which jobs work at a time (Lock,
// Join): any number of processes may write. Open refuses NFS and SMB for writing:
// neither SQLite's shared memory nor locks hold there.
package file
