// Package file is the embedded store: one folder on a local disk, which one
// machine's jobs write while any number of processes read.
//
//	DIR/format            "symlake file store 1": written last, so a folder without it is no store
//	DIR/catalog.db        SQLite in WAL mode (with -wal and -shm beside it while it is written)
//	DIR/blocks/XX/N.hfile rows, HFile v3, immutable; N is 32 hex digits: 16 of the batch, 16 counting; XX the first two
//	DIR/blocks/XX/N.tmp   the same while it is written
//	DIR/lock, lock-NAME   what Lock and Join lock
//
// catalog.db holds two tables: catalog (key → value), the store's catalog, and
// files (prefix → N), which says in which file the rows of a load are. A load
// above 1 MiB has a file of its own; smaller ones of a batch share packs,
// sorted by prefix, since loads come in any order and an HFile's rows ascend.
//
// A batch is committed by: all of its files written and synced under temporary
// names, renamed, the folder synced, then one transaction that enters them in
// files. Swaps and batches that come at the same time share one transaction and
// one sync. Files the transaction never named are left for Tidy.
//
// Invariants:
//   - A file named in the table is whole and never changes; it is unlinked
//     after the transaction that removed its last prefix. Who has it open
//     reads on; who finds it gone asks the table again.
//   - Tidy removes no file of a batch whose process lives: the batch holds a
//     lock on its first file until it is over.
//   - Read-only stores create nothing, not even SQLite's side files.
//
// Which loads are published, and which jobs work at a time (Lock, Join),
// is the business of the callers: any number of processes may write. NFS and SMB are refused for writing: neither
// SQLite's shared memory nor locks hold there.
package file
