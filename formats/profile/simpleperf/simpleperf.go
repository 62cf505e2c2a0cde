// Package simpleperf answers the samples that `simpleperf report-sample --protobuf` writes of Android programs.
//
// The file is "SIMPLEPERF", a version of 16 bits, and records of the message Record in simpleperf's cmd_report_sample.proto,
// each behind its size in 32 little-endian bits. Size 0 ends them. Samples stand before the files and names that they
// refer to by number.
//
// simpleperf has moved the addresses of callers back into their calls. They are addresses of the file, at any load bias.
// It names no build-ids: a file is asked for by its name, inside of its APK too.
//
// An answer adds symbols to its file, and points the entries of call chains there. Functions that were inlined become entries
// of their own before the entry that they were inlined into. Names of Java that a mapping renamed are put in place. All other
// records, and all fields that the package does not know, stay byte for byte.
package simpleperf

import (
	"bytes"

	"github.com/symlake/symlake/formats/profile"
)

// Format is simpleperf's report of samples.
var Format = &profile.Format{
	Name:    "simpleperf",
	Title:   "simpleperf",
	Endings: []string{".simpleperf.trace", ".simpleperf"},
	Media:   []string{"application/vnd.simpleperf"},
	Begins:  func(head []byte) bool { return bytes.HasPrefix(head, magic) },
	Answer:  answer,
	Samples: samplesOf,
}

var magic = []byte("SIMPLEPERF")

// headerBytes stand before the first record: magic and version.
const headerBytes = 12
