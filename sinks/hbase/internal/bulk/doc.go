// Package bulk brings the rows of many loads into an HBase table as HFiles: one
// file a region and batch, cut at the boundaries that the regions have now,
// written to the file system that HBase itself keeps its files on, and handed
// over region by region.
//
// Rows come in any order of loads. They are gathered in a bounded buffer, which
// is written in key order: rows that go on where the last ones ended go on in
// the same files, others begin new ones. If one region got several files, they
// are merged before they are handed over. So a copy in key order is written once, and
// any other order costs one more reading, never memory.
//
// It leaves to its caller the protocol (Cluster), the choice of the table, and
// the meaning of rows; their values are sealed before they come here.
//
// Invariants:
//   - a file lies within one region as the boundaries were last seen; after a
//     split or a merge it is cut again from itself;
//   - rows are the cells b:v, stamped with their load's generation, so that a row
//     handed over twice is one row;
//   - an unclear answer is settled by looking, not by guessing: a file that still
//     exists is handed over again, the rows of a missing file are read back;
//   - the staging folder goes when the batch ends, however it ends; the table's
//     own records name the folder of a killed process (see Cluster).
package bulk
