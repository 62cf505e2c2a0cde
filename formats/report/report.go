// Package report reads raw stacks as text and prints them back with answers.
// It is syntax only: it looks nothing up and knows no image base; it says
// which artifact a frame names and which place in it, stepped back into the
// call where the printed value is a return address.
//
// Invariants:
//   - [Split] hands out every byte it reads, once and in order; [Print] without
//     answers writes them back unchanged, line ends included. Two kinds of input come out otherwise. Of reports that are
//     no text (tombstone.pb, minidumps), Split hands out a rendering. It decodes text that other programs have
//     passed on;
//   - Split reads UTF-16, with or without a mark, and hands out UTF-8. In reports with frames, so does it for lines of
//     Latin-1, one space stands for each space of a page, and "\n" for a "\r" alone. A line with "\n" and "\t" as two letters
//     each becomes several lines if that gives frames;
//   - memory is one stack: at most MaxFrames frames and about MaxTextBytes of
//     text, or one document of MaxDocumentBytes, however long the input is;
//   - what a frame reported stays in Frame.Raw; only Frame.At is stepped and
//     stripped of tags;
//   - no input is an error: a line that is no frame is text.
package report

import (
	"bufio"
	_ "embed"
	"fmt"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// README is the document of this folder. The command line prints it as a help topic.
//
//go:embed README.md
var README string

// What bounds a stack and a line.
const (
	// MaxFrames ends a report: the frames behind it are the next one, of the same
	// form. Stack overflows print some thousands of frames, no unwinder
	// prints more than 10,000 of them.
	MaxFrames = 10_000
	// MaxTextBytes ends a stack that already has frames: a tombstone's memory
	// dump and log may follow them for megabytes.
	MaxTextBytes = 1 << 20
	// MaxLineBytes is the longest line that is looked at; longer ones pass as
	// text. Names of instantiated templates make lines of a few KiB.
	MaxLineBytes = scan.MaxLineBytes
	// MaxDocumentBytes bounds a report that is read as a whole, because its
	// frames refer to a list elsewhere in it. Crash reports of Apple's systems
	// have up to some megabytes. Longer reports are cut, or read as lines. Longer JSON is taken apart.
	MaxDocumentBytes = 32 << 20
	// MaxDocumentFrames is how many frames of a document are frames; the rest is text.
	MaxDocumentFrames = 1 << 17
)

// Reasons of parts that the bounds leave unread.
var (
	WhyFrames = fmt.Sprintf("a report may have %d frames, and a thread of it %d: the frames behind them are not read", MaxDocumentFrames, MaxFrames)
	WhyPart   = "a part of a long JSON value is too long itself, and is not read"
)

// Report is one dump: a crash report, a backtrace in a log, a list of addresses;
// or, without threads, text between them. Text without threads may still have parts that are Unread.
type Report struct {
	Form    *Form  // nil for text without frames
	Text    []byte // the dump's lines and what surrounds its frames
	Arch    string // as its header says, in the words of symbol.Artifact; "" if it does not
	Threads []Thread
	Words   []Word   // names in Text, outside of frames, that Dart's compiler may have replaced
	Unread  []Unread // parts of Text that look like frames and are none of Threads; see AddUnread

	// Walk finds more frames by rules of modules; nil: the report has its stacks from elsewhere, or has been walked.
	Walk *Walk

	// InString completes a frame in a string of Text, of JSON, by what stands around the string; nil: that says nothing.
	// A reader may hand out a report with nothing else.
	InString func(f *Frame)

	managed ManagedOptions // for printing

	json     bool     // Text is JSON
	strings  []quoted // strings of Text that hold reports; their threads and words stand behind the report's own
	own      int      // threads that stand in no string
	ownWords int
	lengths  []Length // numbers that count bytes of Text
	counted  *Length  // a number before all frames that counts bytes up to the end of Text
}

// Walk is the process of a report. Its stacks can be walked again, with rules of its modules. The report's threads and text
// are from a walk without rules.
type Walk struct {
	Process *unwind.Process
	// Render sets the threads and the text of the report to frames of another walk, as unwind.Walk returns them.
	Render func(r *Report, frames [][]unwind.Frame)
}

// Thread is a thread's frames, innermost first; of a sampled call tree, a branch's, each frame in one
// branch only. Trees stand the other way about in Text.
type Thread struct {
	ID     uint64 // 0: not said
	Name   string // "": not said
	Frames []Frame

	Crashed bool // the report says that the thread failed
}

// Frame is one line that names a place in an artifact.
type Frame struct {
	Span      [2]int      // [start, end) in Report.Text: the line without what stands before the frame and without its line end
	Image     []string    // names to ask for, best first: build-id, then base name of File; else Options.Artifacts
	Kind      symbol.Kind // of the artifact that it names; "": not said
	File      string      // the image's path as printed, without its container
	Container string      // path of the archive that the image was mapped from, as printed; "" if none
	Offset    uint64      // of the image in what it was mapped from, as printed; 0: its beginning, or not said
	Arch      string      // of the line, else of the stack; "" if neither says
	At        symbol.Where
	// Or is the same place said in other ways, best first, for an artifact that cannot tell At.
	Or       []symbol.Where
	Deferred bool     // the code lies in a deferred loading unit of a Dart program
	Program  string   // build of a Dart program; its map of names counts for all units; "": not said
	Raw      uint64   // as reported
	Script   *Script  // a frame of JavaScript
	Managed  *Managed // a line of Java or Kotlin, which names no address: At and Raw say nothing

	// Trust says how a stackwalker found the frame; "": there was none, or it does not say it.
	Trust unwind.Trust

	Layout Layout
	Detail any // of the dialect that read the frame, for printing; see FramePrinter
}

// Script is the part of a frame of JavaScript that other frames do not have.
type Script struct {
	// Module of a React Native bundle: its lines count from where it begins there.
	Module *Module
	// Function is what the engine called the function, if that says more than nothing: "Object.parse", not
	// "<anonymous>" or a minifier's "r". An answer that knows no name takes it.
	Function string
}

// Module names a part of a React Native bundle that has its own numbers: a
// segment, a module of a RAM bundle in it, or a function of its bytecode.
type Module struct {
	Segment  uint32
	Table    Table
	Number   uint32 // of the module or function
	Bytecode bool   // the frame's column counts bytes from the function's first
}

// Table says what a number of a Module counts.
type Table uint8

// The tables of a map.
const (
	NoTable   Table = iota
	Modules         // modules of a RAM bundle: symbol.ModuleOffset
	Functions       // functions of bytecode: symbol.HermesFunction
)

// FramePrinter is a Frame.Detail that prints its frame where the report's form has no Print.
type FramePrinter interface {
	// PrintFrame writes the frame with its answer. [done, …) of the report's text is not written yet; it
	// returns where the rest begins.
	PrintFrame(out *bufio.Writer, r *Report, f *Frame, a *symbol.Answer, done int) int
}

// Layout is how a frame and its answers share lines.
type Layout struct {
	Indent int  // columns from Span[0] to where answers are printed
	Tail   int  // bytes before Span[1] that stay behind answers
	Above  int  // functions of its inline chain, innermost first, that have lines or objects of their own beside it
	Among  bool // other frames stand in its line
}

// Format returns the name of the report's form, "" for text without frames.
func (s *Report) Format() string {
	if s.Form == nil {
		return ""
	}
	return s.Form.Name
}

// Managed says how the stack's lines of Java and Kotlin were read, and are to be retraced and printed.
func (s *Report) Managed() ManagedOptions { return s.managed }

// AddThread adds a thread that has frames.
func (s *Report) AddThread(t Thread) {
	if len(t.Frames) > 0 {
		s.Threads = append(s.Threads, t)
	}
}

// LeaveOut notes that so many frames lie behind a bound.
func (s *Report) LeaveOut(frames int) {
	if frames > 0 {
		s.Unread = AddUnread(s.Unread, Unread{Why: WhyFrames, Frames: frames})
	}
}

// Frames returns how many frames the report has, in all threads.
func (s *Report) Frames() (n int) {
	for i := range s.Threads {
		n += len(s.Threads[i].Frames)
	}
	return n
}

// FrameText is a frame's text, a part of s.Text.
func (s *Report) FrameText(f *Frame) []byte { return s.Text[f.Span[0]:f.Span[1]] }

// Form is one way in which a dialect prints reports.
type Form struct {
	Name   string
	Frame0 Frame0
	Lines  string      // an example of its lines, with a few words
	Kind   symbol.Kind // of the artifacts that its frames name; "": any

	Gap Gap
	Mix Mix
	// Quoted is the form of JSON in which reports of the form stand in strings; nil: the form itself.
	Quoted *Form
	// Print writes a report with its answers, [thread][frame]; those may be short. Without answers it
	// writes the report's text unchanged. Nil: answers stand below the frames' lines, as in ndk-stack.
	Print func(out *bufio.Writer, r *Report, answers [][]symbol.Answer)
}

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

// textBytes is how much text without frames is kept before it is handed out.
const textBytes = 64 << 10

// mostAhead bounds the room that a report makes for the text of the next one.
const mostAhead = 4 << 10

// Word is a name in the text around frames that Dart's compiler may have
// replaced: an exception's class, or a name in its message.
type Word struct {
	Span     [2]int // in Report.Text
	Name     string // as printed
	Original string // "": as printed. The owner of the map of names fills it in; Print writes it
}

// quoted is a string of JSON that holds reports.
type quoted struct {
	span    [2]int // of the string's inside, in the text of the report around it
	levels  int    // how often the string is escaped; 0: it is no string of JSON
	list    bool   // the span goes from the first string of a list to the last
	class   [2]int // see Part
	doubled bool   // see Part
	name    []byte // the text stands in no string, and goes into a member of that name and "_text" at span; nil: it stands there
	reports []*Report
	threads int // of reports; they stand among the threads of the report around them
	words   int
}
