// Package tables symbolicates stacks at rest: tables of raw frames or stacks, in Parquet or NDJSON, come out as the same
// rows with columns added.
//
// It leaves to sinks/lookup what an answer is, to sinks/internal/pqfile files of columns, to formats/report
// text, and to sinks/scratch what does not fit into memory.
//
// # Flow
//
// A row is one frame, or a stack: text, or a list of (artifact, address) pairs. Frames take three steps, many files at once (a unit):
//
//	rows ─names resolved, addresses stepped→ records ─sort by (artifact, address), in a budget→ ordered
//	   ─lookup, each distinct address once→ answers, by number─┐
//	rows, read again in their order ───────────────────────────┴→ rows with answers
//
// Stacks are answered in their order, some thousands at once: they are sorted inside the client.
//
// # Invariants
//
//   - a row of the input is a row of the output, in its place; what it held is kept as it was, byte for byte between
//     plain files; a row that cannot be answered says why in status and reason;
//   - an output appears whole or not at all; its bytes depend on the input and the store alone: not on workers,
//     budgets, units or what an earlier run was killed at;
//   - a block of a store is read once a unit, and again at most where a chunk of records ends in it and the cache has let it go;
//     of stacks, once some 131,072 frames;
//   - memory is the client's cache, the budget, and the answers of one or two row groups;
//   - frames wait in scratch sealed, as everything there does.
package tables
