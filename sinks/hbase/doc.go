// Package hbase is the store for many machines: rows in one HBase table, the
// catalog in another, both in a namespace that the URL names.
//
//	hbase://[USER@]HOST[:PORT],…/NAMESPACE        any masters or region servers (port 16000)
//	hbase+zk://[USER@]HOST[:PORT],…/NAMESPACE     ZooKeeper's quorum (port 2181)
//
// Parameters follow a '?': regions=N, how many regions a new blocks table begins with, and the
// catalog with about as many less a quarter; znode=PATH, where HBase's nodes are in ZooKeeper (/hbase).
//
//	NAMESPACE:blocks    row key → family b, qualifier v: the sealed value. Its timestamp is the
//	                    generation of its load
//	                    prefix (sinks.PrefixBytes) → family g, qualifier n: 8 bytes, the generation
//	                    that the load's next rows get. Absent: 2^62 + 1
//	NAMESPACE:catalog   key → family c, qualifier v: 1 ‖ the record; empty: there is no such record.
//	                    The row of a ledger key has a salt before its URL (internal/places)
//	                    "s" staging folder → family c, qualifier s: when it was made and when its batch
//	                    was last heard of, milliseconds since 1970 (8 bytes each)
//	                    "t", "t" id → family c, qualifier t: counters (internal/counts)
//
// A generation begins when the rows of a load are dropped: Drop first raises the number, then
// marks every row as deleted up to the generation before. So rows that are loaded again are seen
// without a compaction, and a load that went on while it was dropped is not. Rows
// never carry a clock, and writing them twice is the same as once.
//
// Generations count from 2^62, a time that no clock reaches. So a TTL on the table deletes no row. Rows of
// older programs carry numbers from 1 on. A mark of a new generation covers them, and a number
// below 2^62 in family g stands for 2^62 more.
//
// Rows arrive as HFiles, one a region and batch, by HBase's bulk load (internal/bulk), or as
// Puts. A batch that dies leaves a staging folder, which Tidy removes by its note an hour after
// the batch was last heard of.
//
// Catalog cells all carry the timestamp 2^62. HBase returns the cell that was written last, and
// compare-and-set orders the writers. Cells of older programs carry the server's clock. Records are
// overwritten, never deleted: a marker could hide what comes after it. Two kinds of rows are the exception. symlake moves
// ledger rows without a salt, of older programs, deletes them then, and never writes them again. It deletes the counters of
// processes that have ended: no other process has their ids.
//
// The catalog splits by HBase's own policy. No call needs two rows of one region: each change is of one row, and a
// list is of one moment within a region at most.
//
// Invariants:
//   - First is one call for each span that lies in one region, all on their way together;
//   - nothing that a server may cure by itself soon (a region that moves, splits or merges, a
//     server that dies) is an error before client.Options.Patience;
//   - a row that cannot be read because HBase lost a file or a region is sinks.ErrCorrupt, never absent;
//   - reading needs no master: readers use its word on the schemas when it comes, and go on without.
//
// Splits keep the rows of an artifact in one region. Options.Security says how the
// store proves its identity. What rows and records mean is the business of sinks/row.
package hbase
