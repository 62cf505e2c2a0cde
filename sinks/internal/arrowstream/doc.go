// Package arrowstream reads streams of Arrow's IPC format, and writes them again with columns added.
//
// It leaves to sinks/internal/arrowmeta the metadata of messages, and to sinks/tables the added values.
//
// # What stays
//
// A record batch keeps its body, and added columns follow it. So columns of every type come out as they came in: nested,
// compressed, or of a type that this package does not know. It reads only the columns that Use names.
//
// # Invariants
//
//   - memory is one record batch, the dictionaries of the columns in use, and the added columns;
//   - a length from the input is compared with a limit before memory is taken for it, and memory grows with the bytes read;
//   - an input that ends within a message is ErrInput, and the output then has no mark of its end.
package arrowstream
