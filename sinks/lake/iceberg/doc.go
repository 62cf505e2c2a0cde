// Package iceberg shows Parquet files that are there already as Apache Iceberg tables, version 2 of the format.
//
// The caller says which files a table has and which of their rows count (State). Publish compares that with the tables of a
// catalog, and commits a snapshot for each table that differs. Rows that no longer count, in files that stay, are taken out
// by position delete files. So a plain SELECT of any engine returns exactly the rows that count.
//
// # Files
//
//	iceberg/TABLE/metadata/vN.metadata.json           of the file system catalog
//	iceberg/TABLE/metadata/version-hint.text          N
//	iceberg/TABLE/metadata/symlake-KIND-SEQUENCE-RANDOM.avro   manifests and lists of manifests, by their commit
//	iceberg/TABLE/deletes/symlake-HASH.parquet        positions of rows that do not count, one file a data file
//	iceberg/symlake-shown.json                        where each table stands, for the next publisher
//
// # Partitions
//
// The kind and day of a file are folders of its path. They are identity partitions of columns that no file has: engines fill
// these columns from the partition. There is no bucket of the artifact: a file of an ingest has artifacts of many buckets, so
// it would have to be cut into as many files. Compacted files ascend by artifact, and the bounds of artifact in manifests
// leave a look-up with the files that may have it.
//
// # Commits
//
// A commit writes new files only, and then one record of the catalog by compare-and-set: a version of the metadata that must
// be new, or a REST commit with requirements. Killed anywhere, the table is as it was or as it is meant to be, and the next
// Publish completes it. If another writer made the newest snapshot of a table, the table stays (ErrForeign).
//
// # Cost
//
// Publish costs what changed since the state that a table shows. For files that came it reads the list of manifests alone. For rows
// that die it reads manifests of deletes, and the footers and dead rows of their files. For files that go it reads manifests of
// data too, the youngest first, until it has found them. The note symlake-shown.json says which entry of the log a snapshot shows.
// It is a hint: without it, or after a death before it, Publish compares all files with all manifests. Manifests are merged like
// the levels of a log-structured tree, so
// n commits write O(n log n) entries.
//
// # History
//
// Snapshots expire after a grace. While they are many, one of each sixteenth of the grace is kept, and the newest ten.
//
//	a reader needs                    and finds it
//	data files and deletes            for the grace after its snapshot was the newest
//	lists and manifests, to plan      for the grace too, while later snapshots made 384 KiB of them at most,
//	                                  or while its snapshot is among the newest 32, or in the history
//
// Every 32nd commit deletes lists and manifests above these bounds, so ingests within the grace leave few of them. Clean
// deletes the other files that no snapshot names.
package iceberg
