package report

import (
	"fmt"
	"slices"
)

// Frame0 says what the values of a report are.
type Frame0 uint8

// The kinds of values.
const (
	AsFormat Frame0 = iota // as the report's form says
	Exact                  // frame 0 is the place where the thread stood, the others are return addresses
	Return                 // every frame is a return address, frame 0 too
	Stepped                // every frame lies in its instruction: look up as printed
)

// ParseFrame0 reads a flag's value: exact, return or stepped; "" is AsFormat.
func ParseFrame0(s string) (Frame0, error) {
	if i := slices.Index(frame0Names[:], s); i >= 0 {
		return Frame0(i), nil
	}
	return 0, fmt.Errorf("frame 0 %q: want exact, return or stepped", s)
}

// String returns the text that ParseFrame0 reads.
func (f Frame0) String() string { return frame0Names[f] }

var frame0Names = [...]string{AsFormat: "", Exact: "exact", Return: "return", Stepped: "stepped"}

// Gap says what an empty line behind a frame means.
type Gap uint8

// The meanings of an empty line.
const (
	GapNothing    Gap = iota
	GapEndsReport     // the next frame begins a report
	GapEndsThread     // the next frame of the same form begins a thread
)

// Mix says whether frames of several forms stand in one report.
type Mix uint8

// The kinds of mixing.
const (
	MixNone  Mix = iota
	MixHost      // frames of guests stand among its own
	MixGuest     // its frames stand in reports of hosts, too
)
