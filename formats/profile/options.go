package profile

import (
	"context"
	"io"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// askAtOnce is how many places a format's questions are cut into: an answer of each is in memory at a time.
const askAtOnce = 16 << 10

// MemoryBytes is the room that a format has where Options say nothing.
const MemoryBytes = 96 << 20

// Options say how a profile is answered.
type Options struct {
	// Ask looks frames up, and calls answer once for each, in order. Frames of one image stand together if the format can
	// arrange it. An answer is valid during its call.
	Ask func(ctx context.Context, frames []report.Frame, answer func(i int, a *symbol.Answer)) error
	// Classes looks obfuscated classes up, and calls answer once for each, in order; c is nil if no mapping has it.
	// image are names of the mapping, best first; none: the mapping that the caller knows of.
	Classes func(ctx context.Context, image, names []string, answer func(i int, c *Class)) error
	// Mapped reports whether a mapping of these names is known, as Classes would ask for it. Formats ask it before they ask
	// for words that may be no classes at all. nil: it is not known, and Classes tells.
	Mapped func(ctx context.Context, image []string) (bool, error)
	// Frame0 says what the innermost addresses of stacks are, for forms that do not say it; zero: as the form has it.
	Frame0 report.Frame0
	// Memory bounds what a format keeps, in bytes; 0: MemoryBytes.
	Memory int64
	// Scratch makes a file for what exceeds Memory; nil: none can be made.
	Scratch func() (Scratch, error)
	// Counts tells what became of the profile.
	Counts Counts

	list []*Format // of Answer
}

// Scratch is a file without a name.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// Class is what a mapping knows of an obfuscated class.
type Class struct {
	Original string   // its name in the source
	Methods  []Member // in the order of the mapping; several may have one name
	Fields   []Member
	Lines    []MethodLine // of Methods, by name ascending, in the order of the mapping; nil: they are not known
}

// MethodLine is one line of a mapping about a method: inlined methods have lines of one range, the innermost first.
type MethodLine struct {
	Member
	Ranged      bool   // it counts for lines of the program
	First, Last uint32 // these, both inclusive
	Sourced     bool   // it tells lines of the source
	From, To    uint32 // these
}

// Member is a method or a field of an obfuscated class.
type Member struct {
	Name     string // in the program
	Original string // in the source; with the name of its class before it, if that is another one
}

// Room returns the bytes that a format may keep.
func (o *Options) Room() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return MemoryBytes
}

// Look asks for frames, and counts places and answers. answer is called once for each frame, in order.
func (o *Options) Look(ctx context.Context, frames []report.Frame, answer func(i int, a *symbol.Answer)) error {
	for from := 0; from < len(frames); from += askAtOnce {
		some := frames[from:min(len(frames), from+askAtOnce)]
		err := o.Ask(ctx, some, func(i int, a *symbol.Answer) {
			o.Counts.place(&some[i], a)
			answer(from+i, a)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
