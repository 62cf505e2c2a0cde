package trace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/symlake/symlake/formats"
)

// bufferBytes are read at once: a line or record lies in it whole.
const bufferBytes = MaxLineBytes

// reader is what all formats share: tracks kept balanced, names, positions.
type reader struct {
	ctx  context.Context
	in   *bufio.Reader
	at   int64 // offset of the next byte in in
	o    Options
	emit func(*Event) error

	event   Event // for emit
	names   names
	forgot  uint // how often names were
	tracks  int
	threads map[int64]*thread
	order   []*thread                // as they appeared
	closers []func(last int64) error // of states that began
	last    int64                    // the trace's last time
	steps   uint                     // since ctx was asked
	report  Report
}

// thread is a track of calls and its open calls.
type thread struct {
	track  *Track
	open   []call
	deep   int // calls beyond MaxDepth that are open
	last   int64
	cpu    int64
	inside map[uint64]int // how often a method is open, by its id in the trace; nil: not needed lately
	calm   int            // so many more exits of the method entered last, and inside is dropped
}

// call is an open call.
type call struct {
	id uint64 // of the method in the trace, if exits name it
}

// corrupt is the error for damage at offset at.
func (r *reader) wrong(at int64, err error, want string) *formats.Error {
	return &formats.Error{Format: r.report.Format, Offset: at, Want: want, Err: err}
}

func (r *reader) corrupt(at int64, want string) *formats.Error {
	return r.wrong(at, formats.ErrCorrupt, want)
}

// bad counts something that makes no sense and is passed over.
func (r *reader) bad(section string, at int64, want string) {
	if r.report.Bad++; r.report.Bad == 1 {
		r.report.FirstBad = &formats.Error{Format: r.report.Format, Section: section, Offset: at, Want: want, Err: formats.ErrCorrupt}
	}
}

// alive is ctx's error, now and then.
func (r *reader) alive() error {
	if r.steps++; r.steps&0xffff == 0 {
		return r.ctx.Err()
	}
	return nil
}

// newTrack makes a track and tells of it.
func (r *reader) newTrack(t Track) (*Track, error) {
	if r.tracks >= MaxThreads {
		return nil, r.wrong(r.at, formats.ErrLimit, "fewer threads and counters")
	}
	t.Index = r.tracks
	r.tracks++
	made := &t
	r.event = Event{Kind: NewTrack, Track: made}
	return made, r.emit(&r.event)
}

// thread gives the thread with an id, made if it is new.
func (r *reader) thread(key int64, t Track) (*thread, error) {
	if known := r.threads[key]; known != nil {
		return known, nil
	}
	t.Kind = Thread
	if t.PID == 0 {
		t.PID = r.o.PID
	}
	if t.Process == "" && t.PID == r.o.PID {
		t.Process = r.o.Name
	}
	track, err := r.newTrack(t)
	if err != nil {
		return nil, err
	}
	if r.threads == nil {
		r.threads = map[int64]*thread{}
	}
	made := &thread{track: track}
	r.threads[key] = made
	r.order = append(r.order, made)
	return made, nil
}

// moment is the time of an event on a thread: never before the one before.
func (r *reader) moment(t *thread, at int64) int64 {
	if at < t.last {
		r.report.Backward++
		return t.last
	}
	t.last = at
	if at > r.last {
		r.last = at
	}
	return at
}

// begin enters a method by the ID of its name, and its id in the trace.
func (r *reader) begin(t *thread, at int64, name int32, id uint64) error {
	at = r.moment(t, at)
	if len(t.open) >= MaxDepth {
		t.deep++
		r.report.TooDeep++
		return nil
	}
	t.open = append(t.open, call{id})
	if t.inside != nil {
		t.inside[id]++
	}
	r.report.Slices++
	e := &r.event // field by field: it is not made elsewhere and copied
	e.Kind, e.Unclosed, e.Track, e.Time, e.CPU = Begin, false, t.track, at, t.cpu
	e.Name, e.ID = r.names.of(name), name
	return r.emit(e)
}

// end leaves the method entered last.
func (r *reader) end(t *thread, at int64) error {
	at = r.moment(t, at)
	if t.deep > 0 {
		t.deep--
		return nil
	}
	if len(t.open) == 0 {
		r.report.Orphans++
		return nil
	}
	return r.pop(t, at, false)
}

