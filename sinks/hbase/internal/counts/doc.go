// Package counts keeps counters beside a catalog that changes one row in a step, never two.
//
// Each process has a row with its counts. One row more, the base, has the counts of ended processes. A counter is the sum of
// all rows.
//
//	"t"        the base
//	"t" id     a process: 16 hex digits, drawn anew for each row
//
// A process marks its row as busy before it changes records, and writes the counts behind the change. So a process that
// dies in between leaves a busy row, which does not tell what the process still did: the counters are not whole. A reader
// waits a second for a sign of life. Settle waits until the row is older than Silent. Where the counters are not whole,
// readers count the records, and so does Settle, which makes the counters whole again.
//
// # Settle
//
// Settle merges rows into the base, in one step of the base, and removes them then. The base names a merged row with a sum of
// its value until the row is gone. So a row counts once whenever a process dies:
//
//	the base does not name it                  the row counts
//	the base names it, and it is as it was     it counts with the base
//	the base names it, and it has changed      the counters are not whole
//
// Each row changes by compare-and-set alone. If a process finds its row gone, it begins another one. If the row was merged
// while it was busy, or if a change may have happened, the process leaves a busy row behind: the counters are not whole.
//
// Before Settle counts records, it writes a token of its own into the base. It takes the result only if the base has the
// token still, and no row has come or changed meanwhile.
package counts
