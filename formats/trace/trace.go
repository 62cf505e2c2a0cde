package trace

import (
	"io"

	"github.com/symlake/symlake/formats"
)

// What bounds a trace's memory.
const (
	// MaxDepth is how many calls may be open on a thread. Stacks of Java overflow at some ten thousand frames; calls
	// above it are dropped with their exits.
	MaxDepth = 16 << 10
	// MaxThreads is how many tracks a trace may have.
	MaxThreads = 64 << 10
	// MaxNames and MaxNameBytes bound the names at hand. A large application has 200,000 methods.
	MaxNames     = 1 << 18
	MaxNameBytes = 24 << 20
	// MaxLineBytes is the longest line, name or JSON event.
	MaxLineBytes = 1 << 20
)

// Kind says what an event is.
type Kind uint8

// The kinds of events.
const (
	NewTrack Kind = iota + 1 // the track comes first here; its parent came before
	Begin                    // Name is entered
	End                      // the method entered last is left
	Instant                  // Name happened
	Count                    // Value of a counter from here on
	Forget                   // IDs of names begin again at 0; open calls stay open
)

// Event is one step of a trace. It is valid during the call; Track and Name stay.
type Event struct {
	Kind     Kind
	Unclosed bool   // End: the trace itself did not end it
	Track    *Track // of all but Forget
	Name     *Name  // of Begin and Instant
	ID       int32  // Name's, at hand without looking at it
	Time     int64  // nanoseconds on the trace's clock, never negative
	CPU      int64  // of Begin and End on a track with CPU: nanoseconds that the thread had run
	Value    float64
}

// TrackKind says what happens on a track.
type TrackKind uint8

// The kinds of tracks.
const (
	Thread  TrackKind = iota + 1 // calls
	State                        // what the thread above was doing, one state after the other
	Blocked                      // locks that the thread above waited for
	Counter                      // values; of the thread above, or of the process
)

// Unit is what a counter counts.
type Unit uint8

// The units.
const (
	Things Unit = iota
	Nanoseconds
	Bytes
)

// Track is where events happen. Its maker never changes it after its event.
type Track struct {
	Index   int // in order of appearance, from 0
	Kind    TrackKind
	Parent  *Track // a thread; nil: it is one itself, or belongs to the process
	Name    string // of the thread, or of what happens; "": not said
	PID     int64
	TID     int64  // of threads
	Process string // name of the process; "": not said
	Unit    Unit
	CPU     bool // its events carry CPU time
}

// Scratch is a file without a name: written bytes can be read again.
type Scratch interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Options says what the bytes do not.
type Options struct {
	Name string // of the file, for the process where the trace names none
	PID  int64  // of the process where the trace names none; 0: 1
	// Beside opens the file with the trace's name and the suffix behind
	// it or, if replace, in place of its extension; nil, nil: there is none. nil: nothing is beside it.
	Beside func(suffix string, replace bool) (io.ReadCloser, error)
	// Scratch makes one; nil: a trace that needs it is ErrLimit.
	Scratch func() (Scratch, error)
	// SortBytes is the memory for events that must be sorted; 0: the constant of that name.
	SortBytes int
}

// Report counts the contents of a trace.
type Report struct {
	Format   string
	Slices   uint64 // begun
	Orphans  uint64 // exits of methods that were not entered, dropped
	Lost     uint64 // calls closed because one around them was left
	Unclosed uint64 // open at the end
	Backward uint64 // events moved to the time of the one before
	TooDeep  uint64 // calls dropped for MaxDepth
	Clipped  uint64 // calls that outlived the one around them
	Passed   uint64 // events of kinds that are not shown
	Bad      uint64 // lines and records that make no sense
	FirstBad *formats.Error
	Notes    []string // what else should be known
}
