// Package lake is the lake: the published loads as tables of Parquet files in a
// bucket, for the engines that data engineers use.
//
// It leaves to ingest which loads there are and when they are published, to
// sinks/row the keys, and to sinks/bucket where files live.
//
// # Layout
//
//	_log/, _checkpoint/, _state/            what counts: package journal
//	TABLE/kind=KIND/day=DAY/NAME.parquet    ranges, classes, artifacts, names
//	_manifest/NUMBER.json                   keeps earlier versions away, which had no log
//
// KIND is the kind of the artifacts, DAY the day (UTC) of the loads. NAME is random. A file is complete when its name
// appears. A process that dies before it names its files in the log leaves them to a compaction.
//
// A writer puts its entry of the log last, and only if no entry has its number. The writer that loses reads the other entry,
// makes its own anew and tries the next number. So a batch is named whole or not at all. Exact readers take the files that
// the log names and join its live loads on (artifact, load); a plain glob sees whole files,
// and superseded rows too until a compaction and its grace are over.
//
// # Cost
//
// A commit costs what it changes: see package journal. A batch of loads that its process has just published needs no
// more of the log than its end. Facts without rows, and rows of older loads, need the state. A publish of the Iceberg tables
// costs what came since the last one, if that is new artifacts alone. Loads that replace others, drops and compactions need the
// state.
//
// # Profiles
//
// A lake is of one profile. sinks.LakeSealed: Parquet Modular Encryption, AES_GCM_V1, one key a file
// (or one for all of a master key's) for columns and footer, wrapped by the master key as
// PKMT1 key material; no page header, statistic or name stands in clear. The path of a file is its AAD prefix, so the file
// opens under no other name. sinks.LakePlain: page index, bloom
// filters, sorting columns, page checksums.
//
// # Invariants
//
//   - rows of a load lie in one file, ascending; compacted files ascend by artifact too;
//   - columns are required; texts are UTF-8 (Tables says how other bytes stand);
//   - a batch gathers one row group in memory, or two where another goroutine encodes;
//   - nothing is deleted that the log named within the grace.
package lake

import _ "embed"

// README is the document of this folder. The command line prints it as a help topic.
//
//go:embed README.md
var README string
