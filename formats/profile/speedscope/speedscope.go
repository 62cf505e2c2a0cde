// Package speedscope answers and writes the JSON files of the speedscope viewer.
//
//	{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name", "file", "line", "col"}]},
//	 "profiles": [{"type": "sampled", "samples": [[0, 1]], "weights": [1]}, {"type": "evented", "events": [{"type": "O", "frame": 0, "at": 1}]}]}
//
// A frame is asked for by its file, line and column, if these lead through a source map, or by the place in its name, which
// package named reads. Functions that were inlined become frames of their own, which open and close with the frame that they
// were inlined into. Frames that become one are one.
//
// Package trace/speedscope writes method traces in the same format.
package speedscope

import (
	"bytes"

	"github.com/symlake/symlake/formats/profile"
)

// Format is the files of the speedscope viewer.
var Format = &profile.Format{
	Name:    "speedscope",
	Title:   "speedscope",
	Endings: []string{".speedscope.json", ".speedscope"},
	Media:   []string{"application/vnd.speedscope+json"},
	Begins:  begins,
	Answer:  answer,
	Samples: samplesOf,
	Write:   write,
}

// schema names the format.
const schema = "https://www.speedscope.app/file-format-schema.json"

// begins reports whether an object names the format, or has frames that profiles share.
func begins(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	return bytes.Contains(head, []byte(`speedscope.app/file-format-schema.json"`)) && !bytes.Contains(head, []byte(`"$defs"`)) ||
		bytes.Contains(head, []byte(`speedscope.app\/file-format-schema.json"`))
}
