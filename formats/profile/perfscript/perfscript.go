// Package perfscript reads the text of `perf script`, of Linux's perf and of simpleperf's scripts, as samples.
//
// The text is a report too, and stays one: symbolicate prints its answers as for all reports. The package answers it where
// samples are wanted: for pictures and other forms of profiles. It writes the names as perf does, with lines for
// inlined functions and for places in the source (-F +srcline).
//
// A sample is a line for the program and the event, then a line a frame, innermost first, then an empty line:
//
//	tree 31865 49360.211272:    1003009 cpu-clock:
//	            129a [unknown] (/srv/app/tree)
//	            1aef main+0x1f (/srv/app/tree)
//
// Addresses of frames are offsets in the file, as perf prints them from 6.0 on and everywhere behind the file's name
// (-F +dsoff). Older versions print run-time addresses, which lines of mappings (--show-mmap-events) lead back to the file. All
// frames of a chain but the first, and the first of a program below the kernel's, have return addresses.
package perfscript

import (
	"bytes"

	"github.com/symlake/symlake/formats/profile"
)

// Format is the text of `perf script`.
var Format = &profile.Format{
	Name:    "perfscript",
	Title:   "perf script",
	Endings: []string{".perf.txt", ".perf"},
	Media:   []string{"text/vnd.perf-script"},
	Begins:  begins,
	Report:  true,
	Answer:  answer,
	Samples: samplesOf,
}

// begins reports whether a sample stands in the first lines: a header with a frame.
func begins(head []byte) bool {
	var last header
	known := false
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if isSkipped(line) {
			continue
		}
		if f, ok := parseFrame(line); ok && known {
			return f.file != "" || f.inlined || bytes.Contains(line, []byte("+0x"))
		}
		if last, known = parseHeader(line); !known {
			return false
		}
		if last.frame != nil {
			return true
		}
	}
	return false
}
