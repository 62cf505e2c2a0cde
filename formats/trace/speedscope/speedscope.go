// Package speedscope writes traces in the JSON format of the speedscope
// viewer: an evented profile for each thread, and for its states and locks.
// Counters and moments have no place in it.
//
// A profile's events stand together in the file, in a trace the events of all
// threads are mixed: they are kept as numbers, 8 MiB of them in memory, the
// rest in the caller's scratch. Frames stand before the profiles in the file and are written
// as they come; a hash of each is remembered, which tells that it has come before. There are at most
// [MaxFrames]; what has other names is called [Rest].
package speedscope

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/symlake/symlake/formats/trace"
)

// What bounds the names of a file.
const (
	MaxFrames = 1 << 19
	Rest      = "(more names than the file holds)"
)

// memoryBytes are the events in memory.
const memoryBytes = 8 << 20

// schema is what the format is called.
const schema = "https://www.speedscope.app/file-format-schema.json"

// Writer writes one file of one or more traces.
type Writer struct {
	out     *bufio.Writer
	encode  *json.Encoder // into out
	scratch func() (trace.Scratch, error)
	label   func(*trace.Name) (trace.Label, error)

	frames map[[16]byte]int32 // their numbers in the file
	names  []int32            // by trace.Name.ID: frame+1; 0: not asked for yet

	profiles []*profile // in order of appearance
	tracks   []*profile // of the trace at hand, by Track.Index; nil: not shown
	held     int        // bytes of events in memory
	file     trace.Scratch
	size     int64 // of file
}

type frame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line uint32 `json:"line,omitempty"`
}

// profile is a track's events: each a varint of the time since the one before, doubled, odd if a call ends; then,
// if it begins, a varint of its frame.
type profile struct {
	name        string
	begun       bool
	first, last int64
	events      []byte
	blocks      []block
}

// block is a part of the scratch.
type block struct{ at, size int64 }

// New makes a writer. Without scratch (nil), what does not fit in memory is an error.
func New(w io.Writer, scratch func() (trace.Scratch, error)) *Writer {
	out := bufio.NewWriterSize(w, 256<<10)
	fmt.Fprintf(out, `{"$schema":%q,"exporter":"symlake","shared":{"frames":[`, schema)
	encode := json.NewEncoder(out)
	encode.SetEscapeHTML(false) // for readers: methods are called <init>
	return &Writer{out: out, encode: encode, scratch: scratch, frames: map[[16]byte]int32{}}
}

// Trace begins the next trace of the file. label says what a name is to be
// called; it is asked once for each name, until a Forget.
func (w *Writer) Trace(label func(*trace.Name) (trace.Label, error)) {
	w.label, w.names, w.tracks = label, nil, nil
}

// Event takes the next event of the trace.
func (w *Writer) Event(e *trace.Event) error {
	switch e.Kind {
	case trace.NewTrack:
		w.tracks = append(w.tracks, w.profile(e.Track))
	case trace.Forget:
		w.names = nil
	case trace.Begin:
		n, err := w.frame(e.Name)
		if err != nil {
			return err
		}
		return w.add(w.tracks[e.Track.Index], e.Time, 0, n)
	case trace.End:
		return w.add(w.tracks[e.Track.Index], e.Time, 1, 0)
	}
	return nil
}

// profile makes the profile of a track; nil: it is not shown.
func (w *Writer) profile(t *trace.Track) *profile {
	var p profile
	switch t.Kind {
	case trace.Thread:
		p.name = threadName(t)
	case trace.State, trace.Blocked:
		p.name = threadName(t.Parent) + ": " + t.Name
	default:
		return nil
	}
	w.profiles = append(w.profiles, &p)
	return &p
}

func threadName(t *trace.Track) string {
	name := t.Name
	if name == "" {
		name = "thread"
	}
	if name = fmt.Sprintf("%s (%d)", name, t.TID); t.Process != "" {
		name = t.Process + " " + name
	}
	return name
}

func (w *Writer) add(p *profile, at int64, end uint64, frame int) error {
	if p == nil {
		return nil
	}
	if !p.begun {
		p.begun, p.first, p.last = true, at, at
	}
	before := len(p.events)
	p.events = binary.AppendUvarint(p.events, uint64(at-p.last)<<1|end)
	if end == 0 {
		p.events = binary.AppendUvarint(p.events, uint64(frame))
	}
	p.last = at
	if w.held += len(p.events) - before; w.held < memoryBytes {
		return nil
	}
	return w.spill()
}

