package formats

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// The sentinels that decide what happens to an object. The first three reject
// it and nothing else.
var (
	ErrCorrupt     = errors.New("corrupt input")
	ErrUnsupported = errors.New("unsupported")
	ErrLimit       = errors.New("limit exceeded")
	// ErrNoCompanion says that no object seen so far is the wanted companion.
	ErrNoCompanion = errors.New("no such companion")
)

// Error says where in an object a parser stopped, and what it wanted there.
// It prints as "elf: .debug_info+0x1f4a: corrupt input: want abbreviation 7".
type Error struct {
	Format  string
	Section string // "" for the file as a whole
	Offset  int64  // from the start of Section
	Want    string
	Err     error // one of the sentinels, or wraps one
}

func (e *Error) Error() string {
	section := e.Section
	if section == "" {
		section = "file"
	}
	at := uint64(e.Offset) // a damaged header may say any
	if e.Want == "" {
		return fmt.Sprintf("%s: %s+%#x: %v", e.Format, section, at, e.Err)
	}
	return fmt.Sprintf("%s: %s+%#x: %v: want %s", e.Format, section, at, e.Err, e.Want)
}

func (e *Error) Unwrap() error { return e.Err }

// Rejects reports whether err condemns the object it came from, and only it.
func Rejects(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrLimit)
}

// PanicError is a parser's panic, or a fault in a mapped file that was cut
// short while it was read. It is ErrCorrupt.
type PanicError struct {
	Format string
	Value  any
	Stack  string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: %v: parser panic: %v", e.Format, ErrCorrupt, e.Value)
}

func (e *PanicError) Unwrap() error { return ErrCorrupt }

// Guard runs f and turns a panic in it into a *PanicError, so that one hostile
// object cannot end a job. Memory faults
// in mapped files become panics on the goroutine for the time of the call.
// It must be called on each goroutine that runs a parser. A panic that began in the consumer
// of a parser (a package outside formats) goes on: it is a bug of ours, or a fault in a mapped file that the consumer answers for.
func Guard(format string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if !inParser() {
			panic(v)
		}
		err = &PanicError{Format: format, Value: v, Stack: string(debug.Stack())}
	}()
	return f()
}

// inParser reports whether the innermost frame of this module on the
// panicking stack belongs to formats.
func inParser() bool {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for {
		f, more := frames.Next()
		const module = "github.com/symlake/symlake/"
		if strings.HasPrefix(f.Function, module) && !strings.HasPrefix(f.Function, module+"formats.") {
			return strings.HasPrefix(f.Function, module+"formats/")
		}
		if !more {
			return true
		}
	}
}
