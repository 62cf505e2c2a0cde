package trace

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
)

// Traces of Chrome's trace viewer: JSON, an array of events, or an object with such an array in traceEvents.

func isChrome(head []byte) bool {
	b := bytes.TrimLeft(head, "\ufeff \t\r\n")
	if len(b) == 0 || b[0] != '[' && b[0] != '{' {
		return false
	}
	if b[0] == '{' {
		return bytes.Contains(b, []byte(`"traceEvents"`))
	}
	return bytes.Contains(b, []byte(`"ph"`)) && bytes.HasPrefix(bytes.TrimLeft(b[1:], " \t\r\n"), []byte{'{'})
}

func (r *reader) chrome() error {
	c := &chrome{reader: r, tracks: map[chromeKey]*chromeTrack{}, titles: map[chromeID]string{}, threads: map[chromeID]string{}, ids: map[string]int64{}}
	c.sort.scratch, c.sort.bytes = r.o.Scratch, r.o.SortBytes
	defer c.sort.close()
	err := c.parse()
	if err != nil && !formats.Rejects(err) {
		return err
	}
	if serr := c.emitAll(); serr != nil {
		return serr
	}
	return err
}

// space skips what may stand between values and gives the byte behind it.
func (c *chrome) space(also byte) (byte, error) {
	for {
		b, err := c.in.ReadByte()
		if err != nil {
			return 0, err
		}
		c.at++
		switch b {
		case ' ', '\t', '\r', '\n', also:
		case 0xef, 0xbb, 0xbf: // a byte order mark
		default:
			c.at--
			return b, c.in.UnreadByte()
		}
	}
}

// parse finds the array of events.
func (c *chrome) parse() error {
	b, err := c.space(' ')
	if err != nil {
		return c.cut(err)
	}
	c.in.Discard(1)
	c.at++
	if b == '[' {
		return c.events()
	}
	for {
		b, err := c.space(',')
		if err != nil {
			return c.cut(err)
		}
		if b == '}' {
			return nil
		}
		if b != '"' {
			return c.corrupt(c.at, "a key")
		}
		var key string
		if err := c.value(func(v []byte) { key = json.String(v) }); err != nil {
			return err
		}
		if b, err = c.space(':'); err != nil {
			return c.cut(err)
		}
		if key == "traceEvents" && b == '[' {
			c.in.Discard(1)
			c.at++
			if err := c.events(); err != nil {
				return err
			}
			continue
		}
		if err := c.value(nil); err != nil {
			return err
		}
	}
}

func (c *chrome) cut(err error) error {
	if errors.Is(err, io.EOF) {
		return c.corrupt(c.at, "the rest of the trace")
	}
	return err
}

// events reads the array behind its bracket. It may lack its end: tracers are killed.
func (c *chrome) events() error {
	for {
		b, err := c.space(',')
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if b == ']' {
			c.in.Discard(1)
			c.at++
			return nil
		}
		if b == '{' {
			taken, err := c.plain()
			if err != nil {
				return err
			}
			if taken {
				continue
			}
		}
		if err := c.alive(); err != nil {
			return err
		}
		from := c.at
		var e chromeEvent
		seen, known := false, false
		if err := c.value(func(v []byte) { seen, known = true, v[0] == '{' && e.read(v) }); err != nil {
			return err
		}
		if !seen { // too long, which was said
			continue
		}
		if !known {
			c.bad("", from, "an event with ph and ts")
			continue
		}
		if err := c.one(&e, from); err != nil {
			return err
		}
	}
}

// plain takes the plain events that are at hand, one behind the other; false: the first is none.
func (c *chrome) plain() (taken bool, err error) {
	b, _ := c.in.Peek(c.in.Buffered())
	from := c.at
	var e chromeEvent
	at := 0
	for at < len(b) && err == nil {
		switch b[at] {
		case '{':
			n := e.plain(b[at:])
			if n == 0 {
				b = b[:at]
				continue
			}
			begins := from + int64(at)
			at += n
			c.at, taken = from+int64(at), true
			if err = c.alive(); err == nil {
				err = c.one(&e, begins)
			}
		case ',', ' ', '\n', '\r', '\t':
			at++
		default:
			b = b[:at]
		}
	}
	c.in.Discard(at)
	c.at = from + int64(at)
	return taken, err
}

// value takes a whole value out of the input and shows it, valid during the call. A value longer than
// MaxLineBytes is passed over.
func (c *chrome) value(show func(v []byte)) error {
	want := max(c.in.Buffered(), 1)
	var s json.Scan
	for {
		b, err := c.in.Peek(want)
		n, whole, ok := s.Value(b)
		switch {
		case !ok:
			return c.corrupt(c.at+int64(n), "JSON")
		case whole:
			if show != nil {
				show(b[:n])
			}
			c.in.Discard(n)
			c.at += int64(n)
			return nil
		case err == io.EOF:
			if s.Atom() && len(b) > 0 { // ends with the input
				if show != nil {
					show(b)
				}
				c.in.Discard(len(b))
				c.at += int64(len(b))
				return nil
			}
			return c.corrupt(c.at+int64(len(b)), "the rest of a value")
		case err != nil:
			return err
		case len(b) == bufferBytes:
			if show != nil {
				c.bad("", c.at, "an event of at most 1 MiB")
				show = nil
			}
			c.in.Discard(s.At)
			c.at += int64(s.At)
			s.At, want = 0, 2
			if err := c.alive(); err != nil {
				return err
			}
		default:
			want = min(max(2*len(b), 4<<10), bufferBytes)
		}
	}
}

// one takes an event in.
func (c *chrome) one(e *chromeEvent, from int64) error {
	id := c.whose(e)
	switch e.phase {
	case 'M':
		switch string(e.name) {
		case "process_name":
			c.title(c.titles, chromeID{pid: id.pid}, e.title())
		case "thread_name":
			c.title(c.threads, id, e.title())
		}
		return nil
	case 'B', 'E', 'X', 'i', 'I', 'R', 'C':
	default:
		c.report.Passed++
		return nil
	}
	at, ok := micros(e.ts)
	if !ok || at < 0 {
		c.bad("", from, "a time that is not negative")
		return nil
	}
	c.last = max(c.last, at)
	c.seq++
	if e.phase == 'C' {
		return c.count(e, id, at)
	}
	t := c.own
	if t == nil {
		var err error
		if t, err = c.track(chromeKey{chromeID: id}); err != nil {
			return err
		}
		c.own = t
	}
	if e.phase == 'E' {
		return c.leave(t, at)
	}
	name, err := c.name(e)
	if err != nil {
		return err
	}
	switch e.phase {
	case 'B':
		if len(t.open) >= MaxDepth {
			t.deep++
			c.report.TooDeep++
			return nil
		}
		t.open = append(t.open, chromeOpen{name, at, c.seq})
		return nil
	case 'X':
		took, ok := micros(e.dur)
		if len(e.dur) > 0 && !ok || took < 0 || took > math.MaxInt64-at {
			c.bad("", from, "a duration that is not negative")
			return nil
		}
		c.last = max(c.last, at+took)
		return c.sort.add(record{track: t.index, name: name, start: at, end: at + took, seq: c.seq})
	}
	return c.sort.add(record{track: t.index, name: name, start: at, end: instant, seq: c.seq})
}
