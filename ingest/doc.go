// Package ingest is the pipeline: objects of sources in, committed rows out.
// Below it, spill sorts within a budget, sweep settles overlaps, scratch keeps
// what does not fit into memory, sealed.
//
// What one object goes through, top to bottom:
//
//	list      listing and ledger, merged in key order: new, changed, gone
//	ledger    "loading" is noted before the object is opened
//	object    opened, its members in turn; one that is broken is rejected alone
//	claim     is it loaded already, or outranked by what is published?
//	load      parts exploded by bounded workers, sorted, swept, encoded; or
//	          encoded as they are exploded, where a format has them in order
//	publish   entered in the record with a lease, rows committed, names, the
//	          record flipped by compare-and-set, and last the ledger
//
// It leaves formats to formats, the stored form to sinks/row, and exit codes,
// locks and schedules to jobs.
//
// Invariants:
//   - nothing is visible before all of a load is durable; a death at any point
//     leaves the old load or the new one, and rows that some record names;
//   - what is stored does not depend on workers, on the order of arrival or on
//     what went to scratch: Verify's digest is the test;
//   - an error of formats condemns its object only; a failure of the
//     environment never looks like a verdict: the object is "failed" and taken
//     again, and several in a row stop the run;
//   - an object that was open when the process died is taken alone the next
//     time, so that the second death has one culprit, which is quarantined;
//   - memory is Options.MemoryBytes, shared by sort runs, names and staged
//     objects, plus what parsers hold of one unit a worker and one group of small
//     loads (32 MiB).
//
// Which source wins: the better rank; then, of one format, the newer parser;
// then more bytes with a line; then the smaller digest of the content, then the smaller URL. Content
// decides the tie, not the file: two files with equal answers are one, and no file is
// hashed for it. A changed object replaces its own earlier load, whatever its
// rank; a pinned record gives way to Options.Force only. The loser is "kept" in
// the ledger, and its names lead to the winner.
//
// [Copy] brings what one store has published into another: rows as they are, the
// data keys wrapped anew, names, waiters and ledger. It enters, commits and publishes as
// a load does, many loads a batch.
//
// A load that is no longer of use (the one before the previous, one that lost
// at the last moment) stays in its record as a progress entry whose lease is
// over, until [GC] has dropped its rows.
package ingest