// leave leaves a method by its id, and all methods entered since and not left.
func (r *reader) leave(t *thread, at int64, id uint64) error {
	at = r.moment(t, at)
	if t.deep > 0 {
		t.deep--
		return nil
	}
	switch top := len(t.open) - 1; {
	case top >= 0 && t.open[top].id == id:
		if t.calm--; t.calm == 0 {
			t.inside = nil
		}
		return r.pop(t, at, false)
	case top < 0 || !t.has(id):
		r.report.Orphans++
		return nil
	}
	for {
		found := t.open[len(t.open)-1].id == id
		if !found {
			r.report.Lost++
		}
		if err := r.pop(t, at, !found); err != nil || found {
			return err
		}
	}
}

// has reports whether a method is open. Mostly none but the last is asked for: it is found out for as long as the
// stack is deep, so that asking again and again is no more work than calling.
func (t *thread) has(id uint64) bool {
	if t.inside == nil {
		t.inside, t.calm = map[uint64]int{}, len(t.open)
		for _, c := range t.open {
			t.inside[c.id]++
		}
	}
	return t.inside[id] > 0
}

func (r *reader) pop(t *thread, at int64, unclosed bool) error {
	top := len(t.open) - 1
	if t.inside != nil {
		if id := t.open[top].id; t.inside[id] > 1 {
			t.inside[id]--
		} else {
			delete(t.inside, id)
		}
	}
	t.open = t.open[:top]
	e := &r.event
	e.Kind, e.Unclosed, e.Track, e.Time, e.CPU = End, unclosed, t.track, at, t.cpu
	return r.emit(e)
}

// closeAll closes all open calls and states at the trace's last time.
func (r *reader) closeAll() error {
	for _, end := range r.closers {
		if err := end(r.last); err != nil {
			return err
		}
	}
	for _, t := range r.order {
		for len(t.open) > 0 {
			r.report.Unclosed++
			if err := r.pop(t, max(r.last, t.last), true); err != nil {
				return err
			}
		}
	}
	return nil
}

// take gives the next n bytes, at most bufferBytes, valid until the next call. At the end of the
// trace it gives io.EOF, inside something what it wants.
func (r *reader) take(n int, want string) ([]byte, error) {
	b, err := r.in.Peek(n)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(b) == 0 && want == "" {
			return nil, io.EOF
		}
		if want == "" {
			want = "a whole record"
		}
		return nil, r.corrupt(r.at+int64(len(b)), want)
	}
	r.in.Discard(n)
	r.at += int64(n)
	return b, nil
}

// skip passes over n bytes.
func (r *reader) skip(n int64) error {
	for n > 0 {
		step := int(min(n, bufferBytes))
		got, err := r.in.Discard(step)
		r.at += int64(got)
		if errors.Is(err, io.EOF) {
			return r.corrupt(r.at, "the rest of what was announced")
		} else if err != nil {
			return err
		}
		n -= int64(step)
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// lines gives whole lines with their ends, valid until the next call; at the trace's end also one without. long: a line
// is longer than MaxLineBytes, and passed over. At the end: io.EOF.
func (r *reader) lines() (b []byte, long bool, err error) {
	for want := 1; ; want = len(b) + 1 {
		if _, err = r.in.Peek(want); err != nil && err != io.EOF {
			return nil, false, err
		}
		b, _ = r.in.Peek(r.in.Buffered())
		end := bytes.LastIndexByte(b, '\n') + 1
		switch {
		case end > 0:
			b = b[:end]
		case len(b) == bufferBytes:
			_, long, err = r.line()
			return nil, long, err
		case err == nil:
			continue
		case len(b) == 0:
			return nil, false, io.EOF
		}
		r.in.Discard(len(b))
		r.at += int64(len(b))
		return b, false, nil
	}
}

// line gives the next line without its end, valid until the next call; long: it is longer than MaxLineBytes,
// and passed over. At the end: io.EOF.
func (r *reader) line() (b []byte, long bool, err error) {
	b, err = r.in.ReadSlice('\n')
	r.at += int64(len(b))
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		b, err = r.in.ReadSlice('\n')
		r.at += int64(len(b))
	}
	if errors.Is(err, io.EOF) && (len(b) > 0 || long) {
		err = nil
	}
	if err != nil {
		return nil, false, err
	}
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b, long, nil
}

func u16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }

func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

func u64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// intern gives the ID for a key, made a name by of if it is new. What does not fit any more
// makes all names forgotten.
func (r *reader) intern(key []byte, of func(key string) Name) (int32, error) {
	if id := r.names.get(key); id >= 0 {
		return id, nil
	}
	if r.names.full(len(key)) {
		r.names = names{}
		r.forgot++
		r.event = Event{Kind: Forget}
		if err := r.emit(&r.event); err != nil {
			return 0, err
		}
	}
	return r.names.add(key, of), nil
}
