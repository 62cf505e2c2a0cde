package report

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
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

// Form is one way in which a dialect prints reports.
type Form struct {
	Name   string
	Frame0 Frame0
	Lines  string      // an example of its lines, with a few words
	Kind   symbol.Kind // of the artifacts that its frames name; "": any

	Gap Gap
	Mix Mix
	// Ends reports whether a line that is no frame ends a report of this form that has frames; nil: none
	// does.
	Ends func(b *Builder, l *Line) bool

	// Print writes a report with its answers, [thread][frame]; those may be short. Without answers it
	// writes the report's text unchanged. Nil: answers stand below the frames' lines, as in ndk-stack.
	Print func(out *bufio.Writer, r *Report, answers [][]symbol.Answer)
}

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

// joins returns the form of a report of form now that gets a frame of form next; ok is false if the
// frame begins another report. A host gives its name to a guest's report.
func joins(now, next *Form) (form *Form, ok bool) {
	switch {
	case now == nil || now == next:
		return next, true
	case now.Mix == MixGuest && next.Mix == MixHost:
		return next, true
	case now.Mix == MixHost && next.Mix == MixGuest:
		return now, true
	}
	return next, false
}
