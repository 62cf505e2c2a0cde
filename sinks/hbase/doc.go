// Package hbase is the store for many machines: rows in one HBase table, the
// catalog in another, both in a namespace that the URL names.
//
//	hbase://[USER@]HOST[:PORT],…/NAMESPACE        any masters or region servers (port 16000)
//	hbase+zk://[USER@]HOST[:PORT],…/NAMESPACE     ZooKeeper's quorum (port 2181)
//
// Parameters follow a '?': regions=N, how many regions a new blocks table begins with;
// znode=PATH, where HBase's nodes are in ZooKeeper (/hbase).
//
//	NAMESPACE:blocks    row key → family b, qualifier v: the sealed value. Its timestamp is the
//	                    generation of its load
//	                    prefix (sinks.PrefixBytes) → family g, qualifier n: 8 bytes, the generation
//	                    that the load's next rows get. Absent: 1
//	NAMESPACE:catalog   key → family c, qualifier v: 1 ‖ the record; empty: there is no such record
//	                    "s" staging folder → family c, qualifier s: when it was made and when its batch
//	                    was last heard of, milliseconds since 1970 (8 bytes each)
//
// A generation begins when the rows of a load are dropped: Drop first raises the number, then
// marks every row as deleted up to the generation before. So rows that are loaded again are seen
// without a compaction, and a load that went on while it was dropped is not. Rows
// never carry a clock, and writing them twice is the same as once.
//
// Rows arrive as HFiles, one a region and batch, by HBase's bulk load (internal/bulk), or as
// Puts. A batch that dies leaves a staging folder, which Tidy removes by its note an hour after
// the batch was last heard of.
//
// Catalog cells carry the server's clock, which HBase keeps ascending for a
// compare-and-set, and are overwritten, never deleted: a marker could hide what comes after it.
//
// Invariants:
//   - First is one call for each span that lies in one region, all on their way together;
//   - nothing that a server may cure by itself soon (a region that moves, splits or merges, a
//     server that dies) is an error before client.Options.Patience;
//   - a row that cannot be read because HBase lost a file or a region is sinks.ErrCorrupt, never absent;
//   - reading needs no master.
//
// Splits keep the rows of an artifact in one region. HBase security is not spoken: see
// client.ErrUnspoken. What rows and records mean is the business of sinks/row.
package hbase
