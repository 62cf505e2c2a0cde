package wire

import (
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// Frame is a frame as --json prints it.
type Frame struct {
	Function string `json:"function"`
	Linkage  string `json:"linkage"`
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Column   uint32 `json:"column"`
	Name     string `json:"name,omitempty"`    // scripts: the identifier at this place
	Ignored  bool   `json:"ignored,omitempty"` // scripts: the source is none of the application's own
	// Compiled is the function of the script around this place, where it has another name.
	Compiled string `json:"compiled_function,omitempty"`
	// Context is the source around the frame's line, where it was asked for and is kept.
	Context *Context `json:"context,omitempty"`
}

// Context is lines of a source file.
type Context struct {
	First uint32   `json:"first"` // the number of the first line
	Lines []string `json:"lines"`
}

// NewContext is nil where there are no lines.
func NewContext(first uint32, lines []string) *Context {
	if len(lines) == 0 {
		return nil
	}
	return &Context{first, lines}
}

// Answer is an answer as --json prints it.
type Answer struct {
	Artifact string        `json:"artifact,omitempty"`
	Load     string        `json:"load,omitempty"`
	Kind     symbol.Kind   `json:"kind,omitempty"`
	Position string        `json:"position,omitempty"`
	Raw      string        `json:"raw,omitempty"`
	Trust    unwind.Trust  `json:"trust,omitempty"` // how a stackwalker found the frame
	Status   symbol.Status `json:"status"`
	Reason   string        `json:"reason,omitempty"`
	Retry    bool          `json:"retry,omitempty"`
	Frames   []Frame       `json:"frames"`
	// Alternatives are the other chains that may be meant, where a mapping leaves several.
	Alternatives [][]Frame `json:"alternatives,omitempty"`
}

// NewFrames puts an answer's frames into words.
func NewFrames(frames []symbol.Frame) []Frame {
	out := make([]Frame, len(frames))
	for i, f := range frames {
		out[i] = Frame{Function: f.Readable(), Linkage: f.Linkage, File: f.File, Line: f.Line, Column: f.Column, Name: f.Name, Ignored: f.Ignored, Compiled: f.Compiled}
	}
	return out
}

// NewAnswer fills what every answer has.
func NewAnswer(a symbol.Answer) Answer {
	j := Answer{Status: a.Status, Retry: a.Status.Retry(), Frames: NewFrames(a.Frames)}
	for _, other := range a.Or {
		j.Alternatives = append(j.Alternatives, NewFrames(other))
	}
	if a.Status != symbol.Found {
		j.Reason = a.Reason()
	}
	return j
}
