package report

// Found is a frame in a line.
type Found struct {
	Form *Form
	// Number is the frame's place in its thread, as the line says it; -1: the line does not say it. A
	// frame 0 behind others begins a thread or a report.
	Number int
	// Room is the memory to ask for, in bytes, beside the text's.
	Room  int
	Place Place // unless the dialect adds its frames itself
}

// Header is the facts that a line says about the frames behind it.
type Header struct {
	Begins Begin
	Thread bool   // a thread begins
	Arch   string // the report's architecture; "": not said
	ID     uint64 // of the thread; 0: not said
	Name   string // of the thread
}

// Begin says whether a report begins with a header.
type Begin uint8

// The ways in which a report begins.
const (
	BeginsNothing Begin = iota
	BeginsTrace         // a trace begins, unless its frames are still to come; its frame 0 begins another
	BeginsLate          // a dump begins, unless its frames are still to come
	BeginsDump          // a dump begins; its frame 0 begins a thread
)
