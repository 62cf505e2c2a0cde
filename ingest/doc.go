// Package ingest runs one ingest: objects of sources go in, committed rows come out.
//
// The packages below it do the work, in this order:
//
//	discover     compares listings with the ledger: new, changed and gone objects
//	crew         claims objects for this worker, and takes over from workers that died
//	journal      notes "loading" in the ledger before an object is opened
//	outcome      follows an object from its opening until the ledger says what it became
//	companions   finds the objects that another object needs, and wakes objects that wait
//	trust        decides: is an artifact loaded already, or is the published load better?
//	build        explodes, sorts, sweeps and encodes an artifact, within a budget of memory
//	publish      commits rows, enters names, changes the record by compare-and-set, names the load in the lake
//	outbox       keeps the report until a process has written it out
//
// Objects side by side share requests. A run notes the attempts at 256 objects together, and publishes up to
// 1,024 small loads together, in the order of the steps above. Each goroutine still waits for its own change:
// package gather lets the calls of many goroutines travel in one request. So no step of an object becomes
// visible before its step before is durable.
//
// Between runs, upkeep looks after the store, and transfer copies loads into another store. What they
// share with a run lies in packages of one noun each: record, ledger, stored, projection, conflicts,
// report.
//
// Package ingest leaves formats to formats, the stored form to sinks/row, and exit codes, locks and
// schedules to jobs.
//
// # Invariants
//
//   - Nothing is visible before all of a load is durable. A death at any point leaves the old load or the
//     new one, and each row is named by a record.
//   - The stored content does not depend on workers, on the order of arrival, or on scratch files. The
//     digest of upkeep/verify is the test.
//   - An error of formats condemns its object only. After a failure of the environment the object is
//     "failed", and the next run takes it again. Several failures in a row stop the run.
//   - If a process dies while an object is open, the next run takes that object alone. So a second death
//     has one culprit, which is quarantined.
//   - A report tells each loaded or rejected object once, even if the run was killed. The states of an
//     account in the outbox are in catalog.Account.
//   - Memory is Options.MemoryBytes, shared by sort runs, names and staged objects. Each worker's parser
//     holds one unit beside it. A group of small loads takes 32 MiB. A run holds three groups: it gathers
//     the third while two are on their way.
//   - A changed object replaces its own earlier load in any case. Only Options.Force replaces a pinned
//     load. The loser of two loads is "kept" in the ledger, and its names lead to the winner.
//
// # Work that must still happen
//
// Work that must still happen is a record of the catalog, never a variable of a process. A process writes
// the record before the cause of the work becomes visible, and removes it after the work is done. Each run
// begins with the work that earlier runs left. upkeep/verify reports work that no process does.
//
//	work                        its record
//	an object at work           the ledger says "loading" or "published", and names the worker; after its
//	                            lease another run takes the object
//	a load in progress          a progress entry in the artifact's record, with a lease; gc drops it
//	a load missing in the lake  a lag: a worker notes it before it changes the first record, and removes it once the lake
//	                            follows all of them. A run that meets a dead worker's lag compares every record with the
//	                            lake; the ledger says "loaded" only after the lake names the load
//	a wait                      a waiter: object A asked for companion C in vain
//	a wake-up                   an obligation: C has come, and A must be derived again
//	a ledger to follow          an obligation of the artifact: its record changed, and the entries of its
//	                            objects do not say so yet
//	a report to tell            an account in the outbox
//
// TestCrashPoints kills a process at each of its writes, TestPowerLoss between any two of its system
// calls.
package ingest
