// Package bulk brings the rows of many loads into an HBase table as HFiles: one
// file a region and batch, cut at the boundaries that the regions have now,
// written to the file system that HBase itself keeps its files on, and handed
// over region by region.
//
// Rows come in any order of loads. They are gathered in a bounded buffer, which
// is written in key order: rows that go on where the last ones ended go on in
// the same files, others begin new ones, and what one region got several of is
// merged before it is handed over. So a copy in key order is written once, and
// any other order costs one more reading, never memory.
//
// It leaves to its caller the protocol (Cluster), which table it is, and what
// the rows mean; their values are sealed before they come here.
//
// Invariants:
//   - a file lies within one region as the boundaries were last seen; one that
//     does not any more, after a split or a merge, is cut again from itself;
//   - rows are the cells b:v, stamped with their load's generation, so that one
//     handed over twice is one row;
//   - an unclear answer is settled by looking, not by guessing: the file that is
//     still there is handed over again, the rows of one that is gone are read back;
//   - the staging folder goes when the batch ends, however it ends; what a
//     killed process leaves is named in the table's own records (see Cluster).
package bulk
