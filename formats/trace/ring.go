package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
)

// The ring container, as the package's doc specifies it. Durable numbers.
const (
	ringMagic   = "symring\x00"
	ringVersion = 1

	ringThread = 1
	ringNames  = 2
	ringCalls  = 3
	ringStates = 4
	ringLocks  = 5
)

func isRing(head []byte) bool { return bytes.HasPrefix(head, []byte(ringMagic)) }

// ring is a container being read.
type ring struct {
	*reader
	pid    int64
	names  map[uint64]int32
	titles map[uint64]string // names of threads
	states map[uint64]*states
	locks  map[uint64]*locks
}

// locks is the track of what a thread waited for.
type locks struct {
	track *Track
	last  int64
}

func (r *reader) ring() error {
	b, err := r.take(16, "a header of 16 bytes")
	if err != nil {
		return err
	}
	if version := u16(b[8:]); version != ringVersion {
		return r.wrong(8, formats.ErrUnsupported, fmt.Sprintf("version %d, not %d", ringVersion, version))
	}
	c := &ring{reader: r, pid: int64(u32(b[12:])), names: map[uint64]int32{}, titles: map[uint64]string{}, states: map[uint64]*states{}, locks: map[uint64]*locks{}}
	for {
		b, err := r.take(8, "")
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := c.chunk(u32(b), int64(u32(b[4:]))); err != nil {
			return err
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
}

func (c *ring) chunk(kind uint32, length int64) error {
	switch kind {
	case ringThread:
		return c.title(length)
	case ringNames:
		return c.table(length)
	case ringCalls:
		return c.ofThread(length, 16, c.call)
	case ringStates:
		return c.ofThread(length, 16, c.state)
	case ringLocks:
		return c.ofThread(length, 32, c.lock)
	}
	c.report.Passed++
	return c.skip(length)
}

// title reads a thread's name.
func (c *ring) title(length int64) error {
	if length < 8 || length > 8+math.MaxUint16 {
		return c.corrupt(c.at-4, "a thread's ID and its name")
	}
	b, err := c.take(int(length), "a thread's ID and its name")
	if err != nil {
		return err
	}
	if len(c.titles) >= MaxThreads {
		return c.wrong(c.at, formats.ErrLimit, "fewer threads")
	}
	c.titles[u64(b)] = strings.ToValidUTF8(string(b[8:]), "\ufffd")
	return nil
}

// table reads names.
func (c *ring) table(length int64) error {
	for length > 0 {
		b, err := c.take(10, "a pointer and the length of its name")
		if err != nil {
			return err
		}
		pointer, n := u64(b), int64(u16(b[8:]))
		if length -= 10 + n; length < 0 {
			return c.corrupt(c.at-2, "a name inside its chunk")
		}
		if b, err = c.take(int(n), "a name"); err != nil {
			return err
		}
		if err := c.name(pointer, strings.ToValidUTF8(string(b), "\ufffd")); err != nil {
			return err
		}
		if err := c.alive(); err != nil {
			return err
		}
	}
	return nil
}

func (c *ring) name(pointer uint64, text string) error {
	n, err := c.named([]byte(text), text == "")
	if err == nil {
		c.names[pointer] = n
	}
	return err
}

// named interns a name that may be needed to the trace's end.
func (c *ring) named(text []byte, plain bool) (int32, error) {
	if known := c.reader.names.get(text); known >= 0 && c.reader.names.of(known).Args == nil {
		return known, nil
	}
	if c.reader.names.full(len(text)) || len(c.names) >= MaxNames {
		return 0, c.wrong(c.at, formats.ErrLimit, "fewer names")
	}
	return c.reader.names.add(text, func(text string) Name { return Name{Text: text, Plain: plain} }), nil
}

// ofThread reads records of one thread.
func (c *ring) ofThread(length int64, size int, each func(t *thread, b []byte, at int64) error) error {
	b, err := c.take(8, "a thread's ID")
	if err != nil {
		return err
	}
	tid := u64(b)
	if length -= 8; length < 0 || length%int64(size) != 0 {
		return c.corrupt(c.at-12, fmt.Sprintf("a thread's ID and whole records of %d bytes", size))
	}
	t, err := c.thread(int64(tid), Track{PID: c.pid, TID: int64(tid), Name: c.titles[tid], Process: c.o.Name})
	if err != nil {
		return err
	}
	for ; length > 0; length -= int64(size) {
		from := c.at
		if b, err = c.take(size, "the rest of its records"); err != nil {
			return err
		}
		if int64(u64(b)) < 0 {
			c.bad("", from, "a time below 2^63")
			continue
		}
		if err := each(t, b, from); err != nil {
			return err
		}
		if err := c.alive(); err != nil {
			return err
		}
	}
	return nil
}

// call enters or leaves a method.
func (c *ring) call(t *thread, b []byte, _ int64) error {
	at, pointer := int64(u64(b)), u64(b[8:])
	if pointer == 0 {
		return c.end(t, at)
	}
	n, known := c.names[pointer]
	if !known {
		var err error
		if n, err = c.named(fmt.Appendf(nil, "%#x", pointer), true); err != nil {
			return err
		}
		c.names[pointer] = n
	}
	return c.begin(t, at, n, 0)
}

func (c *ring) state(t *thread, b []byte, _ int64) error {
	tid := uint64(t.track.TID)
	s := c.states[tid]
	if s == nil {
		s = &states{r: c.reader, thread: t, names: statesNow[:]}
		c.states[tid] = s
	}
	return s.enter(int64(u64(b)), u64(b[8:]))
}

// lock is a stretch of waiting for a lock that another thread has.
func (c *ring) lock(t *thread, b []byte, from int64) (err error) {
	begin, end, lock, owner := int64(u64(b)), int64(u64(b[8:])), u64(b[16:]), u64(b[24:])
	if end < begin {
		c.bad("", from+8, "an end of waiting that is not before its begin")
		return nil
	}
	tid := uint64(t.track.TID)
	l := c.locks[tid]
	if l == nil {
		l = &locks{}
		l.track, err = c.newTrack(Track{Kind: Blocked, Parent: t.track, Name: "blocked", PID: t.track.PID})
		if err != nil {
			return err
		}
		c.locks[tid] = l
	}
	if begin < l.last { // a thread waits for one lock at a time
		c.report.Backward++
		begin, end = l.last, max(l.last, end)
	}
	l.last = end
	n, err := c.waits(lock, owner)
	if err != nil {
		return err
	}
	c.last = max(c.last, end)
	c.event = Event{Kind: Begin, Track: l.track, Time: begin, Name: c.reader.names.of(n), ID: n}
	if err := c.emit(&c.event); err != nil {
		return err
	}
	c.event = Event{Kind: End, Track: l.track, Time: end}
	return c.emit(&c.event)
}

// waits is what waiting for a thread's lock is called.
func (c *ring) waits(lock, owner uint64) (int32, error) {
	key := fmt.Appendf(nil, "\x00%x %x", lock, owner)
	if n := c.reader.names.get(key); n >= 0 {
		return n, nil
	}
	who := c.titles[owner]
	if who == "" {
		who = "thread " + strconv.FormatUint(owner, 10)
	}
	what := fmt.Sprintf("%#x", lock)
	if n, known := c.names[lock]; known {
		what += " " + c.reader.names.of(n).Text
	}
	if c.reader.names.full(len(key)) {
		return 0, c.wrong(c.at, formats.ErrLimit, "fewer locks")
	}
	args := []Arg{{"lock", what}, {"owner", who}, {"owner_tid", strconv.FormatUint(owner, 10)}}
	return c.reader.names.add(key, func(string) Name { return Name{Text: "blocked by " + who, Plain: true, Args: args} }), nil
}

// SymbolsSuffix ends the name of the file that a bare ring's names are in.
const SymbolsSuffix = ".symbols.json"

// maxSymbolsBytes bounds that file.
const maxSymbolsBytes = 64 << 20

// bareRing reads records without a container, if names for them are beside it.
func (r *reader) bareRing() error {
	if r.o.Beside == nil {
		return nil
	}
	f, err := r.o.Beside(SymbolsSuffix, true)
	if f == nil || err != nil {
		return err
	}
	defer f.Close()
	r.report.Format = "ring"
	c := &ring{reader: r, names: map[uint64]int32{}}
	text, err := io.ReadAll(io.LimitReader(f, maxSymbolsBytes+1))
	if err != nil {
		return err
	}
	section := func(at int64, err error, want string) error {
		return &formats.Error{Format: "ring", Section: SymbolsSuffix, Offset: at, Want: want, Err: err}
	}
	if len(text) > maxSymbolsBytes {
		return section(maxSymbolsBytes, formats.ErrLimit, "at most 64 MiB of names")
	}
	var table map[string]string
	if err := json.Unmarshal(text, &table); err != nil {
		var syntax *json.SyntaxError
		at := int64(0)
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		return section(at, formats.ErrCorrupt, "an object of pointers and names")
	}
	for _, pointer := range slices.Sorted(maps.Keys(table)) {
		name := table[pointer]
		p, err := strconv.ParseUint(strings.TrimPrefix(pointer, "0x"), 16, 64)
		if err != nil {
			r.bad(SymbolsSuffix, int64(bytes.Index(text, []byte(pointer))), "a pointer as 0x…")
			continue
		}
		if err := c.name(p, name); err != nil {
			return err
		}
	}
	t, err := r.thread(0, Track{TID: r.o.PID, Name: "main"})
	if err != nil {
		return err
	}
	for {
		from := r.at
		b, err := r.take(16, "")
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if int64(u64(b)) < 0 {
			r.bad("", from, "a time below 2^63")
			continue
		}
		if err := c.call(t, b, from); err != nil {
			return err
		}
		if err := r.alive(); err != nil {
			return err
		}
	}
}
