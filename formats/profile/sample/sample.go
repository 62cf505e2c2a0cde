// Package sample reads the call trees that Apple's tools print: `sample`, spindump, and reports on hangs and on resources.
//
// The text is a report too, and stays one: symbolicate prints its answers as for all reports. The package answers it where
// samples are wanted: for pictures and other forms of profiles. It writes what the report writes.
//
// A line of a tree is a count of samples, and a function that they were found in. Callers stand above what they call, and
// further left:
//
//	9 Thread_42   DispatchQueue_1: main  (serial)
//	+ 9 main  (in game) + 24  [0x104a3004c]  main.swift:7
//	+ ! 8 ???  (in game)  load address 0x104a2c000 + 0x4050  [0x104a30050]
//
// The samples of a line are its count without the counts of the lines below it. The heaviest stack repeats a part of the
// trees, so it counts only in a text without trees.
package sample

import (
	"bytes"

	"github.com/symlake/symlake/formats/profile"
)

// Format is the text of Apple's call trees.
var Format = &profile.Format{
	Name:    "sample",
	Title:   "Apple's call trees",
	Endings: []string{".sample.txt", ".spindump.txt", ".spindump"},
	Media:   []string{"text/vnd.apple-sample"},
	Begins:  begins,
	Report:  true,
	Answer:  answer,
	Samples: samplesOf,
}

// begins reports whether a tree's line with an address stands in the first lines, below a header of trees.
func begins(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	var r reader
	for line := range bytes.Lines(head) {
		if err := r.line(trimmed(line)); err != nil {
			return false
		}
		if r.placed {
			return true
		}
	}
	return false
}