// spill moves the events at hand to scratch.
func (w *Writer) spill() (err error) {
	if w.file == nil {
		if w.scratch == nil {
			return errors.New("speedscope: more events than fit in memory, and no scratch")
		}
		if w.file, err = w.scratch(); err != nil {
			return err
		}
	}
	for _, p := range w.profiles {
		if len(p.events) == 0 {
			continue
		}
		if _, err := w.file.Write(p.events); err != nil {
			return err
		}
		n := int64(len(p.events))
		p.blocks = append(p.blocks, block{w.size, n})
		w.size += n
		p.events = p.events[:0]
		if cap(p.events) > memoryBytes/16 { // others may need the memory next
			p.events = nil
		}
	}
	w.held = 0
	return nil
}

// frame is the number of a name.
func (w *Writer) frame(n *trace.Name) (int, error) {
	for len(w.names) <= int(n.ID) {
		w.names = append(w.names, 0)
	}
	if at := w.names[n.ID]; at != 0 {
		return int(at - 1), nil
	}
	l, err := w.label(n)
	if err != nil {
		return 0, err
	}
	f := frame{l.Text, l.File, l.Line}
	if len(w.frames) >= MaxFrames-1 {
		if _, known := w.frames[f.hash()]; !known {
			f = frame{Name: Rest}
		}
	}
	h := f.hash()
	at, known := w.frames[h]
	if !known {
		at = int32(len(w.frames))
		w.frames[h] = at
		if at > 0 {
			w.out.WriteByte(',')
		}
		if err := w.encode.Encode(f); err != nil {
			return 0, err
		}
	}
	w.names[n.ID] = at + 1
	return int(at), nil
}

// hash tells a frame from all others.
func (f *frame) hash() [16]byte {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", f.Name, f.File, f.Line))
	return [16]byte(h[:16])
}

// Close writes the file and lets the scratch go.
func (w *Writer) Close() (err error) {
	if w.file != nil {
		defer func() { err = errors.Join(err, w.file.Close()) }()
	}
	w.out.WriteString(`]},"profiles":[`)
	written := 0
	for _, p := range w.profiles {
		if !p.begun {
			continue
		}
		if written++; written > 1 {
			w.out.WriteByte(',')
		}
		if err := w.write(w.out, p); err != nil {
			return err
		}
	}
	w.out.WriteString("]}\n")
	return w.out.Flush()
}

// write writes a profile.
func (w *Writer) write(out *bufio.Writer, p *profile) error {
	name, err := json.Marshal(p.name)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n{\"type\":\"evented\",\"name\":%s,\"unit\":\"nanoseconds\",\"startValue\":%d,\"endValue\":%d,\"events\":[", name, p.first, p.last)
	var open []uint64
	at, comma := p.first, false
	var b []byte
	err = w.events(p, func(step, frame uint64) error {
		at += int64(step >> 1)
		kind := byte('O')
		if step&1 == 1 {
			kind = 'C'
			frame = open[len(open)-1]
			open = open[:len(open)-1]
		} else {
			open = append(open, frame)
		}
		b = b[:0]
		if comma {
			b = append(b, ',')
		}
		comma = true
		b = append(append(append(b, "\n{\"type\":\""...), kind), "\",\"frame\":"...)
		b = append(strconv.AppendUint(b, frame, 10), ",\"at\":"...)
		b = append(strconv.AppendInt(b, at, 10), '}')
		_, err := out.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	_, err = out.WriteString("]}")
	return err
}

// events reads a profile's events back.
func (w *Writer) events(p *profile, each func(step, frame uint64) error) error {
	parts := make([]io.Reader, 0, len(p.blocks)+1)
	for _, b := range p.blocks {
		parts = append(parts, io.NewSectionReader(w.file, b.at, b.size))
	}
	parts = append(parts, bytes.NewReader(p.events))
	in := bufio.NewReaderSize(io.MultiReader(parts...), 64<<10)
	for {
		step, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		frame := uint64(math.MaxUint64)
		if step&1 == 0 {
			if frame, err = binary.ReadUvarint(in); err != nil {
				return err
			}
		}
		if err := each(step, frame); err != nil {
			return err
		}
	}
}
