// Package journal is the log of a lake: one small entry a commit, numbered from 1, and checkpoints
// of what the entries add up to.
//
// It leaves to package lake what a commit holds, and how data files are written.
//
// # Layout
//
//	_log/NUMBER÷1000/NUMBER.json        an entry: what one commit changed
//	_checkpoint/INVERSE-NUMBER.json     a checkpoint: the parts that hold all changes up to NUMBER
//	_state/NAME.parquet                 a part: changes of a run of entries, the latest of each file and artifact
//
// NUMBER has 20 digits, its thousand 17. INVERSE is 2^64-1-NUMBER, so the newest checkpoint is the first
// key of its folder, and no pointer to it can be out of date.
//
// # Cost
//
// A commit creates one entry. A checkpoint follows each 32 entries. It writes the changes since the
// checkpoint before as a new part, together with the last parts that are at most twice as large. So
// there are few parts, each change is written again a logarithmic number of times, and a reader needs a checkpoint,
// its parts and at most some 32 entries, however many commits there were.
//
// # Authentication
//
// Each entry and checkpoint ends with a MAC: the first 16 bytes of HMAC-SHA-256 over what it is and all bytes before,
// under a key derived from the lake's key of names. An entry holds the id of its lake, its number and
// the MAC of the entry before; a checkpoint holds the MAC of its last entry and the SHA-256 of each part. So a reader sees
// an entry that is missing, swapped, changed or of another lake. It cannot see that the last entries are gone: [Tail] goes
// into the store for that, as sinks.LakeHead.
//
// In a plain lake the JSON stands in clear, one line an object. In a sealed lake it is deflated and sealed by AES-256-GCM
// under a key derived from a master key of the lake, which the line names:
//
//	{"format":1,"number":N,"key":MASTER,"nonce":BASE64,"sealed":BASE64,"mac":HEX}
//
// The key is HMAC-SHA-256(master key, "symlake lake log"); the additional data is "entry N" or "checkpoint N".
//
// # Invariants
//
//   - an entry is never changed; bucket.Create refuses to overwrite one;
//   - entries from the newest checkpoint's number on are never deleted;
//   - nothing here holds a name of a symbol, app or object.
package journal
