// Package pqfile writes and reads the Parquet files of symlake, sealed or plain.
//
// It leaves to sinks/lake and sinks/tables the columns and what they mean, and to them the files' names and places.
//
// # Profiles
//
// A sealed file is under Parquet Modular Encryption, AES_GCM_V1: one key for columns and footer, wrapped by a master key
// as PKMT1 key material. No page header, statistic or name stands in clear. A plain file has a page index, Bloom filters,
// sorting columns and a checksum a page.
//
// # Invariants
//
//   - both profiles hold the same pages: version 1, texts and integers by dictionary, longs by differences;
//   - memory holds one row group, or two where another goroutine encodes, for any rows;
//   - columns are required unless they say otherwise; texts are UTF-8.
package pqfile
