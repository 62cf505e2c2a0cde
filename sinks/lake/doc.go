// Package lake is the lake: the published loads as tables of Parquet files in a
// bucket, for the engines that data engineers use.
//
// It leaves to ingest which loads there are and when they are published, to
// sinks/row the keys, and to sinks/bucket where files live.
//
// # Layout
//
//	_manifest/NUMBER.json           what counts: the files, and the file of the table live
//	live/NAME.parquet               artifact → load
//	TABLE/kind=KIND/day=DAY/NAME.parquet    ranges, classes, artifacts, names
//
// KIND is the kind of the artifacts, DAY the day (UTC) of the loads. NAME is a keyed hash of the rows' loads: a second
// attempt at the same rows finds their file. A file is complete when its name appears.
//
// A writer puts its manifest last, and only if no manifest has its number. The writer that loses reads the other manifest,
// makes its own anew and tries the next number. So a batch is named whole or not at all. Exact readers take the files of
// the newest manifest and join live on (artifact, load); a plain glob sees whole files,
// and superseded rows too until a compaction and its grace are over.
//
// # Profiles
//
// A lake is of one profile. sinks.LakeSealed: Parquet Modular Encryption, AES_GCM_V1, one key a file
// (or one for all of a master key's) for columns and footer, wrapped by the master key as
// PKMT1 key material; no page header, statistic or name stands in clear. sinks.LakePlain: page index, bloom
// filters, sorting columns, page checksums.
//
// # Invariants
//
//   - rows of a load lie in one file, ascending; compacted files ascend by artifact too;
//   - columns are required; texts are UTF-8 (Tables says how other bytes stand);
//   - a batch gathers one row group in memory, or two where another goroutine encodes;
//   - nothing is deleted that a manifest younger than the grace named.
package lake

import _ "embed"

// README is the document of this folder. The command line prints it as a help topic.
//
//go:embed README.md
var README string
