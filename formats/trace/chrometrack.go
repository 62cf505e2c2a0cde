package trace

import (
	"bytes"
	"math"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
)

// chrome is a trace being read. Events may come in any order: they become
// stretches of time, which are sorted.
type chrome struct {
	*reader
	sort    sorter
	tracks  map[chromeKey]*chromeTrack
	list    []*chromeTrack
	titles  map[chromeID]string // of processes
	threads map[chromeID]string
	ids     map[string]int64 // for ids of threads and processes that are no numbers
	seq     int64
	last    int64

	// Of the event before:
	pid, tid []byte
	thread   chromeID
	own      *chromeTrack // nil: not made, or none yet
}

type chromeID struct{ pid, tid int64 }

type chromeKey struct {
	chromeID
	counts  bool // it is a counter, no thread
	counter string
}

type chromeTrack struct {
	chromeKey
	index int32
	open  []chromeOpen // B without E, so far
	deep  int
}

type chromeOpen struct {
	name  int32
	start int64
	seq   int64
}

// instant and unclosed stand for the end of what has none.
const (
	instant  = -1
	unclosed = math.MaxInt64
)

// leave ends the last open call on a thread.
func (c *chrome) leave(t *chromeTrack, at int64) error {
	if t.deep > 0 {
		t.deep--
		return nil
	}
	top := len(t.open) - 1
	if top < 0 {
		c.report.Orphans++
		return nil
	}
	o := t.open[top]
	t.open = t.open[:top]
	if at < o.start {
		c.report.Backward++
		at = o.start
	}
	return c.sort.add(record{track: t.index, name: o.name, start: o.start, end: at, seq: o.seq})
}

// count takes the values of a counter in.
func (c *chrome) count(e *chromeEvent, id chromeID, at int64) error {
	var err error
	e.values(func(series string, value float64) {
		if err != nil {
			return
		}
		name := string(e.name)
		if series != "value" && series != name {
			name += "." + series
		}
		var t *chromeTrack
		if t, err = c.track(chromeKey{chromeID{pid: id.pid}, true, name}); err == nil {
			err = c.sort.add(record{track: t.index, start: at, end: int64(math.Float64bits(value)), seq: c.seq, name: noName})
		}
	})
	return err
}

func (c *chrome) track(k chromeKey) (*chromeTrack, error) {
	t := c.tracks[k]
	if t == nil {
		if len(c.list) >= MaxThreads {
			return nil, c.wrong(c.at, formats.ErrLimit, "fewer threads and counters")
		}
		t = &chromeTrack{chromeKey: k, index: int32(len(c.list))}
		c.tracks[k] = t
		c.list = append(c.list, t)
	}
	return t, nil
}

// name is the ID of an event's name.
func (c *chrome) name(e *chromeEvent) (int32, error) {
	key := e.name
	if id := c.names.get(key); id >= 0 {
		return id, nil
	}
	if c.names.full(len(key)) {
		return 0, c.wrong(c.at, formats.ErrLimit, "fewer names")
	}
	return c.names.add(key, func(key string) Name { return Name{Text: key, Plain: key == ""} }), nil
}

func (c *chrome) title(of map[chromeID]string, id chromeID, text string) {
	if len(of) < MaxThreads && text != "" {
		of[id] = text
	}
}

// whose is the thread of an event; it is mostly the one of the event before.
func (c *chrome) whose(e *chromeEvent) chromeID {
	if !bytes.Equal(e.pid, c.pid) || !bytes.Equal(e.tid, c.tid) || c.own == nil {
		c.pid, c.tid = append(c.pid[:0], e.pid...), append(c.tid[:0], e.tid...)
		c.thread, c.own = chromeID{c.id(e.pid), c.id(e.tid)}, nil
	}
	return c.thread
}

// id is a number for the id of a thread or process; ids that are no
// numbers get one above all that a system gives.
func (c *chrome) id(v []byte) int64 {
	if len(v) == 0 {
		return 0
	}
	if n, ok := integer(v); ok {
		return n
	}
	key := json.String(v)
	if n, ok := integer([]byte(key)); ok {
		return n
	}
	n, known := c.ids[key]
	if !known {
		n = 1<<22 + 1 + int64(len(c.ids))
		if len(c.ids) < MaxThreads {
			c.ids[key] = n
		}
	}
	return n
}
