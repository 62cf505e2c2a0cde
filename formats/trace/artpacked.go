package trace

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/trace/internal/method"
)

// Versions 4 and 5 of Android's method traces have no key section in front. Packets follow the header: names of
// threads and methods, blocks of one thread's entries, and the summary. What an entry holds is packed as LEB128.

const (
	packedThread  = 0 // packets
	packedMethod  = 1
	packedEntries = 2
	packedSummary = 3

	// ceiling is above any time of a trace, in nanoseconds: 146 years.
	ceiling = 1 << 62
)

// packedVersion reports whether a header without a key section is of version 4 or 5, streamed or not.
func packedVersion(head []byte) bool {
	return len(head) >= 6 && slices.Contains([]uint16{4, 5, 0xf4, 0xf5}, u16(head[4:]))
}

// packed is a trace of version 4 or 5 being read.
type packed struct {
	*art
	frequency uint64 // of the counter that gives times, in Hz; 0: times are nanoseconds
	methods   method.IDs[uint64]
	settled   bool // an entry named a method that the trace has: the entries are of the known form
}

func (a *art) packed() error {
	b, err := a.take(artHeader, "the header of the packets")
	if err != nil {
		return err
	}
	p := &packed{art: a, frequency: u64(b[22:])}
	a.version = int(u16(b[4:]) &^ artStreamed)
	a.dual = a.version == 5
	for {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		from := a.at
		b, err := a.take(1, "*end of the summary")
		if err != nil {
			return err
		}
		switch code := b[0]; code {
		case packedThread:
			err = p.name(4, "a thread's name", p.told)
		case packedMethod:
			err = p.name(8, "a method", p.describe)
		case packedEntries:
			err = p.entries()
		case packedSummary:
			return p.summary()
		default:
			err = a.corrupt(from, fmt.Sprintf("a thread, method, entries or summary, not %d", code))
		}
		if err != nil {
			return err
		}
	}
}

// name reads a packet that names something: its ID, a length and so many bytes. The first name of an ID holds.
func (p *packed) name(idBytes int, what string, enter func(id uint64, text string) error) error {
	b, err := p.take(idBytes+2, "the ID and length of "+what)
	if err != nil {
		return err
	}
	var id [8]byte
	copy(id[:], b[:idBytes])
	n := int(u16(b[idBytes:]))
	if b, err = p.take(n, what); err != nil {
		return err
	}
	return enter(u64(id[:]), strings.TrimSuffix(string(b), "\n"))
}

func (p *packed) told(id uint64, name string) error {
	if _, known := p.threads[uint32(id)]; known {
		return nil
	}
	return p.art.told(uint32(id), name)
}

// describe enters a method: its class, name, signature, source and line.
func (p *packed) describe(id uint64, text string) error {
	fields := strings.Split(text, "\t")
	if fields[0] == "" {
		p.bad("", p.at, "class, method, signature, source of a method")
		return nil
	}
	if p.methods.Get(id) >= 0 {
		return nil
	}
	made, err := p.named(methodOf(fields))
	if err != nil {
		return err
	}
	return p.means(id, made)
}

// means enters the name of a method.
func (p *packed) means(id uint64, name int32) error {
	if p.methods.Count >= MaxNames {
		return p.wrong(p.at, formats.ErrLimit, "fewer methods")
	}
	p.methods.Set(id, name)
	return nil
}

