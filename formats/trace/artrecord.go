package trace

import (
	"fmt"
	"io"
	"math"

	"github.com/symlake/symlake/formats/trace/internal/method"
)

// records reads to the end.
func (a *art) records(streamed bool) error {
	for {
		from := a.at
		if err := a.ctx.Err(); err != nil {
			return err
		}
		b, err := a.in.Peek(a.record)
		if len(b) == 0 {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if streamed && len(b) >= 3 && b[0] == 0 && b[1] == 0 {
			end, err := a.special(from)
			if end || err != nil {
				return err
			}
			continue
		}
		if len(b) < a.record {
			_, err := a.take(a.record, "")
			return err
		}
		b, _ = a.in.Peek(a.in.Buffered())
		if err := a.actions(b, streamed); err != nil {
			return err
		}
		a.in.Discard(int(a.at - from))
	}
}

// artSteps are taken together: what they miss in memory is waited for once.
const artSteps = 64

// actions takes the whole records that b begins with.
func (a *art) actions(b []byte, streamed bool) error {
	ids := 2
	if a.version == 1 {
		ids = 1
	}
	var slots [artSteps]method.Slot[uint32]
	for {
		n := 0
		for rest := b; n < artSteps && len(rest) >= a.record && !(streamed && rest[0] == 0 && rest[1] == 0); n++ {
			slots[n] = a.names.Slot(u32(rest[ids:]) &^ artActionMask)
			rest = rest[a.record:]
		}
		if n == 0 {
			return nil
		}
		for i := range n {
			id := uint16(b[0])
			if ids == 2 {
				id = u16(b)
			}
			at, cpu := u32(b[ids+4:]), uint32(0)
			if a.dual {
				at, cpu = u32(b[ids+8:]), at
			}
			from := a.at
			a.at += int64(a.record)
			if err := a.action(id, u32(b[ids:]), &slots[i], at, cpu, from); err != nil {
				return err
			}
			b = b[a.record:]
		}
	}
}

// special reads what stands between the records of a streamed trace; end: it was the summary.
func (a *art) special(from int64) (end bool, err error) {
	b, err := a.take(3, "what follows thread 0")
	if err != nil {
		return false, err
	}
	switch code := b[2]; code {
	case artNewMethod:
		text, err := a.counted("a method")
		if err != nil {
			return false, err
		}
		return false, a.method(string(text), from)
	case artNewThread:
		if b, err = a.take(2, "a thread's ID"); err != nil {
			return false, err
		}
		id := u16(b)
		name, err := a.counted("a thread's name")
		if err != nil {
			return false, err
		}
		return false, a.told(uint32(id), string(name))
	case artSummary:
		if b, err = a.take(4, "the summary's length"); err != nil {
			return true, err
		}
		return true, a.skip(int64(u32(b)))
	default:
		return true, a.corrupt(from+2, fmt.Sprintf("a method, thread or summary, not %d", code))
	}
}

// counted reads two bytes of length, and so many bytes.
func (a *art) counted(what string) ([]byte, error) {
	b, err := a.take(2, "the length of "+what)
	if err != nil {
		return nil, err
	}
	return a.take(int(u16(b)), what)
}

// whose returns the thread with an id; it is mostly the one of the record before.
func (a *art) whose(id uint16) (*artThread, error) {
	if a.last != nil && a.last.id == id {
		return a.last, nil
	}
	t := a.known[id]
	if t == nil {
		made, err := a.thread(int64(id), Track{PID: a.pid, TID: int64(id), Name: a.threads[uint32(id)], CPU: a.dual, Process: a.o.Name})
		if err != nil {
			return nil, err
		}
		t = &artThread{thread: made, id: id}
		a.known[id] = t
	}
	a.last = t
	return t, nil
}

// action enters or leaves a method. slot may be its name's.
func (a *art) action(id uint16, method uint32, slot *method.Slot[uint32], at, cpu uint32, from int64) error {
	t, err := a.whose(id)
	if err != nil {
		return err
	}
	if at < t.low && t.low-at > math.MaxInt32 {
		t.high += 1 << 32
	} else if at > t.low && at-t.low > math.MaxInt32 && t.high > 0 {
		at = t.low // from before the last overflow
	}
	t.low = at
	when := (t.high + int64(at)) * 1000
	if a.dual {
		t.cpu = max(t.cpu, int64(cpu)*1000)
	}
	action := method & artActionMask
	method &^= artActionMask
	switch action {
	case artEnter:
		n := slot.Next - 1
		if n < 0 || slot.Method != method {
			if n = a.names.Get(method); n < 0 {
				if n, err = a.named(Name{Text: fmt.Sprintf("method %#x", method), Plain: true}); err != nil {
					return err
				}
				if err := a.means(method, n); err != nil {
					return err
				}
			}
		}
		return a.begin(t.thread, when, n, uint64(method))
	case artExit, artUnroll:
		return a.leave(t.thread, when, uint64(method))
	}
	a.bad("", from, "a method that is entered or left")
	return nil
}
