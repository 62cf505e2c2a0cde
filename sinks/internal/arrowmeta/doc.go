// Package arrowmeta reads and rewrites the metadata of Arrow: schemas and record batches, as messages of its IPC format and
// the key ARROW:schema of Parquet files hold them.
//
// It leaves bodies of messages to sinks/internal/arrowstream.
//
// # How a schema is extended
//
// Offsets of a flatbuffer point forward, so an extended message is new tables in front of the whole old message. New lists of
// fields refer into the old bytes. A field that stays keeps all it says, also what this package does not know.
//
// # Invariants
//
//   - no position or count of a message is used before it was compared with the message's length;
//   - a schema has at most maxFields fields at all depths, so shared tables do not multiply.
package arrowmeta