// entries reads a block: the entries of one thread, each told by its difference from the one before in the block.
func (p *packed) entries() error {
	from := p.at - 1
	b, err := p.take(11, "the header of entries")
	if err != nil {
		return err
	}
	tid, count, size := u32(b), int(u32(b[4:])&(1<<24-1)), int64(u32(b[7:]))
	name, known := p.threads[tid]
	if !known {
		return p.corrupt(from, fmt.Sprintf("the name of thread %d before its entries", tid))
	}
	t, err := p.thread(int64(tid), Track{PID: p.pid, TID: int64(tid), Name: name, Process: p.o.Name})
	if err != nil {
		return err
	}
	var last method.Entry
	for end := p.at + size; p.at < end; {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		b, err := p.in.Peek(int(min(end-p.at, bufferBytes)))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !p.settled && p.methodFirst(b, count) {
			return p.wrong(from, formats.ErrUnsupported, "entries that begin with their time, as Perfetto reads them, not with their method")
		}
		whole := p.at+int64(len(b)) == end
		n, left, stepErr := p.steps(t, b, &last, count, whole || err != nil)
		count = left
		p.in.Discard(n)
		p.at += int64(n)
		switch {
		case stepErr != nil:
			return stepErr
		case err != nil: // the trace ends in the block
			return p.corrupt(p.at+int64(len(b)-n), "the rest of the entries")
		case whole || count == 0 || n == 0:
			if p.at < end {
				p.bad("", p.at, "entries that fill their block")
			}
			return p.skip(end - p.at)
		}
	}
	return nil
}

// steps takes the entries that b begins with, at most count of them, and returns how many bytes they have and how
// many entries are left. Unless b is the end of its block, it leaves the last bytes that may be part of an entry.
func (p *packed) steps(t *thread, b []byte, last *method.Entry, count int, whole bool) (n, left int, err error) {
	for ; count > 0 && n < len(b) && (whole || len(b)-n >= method.EntryBytes); count-- {
		e, size := last.Next(b[n:], p.dual)
		if size == 0 {
			break
		}
		*last = e
		if err := p.step(t, e, p.at+int64(n)); err != nil {
			return n, count, err
		}
		n += size
	}
	return n, count, nil
}

// step enters or leaves a method. An exit leaves the method entered last.
func (p *packed) step(t *thread, e method.Entry, from int64) error {
	at := p.nanoseconds(e.Time >> 2)
	switch e.Time & artActionMask {
	case artEnter:
		n := p.methods.Get(e.Method)
		p.settled = p.settled || n >= 0
		if n < 0 {
			made, err := p.named(Name{Text: fmt.Sprintf("method %#x", e.Method), Plain: true})
			if err != nil {
				return err
			}
			return p.begin(t, at, made, e.Method)
		}
		return p.begin(t, at, n, e.Method)
	case artExit, artUnroll:
		return p.end(t, at)
	}
	p.bad("", from, "a method that is entered or left")
	return nil
}

// nanoseconds returns a time since the trace's start.
func (p *packed) nanoseconds(ticks uint64) int64 {
	if p.frequency == 0 {
		return int64(ticks)
	}
	high, low := bits.Mul64(ticks, 1e9)
	if high >= p.frequency {
		return ceiling
	}
	ns, _ := bits.Div64(high, low, p.frequency)
	return int64(min(ns, ceiling))
}

// probed entries tell which form a block's entries have.
const probed = 64

// methodFirst reports whether entries have the form that ART wrote under the same version before Perfetto read it:
// method and action first, then the times. Methods that the trace has named tell both forms apart.
func (p *packed) methodFirst(b []byte, count int) bool {
	var e method.Entry
	rest := b
	for range min(count, probed) {
		next, n := e.Next(rest, p.dual)
		if n == 0 {
			break
		}
		if next.Time&artActionMask == artEnter && p.methods.Get(next.Method) >= 0 {
			return false
		}
		e, rest = next, rest[n:]
	}
	last, rest := uint64(0), b
	for range min(count, probed) {
		diff, n := method.SignedLEB(rest)
		if n == 0 {
			break
		}
		if last += uint64(diff); last&artActionMask <= artUnroll && p.methods.Get(last&^artActionMask) >= 0 {
			return true
		}
		rest = rest[n:]
		for range p.version - 3 { // one time, or two
			_, n := method.SignedLEB(rest)
			rest = rest[n:]
		}
	}
	return false
}

// summary reads the text at the end. Some versions write its length in front of it.
func (p *packed) summary() error {
	for {
		line, _, err := p.line()
		if errors.Is(err, io.EOF) {
			return p.corrupt(p.at, "*end of the summary")
		} else if err != nil {
			return err
		}
		if err := p.alive(); err != nil {
			return err
		}
		text := string(line)
		if strings.Contains(text, "*end") {
			return nil
		}
		p.option(text)
	}
}
