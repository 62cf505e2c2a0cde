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
//   - what a run loaded or rejected is told once, also when it was killed: [Tell] and [Pending]
//     read the outbox of reports, whose states row.Account names;
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
// These rules hold between sources of one owner. A source of another owner replaces a load only
// from a higher rank, or adds the debug file of a stripped file that agrees with it (trust.go).
// Anything else is a conflict, which a person settles (conflict.go):
//
//	open       the record is there, and the ledger's entry of the object names it
//	accepted   the object is pending: the next ingest publishes it, if its content is the same
//	ended      the record is gone: it was accepted and published, dismissed, the object no
//	           longer claims the artifact, or gc found artifact or object gone
//
// # What a run owes
//
// Work that must still happen is a record of the catalog, never a variable of a process. A process
// writes the record before the work's cause becomes visible, and removes it after the work is done.
// Each run begins with what earlier runs left. [Verify] reports what a run could do and no run is
// at work on.
//
//	an object at work   the ledger says "loading" or "published", with the worker that has it. When
//	                    the worker's lease is over, another run takes the object.
//	a load under way    a progress entry in the artifact's record, with a lease. [GC] drops it.
//	a lake that lacks   the lake's live table beside the store's records. A run begins by comparing
//	a load              them; the ledger says "loaded" only when the lake names the load.
//	a wait              a waiter: object A asked for companion C in vain.
//	a wake-up           an obligation: C is there, and A is to be derived again.
//	a ledger to follow  an obligation of the artifact: its record changed, and the entries of its
//	                    objects do not say so yet.
//	a report to tell    an account in the outbox.
//
// A wait becomes a wake-up by whichever of A and C comes last. A records its waiters before its
// record flips, then looks for C once more; C enters its names (its record, if it is a build)
// before it looks for waiters. So each order of the four steps ends with an obligation:
//
//	A: look for C · write the waiter · look for C again, and oblige · publish · ledger
//	C: enter names, publish · look for waiters, and oblige · ledger
//
// A death before the ledger's entry repeats the object's steps. A run derives A again at its end,
// with the obligations as it read them before; it removes the waiter if A found C, then the
// obligation. An obligation that another process wrote again meanwhile has other bytes and stays.
//
// The waiter stays if A lacks C all the same: C's file is of another build, A is rejected or held
// with it, or an earlier content of A's object is published. The waiter then names the state of C
// that A was read beside, and A is owed again when C changes. The obligation stays, and the run does
// not derive A, if C lies in no source of the run.
//
// A store of an earlier version gets its obligations when the first run compares all waiters with
// all names; GC and Copy compare them again.
//
// TestCrashPoints kills a process at each of its writes, TestPowerLoss between any two of its
// system calls.
//
// [Copy] brings what one store has published into another: rows as they are, the
// data keys wrapped anew, names, waiters, conflicts and ledger. It enters, commits and publishes as
// a load does, many loads a batch.
//
// A load that is no longer of use (the one before the previous, one that lost
// at the last moment) stays in its record as a progress entry whose lease is
// over, until [GC] has dropped its rows.
//
// # Damage
//
// A load enters its artifact's record before its first row and its first name, and the ledger's
// entry of its object is older than both. gc removes rows, then names, then the record. So, whatever
// process died where:
//
//   - a name, or a waiter, without a record and without rows is what a dead process left: [GC] removes it;
//   - rows without a record, to which nothing leads, are what a slow process left: [GC] removes them after the grace;
//   - rows without a record, to which names or a loaded object of the ledger lead, are damage: the record
//     was lost. [GC] keeps and reports them, [Verify] says which object brings the record back;
//   - a published load whose object the ledger does not know is damage of the ledger, unless the load was
//     copied without it ([row.Loaded].Copied).
package ingest
