package trace

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
)

// isNanoscope: most of the first lines are a number, a colon, and a name or POP.
func isNanoscope(head []byte) bool {
	good, bad := 0, 0
	for good+bad < 32 && len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte{'\n'})
		if !whole && good+bad > 0 {
			break // it may be cut
		}
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if _, name, ok := stamped(line); ok && isCall(name) {
			good++
		} else if len(line) > 0 {
			bad++
		}
		head = rest
	}
	return good > 0 && bad <= good/2
}

// isCall tells what a line of a trace says from text that happens to begin with a number and a colon.
func isCall(b []byte) bool {
	if b[0] == '+' {
		return true
	}
	name, _, _ := bytes.Cut(b, []byte{'#'})
	if string(name) == pop {
		return true
	}
	before, _, typed := bytes.Cut(name, []byte{'('})
	dot := bytes.LastIndexByte(before, '.')
	return dot > 0 && dot < len(before)-1 && bytes.IndexByte(before, '\t') < 0 && name[0] != ' ' && (typed || bytes.IndexByte(before, ' ') < 0)
}

const pop = "POP"

// stamped cuts a line into its time and the text behind the colon, which is not empty.
func stamped(b []byte) (at int64, rest []byte, ok bool) {
	var n uint64
	i := 0
	for ; i < len(b) && b[i] != ':'; i++ {
		c := b[i] - '0'
		if c > 9 || n > math.MaxInt64/10 {
			return 0, nil, false
		}
		n = n*10 + uint64(c)
	}
	if i == 0 || i+1 >= len(b) || n > math.MaxInt64 {
		return 0, nil, false
	}
	return int64(n), b[i+1:], true
}

// nanoscope reads the lines of one thread, then the files beside them.
func (r *reader) nanoscope() error {
	t, err := r.thread(0, Track{TID: r.o.PID, Name: "main"})
	if err != nil {
		return err
	}
	var steps [nanoSteps]nanoStep
	for {
		from := r.at
		block, long, err := r.lines()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if long {
			r.nanoWrong(from)
		}
		for at := 0; at < len(block); {
			n := 0
			for ; n < nanoSteps && at < len(block); n++ {
				at = r.nanoStep(&steps[n], block, at)
			}
			if err := r.nanoSteps(t, block, from, steps[:n]); err != nil {
				return err
			}
		}
	}
	if err := r.closeAll(); err != nil { // the files beside it may go on for longer
		return err
	}
	if err := r.timer(t); err != nil {
		return err
	}
	return r.stateFile(t)
}

// nanoSteps are taken together: what they miss in memory is waited for once.
const nanoSteps = 64

// nanoStep is a line taken apart.
type nanoStep struct {
	kind     nanoKind
	time     int64
	from, to int // of the name in its block; from: of a bad line
	hash     uint32
	name     int32 // ID, -1: not known yet
	slot     nameSlot
	near     uint32 // of lines read only to have them at hand
}

type nanoKind uint8

const (
	nanoEmpty nanoKind = iota
	nanoBegin
	nanoEnd
	nanoWrong
)

// nanoStep takes the line at an offset of a block apart and gives the next one's.
func (r *reader) nanoStep(s *nanoStep, block []byte, at int) (next int) {
	time, digits := leading(block[at:])
	s.time, s.from = int64(time), at+digits+1
	s.to = s.from - 1 + bytes.IndexByte(block[s.from-1:], '\n')
	if next = s.to + 1; s.to < s.from-1 {
		s.to, next = len(block), len(block)
	}
	if s.to > at && block[s.to-1] == '\r' {
		s.to--
	}
	if digits == 0 || s.from >= s.to || block[s.from-1] != ':' {
		var ok bool
		var rest []byte
		if s.time, rest, ok = stamped(block[at:s.to]); !ok { // it may have more digits
			s.kind, s.from = nanoWrong, at
			if s.to == at {
				s.kind = nanoEmpty
			}
			return next
		}
		s.from = s.to - len(rest)
	}
	name := block[s.from:s.to]
	if len(name) >= len(pop) && string(name[:len(pop)]) == pop && (len(name) == len(pop) || name[len(pop)] == '#') {
		s.kind = nanoEnd
		return next
	}
	s.kind, s.hash = nanoBegin, r.names.hash(name)
	return next
}

// nanoSteps pushes what lines of a block say, which begins at an offset of the trace.
func (r *reader) nanoSteps(t *thread, block []byte, at int64, steps []nanoStep) error {
	for i := range steps {
		steps[i].near = r.names.near(steps[i].hash)
	}
	for i := range steps {
		steps[i].slot, steps[i].near = r.names.slot(steps[i].hash)
	}
	for i := range steps {
		s := &steps[i]
		if s.name = -1; s.kind == nanoBegin && r.names.is(&s.slot, s.hash, block[s.from:s.to]) {
			s.name = s.slot.next - 1
		}
	}
	known := r.forgot
	for i := range steps {
		s := &steps[i]
		switch s.kind {
		case nanoBegin:
			if s.name < 0 || known != r.forgot {
				var err error
				if s.name, err = r.intern(block[s.from:s.to], nanoscopeName); err != nil {
					return err
				}
			}
			if err := r.begin(t, s.time, s.name, 0); err != nil {
				return err
			}
		case nanoEnd:
			if err := r.end(t, s.time); err != nil {
				return err
			}
		case nanoWrong:
			r.nanoWrong(at + int64(s.from))
		}
	}
	return nil
}

func (r *reader) nanoWrong(at int64) {
	r.bad("", at, "NANOSECONDS:METHOD or NANOSECONDS:POP")
}

// leading reads the digits that b begins with, up to 18 of them.
func leading(b []byte) (n uint64, digits int) {
	for len(b)-digits >= 8 && digits <= 8 {
		v := u64(b[digits:]) ^ 0x3030303030303030
		if (v+0x7676767676767676|v)&0x8080808080808080 != 0 {
			break // one of the eight is no digit
		}
		v = v*10 + v>>8 // pairs, then two pairs of pairs at once
		v = (v&0xff000000ff*(1000000<<32|100) + v>>16&0xff000000ff*(10000<<32|1)) >> 32
		n, digits = n*1e8+v&0xffffffff, digits+8
	}
	for ; digits < len(b) && digits < 18 && b[digits]-'0' <= 9; digits++ {
		n = n*10 + uint64(b[digits]-'0')
	}
	return n, digits
}

// nanoscopeName reads what stands behind the colon.
func nanoscopeName(key string) Name {
	if key[0] == '+' {
		return Name{Text: key[1:], Plain: true}
	}
	name, meta, said := strings.Cut(key, "#")
	n := Name{Text: name}
	if said {
		n.Args = []Arg{{"meta", meta}}
	}
	return n
}
