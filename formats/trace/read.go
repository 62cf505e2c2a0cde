// Package trace reads method traces: what a runtime wrote down of when which
// method was entered and left, on which thread.
//
// [Read] recognizes the format by its content and pushes events. What the
// names in a trace mean is the caller's to find ([Name.Method] takes a name
// apart), what becomes of the events is the writers': the packages below this
// one, and [Jank].
//
// # Formats
//
//	nanoscope  lines "NANOSECONDS:METHOD" and "NANOSECONDS:POP"; "#" begins what is said about the call, "+" a name
//	           that is taken as it stands. Beside it NAME.timer (counters) and NAME.state (states of the thread).
//	art        Android's Debug.startMethodTracing: the key section as text and records of version 1 to 3, or
//	           streamed (2 and 3). Versions 4 and 5, streamed or not, are the packets below.
//	chrome     JSON events B, E, X, C, i and M of Chrome's trace viewer. They may come in any order.
//	ring       the container below.
//
// # Packets of art
//
// Versions 4 (one clock) and 5 (two clocks) are read as Perfetto's importer reads them. All integers are little
// endian. The header has 32 bytes:
//
//	"SLOW", version (u16; 0xf4 and 0xf5: streamed), start in nanoseconds (u64), the counter at the start (u64),
//	ticks of the counter in a second (u64; 0: times are nanoseconds), 0 (u16)
//
// Packets follow. Their first byte says their kind:
//
//	0 thread   thread id (u32), length (u16), name
//	1 method   method (u64), length (u16), class, name, signature, source and line, between tabs
//	2 entries  thread id (u32), count (u24), bytes (u32), then entries
//	3 summary  text to the line "*end"
//
// An entry is signed LEB128: the difference to the time before, then with two clocks the CPU time, then the
// difference to the method entered before, if a method is entered. The low two bits of a time say what happens: 0
// enters the method, 1 and 2 leave the method entered last. Differences begin at 0 in each block. CPU times are
// passed over.
//
// A block of a thread without a name is an error, as it is in the importer, and so is a trace without its summary. ART
// wrote the method before the time for a while, under the same versions: such entries are refused. Version 6 is refused.
//
// # The ring container
//
// What a tracer that keeps (time, method pointer) in a ring for each thread
// writes when something was slow. All integers are little endian, times are
// nanoseconds on one clock, threads are named by the id that the system gives.
//
//	file    header, then chunks to the end
//	header  "symring" 0 (8 bytes), version 1 (u16), 0 (u16), process id (u32)
//	chunk   kind (u32), length of what follows (u32), that many bytes
//
//	1 thread  thread id (u64), its name in UTF-8 to the end of the chunk
//	2 names   any number of: pointer (u64), length (u16), that many bytes of UTF-8.
//	          What a method, or a lock, is called.
//	3 calls   thread id (u64), then any number of: time (u64), method pointer (u64; 0: the method entered
//	          last is left)
//	4 states  thread id (u64), then any number of: time (u64), state (u64) that the thread is in from
//	          then on, by the numbers of ART's ThreadState
//	5 locks   thread id (u64), then any number of: from (u64), to (u64), lock (u64), id of the thread that
//	          owned it (u64): the thread waited for the lock in between
//
// Records of one kind and thread ascend by time, also over several chunks; a
// ring is written from its oldest record. Names and threads stand before the
// chunks that refer to them. Chunks of other kinds are passed over.
//
// A file without header is a bare ring: the records of one calls chunk of one
// thread, oldest first. Its names are beside it, in a JSON object of pointer
// ("0x71000000") to name, in a file called as the ring with ".symbols.json"
// in place of its extension; without that file it is no trace.
//
// # Invariants
//
//   - on each track Begin and End are balanced and properly nested, and times
//     never descend: an exit without entry is dropped, a call that is open at
//     the end is closed at the trace's last time ([Event].Unclosed), a time
//     before the one before it on its thread is moved to that one; each is counted
//     in [Report];
//   - a line or record that makes no sense is dropped and counted, and the
//     first one is in [Report].FirstBad; an error means that nothing more could be
//     read: what came before has been emitted, and closed;
//   - names are interned: one *Name a name, with a dense ID, until a Forget;
//   - memory is bounded, for any size of input: [MaxNames] names of together
//     [MaxNameBytes], [MaxThreads], [MaxDepth] open calls a thread. Events of Chrome, which
//     must be sorted, go to the caller's scratch above [SortBytes]: numbers only, no names.
package trace

import (
	"bufio"
	"context"
	"io"

	"github.com/symlake/symlake/formats"
)

// sniffBytes are looked at to tell the format.
const sniffBytes = 64 << 10

// Sniff tells whether text that begins with head is a trace, and of which
// format; "" if not. A bare ring cannot be told from it.
func Sniff(head []byte) string {
	for _, f := range grammars {
		if f.detect(head) {
			return f.name
		}
	}
	return ""
}

// grammar is a format of traces.
type grammar struct {
	name   string
	detect func(head []byte) bool
	read   func(r *reader) error
}

var grammars = [...]grammar{
	{"ring", isRing, (*reader).ring},
	{"art", isART, (*reader).art},
	{"chrome", isChrome, (*reader).chrome},
	{"nanoscope", isNanoscope, (*reader).nanoscope},
}

// Read pushes the events of a trace, and of the files beside it. emit's error
// comes back unchanged, as ctx's does; a *formats.Error says why reading
// ended early. The report is there in any case; its Format is "" if this is no
// trace, and then nothing was emitted.
func Read(ctx context.Context, in io.Reader, o Options, emit func(*Event) error) (Report, error) {
	if o.PID == 0 {
		o.PID = 1
	}
	if o.SortBytes < 2*recordBytes {
		o.SortBytes = SortBytes
	}
	r := &reader{ctx: ctx, in: bufio.NewReaderSize(in, bufferBytes), o: o, emit: emit}
	head, err := r.in.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return r.report, err
	}
	read := (*reader).bareRing
	for _, f := range grammars {
		if f.detect(head) {
			r.report.Format, read = f.name, f.read
			break
		}
	}
	err = read(r)
	if err == nil || formats.Rejects(err) {
		if cerr := r.closeAll(); cerr != nil {
			err = cerr
		}
	}
	return r.report, err
}
