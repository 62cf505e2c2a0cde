// Package samples is what all profiles have in common: stacks, and how often or how long a program was found in them.
// Profiles are converted through it, and pictures are drawn of it.
//
// Strings, frames and stacks are kept once each. Stacks are a tree: a stack is its caller's stack and one frame more.
package samples

import "github.com/symlake/symlake/formats"

// Profile is samples in memory. The zero value is empty. One goroutine.
type Profile struct {
	Name     string // of the program; "": not said
	Types    []Type // what a sample's values count; none: each sample counts one
	Default  int    // of Types: shown first
	Start    int64  // nanoseconds since 1970 of time 0; 0: not said
	Duration int64  // nanoseconds; 0: not said
	Period   int64  // of Types[Default] between two samples; 0: not said
	Threads  []Thread
	Frames   []Frame  // by number
	Stacks   []Stack  // by number; callers come first
	Samples  []Sample // in the order of the profile
	Values   []int64  // of each sample len(Types) values, one sample behind the other; of a profile without types none
	Room     int64    // bytes that the profile may take; 0: RoomBytes
	Lost     uint64   // samples of the source that had no stack

	taken  int64
	frames map[Frame]int32
	stacks map[Stack]int32
}

// RoomBytes bounds a profile where Room says nothing.
const RoomBytes = 192 << 20

// None is the number of no stack, no frame and no thread.
const None = -1

// Type is what a value counts.
type Type struct {
	Name string // "cpu", "samples", "alloc_space"
	Unit string // "nanoseconds", "count", "bytes"
}

// Thread is where samples were taken.
type Thread struct {
	PID, TID int64
	Name     string // "": not said
	Process  string // "": not said
}

// Frame is a function that was found in a stack. Frames that are equal are one.
type Frame struct {
	Function string // readable; never empty: without a name it says the place
	Linkage  string // as the program has it; "": the same, or not said
	File     string // of the source; "": not known
	Line     uint32 // there, of the sample; 0: not known
	Column   uint32 // 0: not known
	Module   string // the file that has the code; "": not said
	Inlined  bool   // into the frame that called it
	Address  uint64 // in the module, where there is no name; 0: not said
}

// Stack is a frame and the stack that called it.
type Stack struct {
	Caller int32 // None: it is the outermost
	Frame  int32
}

// Sample is a stack at a time.
type Sample struct {
	Stack  int32
	Thread int32 // None: not said
	Time   int64 // nanoseconds from the beginning; -1: not said
}

// Frame returns the number of a frame.
func (p *Profile) Frame(f Frame) (int32, error) {
	if n, known := p.frames[f]; known {
		return n, nil
	}
	if err := p.take(int64(2*frameBytes + len(f.Function) + len(f.Linkage) + len(f.File) + len(f.Module))); err != nil {
		return None, err
	}
	if p.frames == nil {
		p.frames = map[Frame]int32{}
	}
	n := int32(len(p.Frames))
	p.frames[f] = n
	p.Frames = append(p.Frames, f)
	return n, nil
}

// Push returns the number of a stack: a frame that a stack called; caller is None for the outermost.
func (p *Profile) Push(caller, frame int32) (int32, error) {
	s := Stack{caller, frame}
	if n, known := p.stacks[s]; known {
		return n, nil
	}
	if err := p.take(stackBytes); err != nil {
		return None, err
	}
	if p.stacks == nil {
		p.stacks = map[Stack]int32{}
	}
	n := int32(len(p.Stacks))
	p.stacks[s] = n
	p.Stacks = append(p.Stacks, s)
	return n, nil
}

// Add adds a sample with its values, one for each type.
func (p *Profile) Add(s Sample, values ...int64) error {
	if err := p.take(int64(sampleBytes + 16*len(p.Types))); err != nil {
		return err
	}
	p.Samples = append(p.Samples, s)
	for i := range p.Types {
		v := int64(0)
		if i < len(values) {
			v = values[i]
		}
		p.Values = append(p.Values, v)
	}
	return nil
}

// Value returns a sample's value of a type; without types it is 1.
func (p *Profile) Value(sample, kind int) int64 {
	if len(p.Types) == 0 {
		return 1
	}
	return p.Values[sample*len(p.Types)+kind]
}

// About what an entry takes beside its strings, with the room that slices and maps keep free.
const (
	frameBytes  = 160
	stackBytes  = 48
	sampleBytes = 32
)

// take counts memory.
func (p *Profile) take(n int64) error {
	room := p.Room
	if room == 0 {
		room = RoomBytes
	}
	if p.taken += n; p.taken > room {
		return &formats.Error{Format: "samples", Offset: int64(len(p.Samples)), Want: "a smaller profile, or one without conversion", Err: formats.ErrLimit}
	}
	return nil
}
