package trace

import (
	"bytes"
	"errors"
	"io"
	"math"
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

// stamped cuts a line into its time and what is behind the colon, which is not empty.
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

// nanoscope reads the lines of one thread, then what is beside them.
func (r *reader) nanoscope() error {
	t, err := r.thread(0, Track{TID: r.o.PID, Name: "main"})
	if err != nil {
		return err
	}
	for {
		from := r.at
		line, long, err := r.line()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := r.alive(); err != nil {
			return err
		}
		if len(line) == 0 && !long {
			continue
		}
		at, rest, ok := stamped(line)
		if !ok || long {
			r.bad("", from, "NANOSECONDS:METHOD or NANOSECONDS:POP")
			continue
		}
		if len(rest) >= len(pop) && string(rest[:len(pop)]) == pop && (len(rest) == len(pop) || rest[len(pop)] == '#') {
			if err := r.end(t, at); err != nil {
				return err
			}
			continue
		}
		n := r.names.get(rest)
		if n == nil {
			if n, err = r.intern(rest, nanoscopeName); err != nil {
				return err
			}
		}
		if err := r.begin(t, at, n, 0); err != nil {
			return err
		}
	}
	if err := r.closeAll(); err != nil { // what is beside it may go on for longer
		return err
	}
	if err := r.timer(t); err != nil {
		return err
	}
	return r.stateFile(t)
}

// nanoscopeName reads what stands behind the colon.
func nanoscopeName(key string) Name {
	if key[0] == '+' {
		return Name{Text: key[1:], Plain: true}
	}
	name, meta, said := bytes.Cut([]byte(key), []byte{'#'})
	n := Name{Text: string(name)}
	if said {
		n.Args = []Arg{{"meta", string(meta)}}
	}
	return n
}
