package json

import (
	"bytes"
	"slices"
	"strconv"
)

// Stream collects a value that arrives in pieces. A value that is too long for its memory it takes apart: it hands
// out the values in it, each whole if that is short enough, else taken apart too, and the text around them. All that it hands
// out, one after the other, is what it was given.
//
// Its memory is at most 2*Most bytes, at any length and depth of the value.
type Stream struct {
	Most int // bytes of a value that is not taken apart
	// Text takes text around values. It must not keep it.
	Text func(b []byte) error
	// Value takes a value out of a longer one: an object, a list, or a string with line ends. The bytes belong to it.
	Value func(b []byte) error
	// Long takes the place, as jq writes it, of a part of the value that is passed on as text because it is too long.
	Long func(path string)

	outline outline
	room    []byte
	low     int   // room[low:] is held
	base    int64 // where it begins in the value
	steps   []step
}

// step is a container that is taken apart.
type step struct {
	name  string // of its last member, as jq writes it; "": it is a list
	index int    // elements that were handed out
}

// mostText is how much text around values is held.
const mostText = 64 << 10

// Held returns the fed bytes that were not handed out. They are valid until the next Feed.
func (s *Stream) Held() []byte { return s.room[s.low:] }

// Apart reports whether parts of the value were handed out.
func (s *Stream) Apart() bool { return s.base > 0 }

// Feed takes n bytes of b. same is as long as b, and is read in its place: b itself, or b with spaces for marks of quoting.
// If the value goes on, n is the length of b. If a value in several lines met a byte that is no part of it, n is 0 or
// the byte's place. Held has the value when it ends, unless the value was taken apart: then all of it is handed out.
func (s *Stream) Feed(b, same []byte) (n int, e Extent, err error) {
	if s.outline.level == 0 && len(s.Held())+len(b) <= s.Most {
		n, e = s.outline.next(same)
		if e == NoPart {
			return 0, e, nil
		}
		s.hold(b[:n])
		return n, e, nil
	}
	for n < len(b) && err == nil {
		if err = s.makeRoom(); err != nil {
			return n, GoesOn, err
		}
		m, e := s.outline.next(same[n:min(len(b), n+s.Most-len(s.Held()))])
		s.hold(b[n : n+m])
		n += m
		switch e {
		case element:
			err = s.value(&s.outline)
		case closed:
			s.outline.level = s.outline.depth
			s.steps = s.steps[:s.outline.level]
			err = s.pass(len(s.Held()))
		case Whole, Cut, NoPart:
			if s.Apart() {
				err = s.pass(len(s.Held()))
			}
			return n, e, err
		default:
			if s.between() && len(s.Held()) > mostText {
				err = s.pass(len(s.Held()))
			}
		}
	}
	return n, GoesOn, err
}

// Close hands out the held rest of a value that was taken apart.
func (s *Stream) Close() error {
	if !s.Apart() {
		return nil
	}
	return s.pass(len(s.Held()))
}

// Append appends to the bytes that are held what stands behind the value.
func (s *Stream) Append(b []byte) { s.hold(b) }

// hold appends to the bytes that are held.
func (s *Stream) hold(b []byte) {
	if s.low > 0 && len(s.room)+len(b) > cap(s.room) {
		s.room = s.room[:copy(s.room, s.room[s.low:])]
		s.low = 0
	}
	s.room = append(s.room, b...)
}

// drop forgets the first n bytes that are held.
func (s *Stream) drop(n int) {
	s.low += n
	s.base += int64(n)
	if s.low == len(s.room) {
		s.room, s.low = s.room[:0], 0
	}
}

// pass hands out the first n bytes that are held, as text.
func (s *Stream) pass(n int) error {
	if n == 0 {
		return nil
	}
	err := s.Text(s.Held()[:n])
	s.drop(n)
	return err
}

// between reports whether no element is open.
func (s *Stream) between() bool {
	o := &s.outline
	return o.level > 0 && o.depth == o.level && !o.quoted && len(o.word) == 0
}

// value hands out the element that has just ended in o, and the text before it.
func (s *Stream) value(o *outline) error {
	from, to := int(o.start-s.base), int(o.at-s.base)
	if from < 0 { // its beginning was too long
		return s.pass(to)
	}
	s.name(s.Held()[:from])
	if err := s.pass(from); err != nil {
		return err
	}
	v := bytes.Clone(s.Held()[:to-from])
	s.drop(to - from)
	return s.Value(v)
}

// name notes which element follows the text before it.
func (s *Stream) name(before []byte) {
	at := &s.steps[len(s.steps)-1]
	at.index++
	at.name = ""
	before, named := bytes.CutSuffix(bytes.TrimRight(before, " \t\r\n"), []byte{':'})
	if !named {
		return
	}
	before = bytes.TrimRight(before, " \t\r\n")
	if end := len(before) - 1; end > 0 && before[end] == '"' {
		name := before[bytes.LastIndexByte(before[:end], '"')+1 : end]
		at.name = "." + string(name)
		if len(name) == 0 || bytes.ContainsFunc(name, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
		}) {
			at.name = "." + strconv.Quote(string(name))
		}
	}
}

// path returns the place of the element at hand.
func (s *Stream) path() string {
	var path []byte
	for _, at := range s.steps {
		if at.name != "" {
			path = append(path, at.name...)
		} else {
			path = append(strconv.AppendInt(append(path, '['), int64(at.index-1), 10), ']')
		}
	}
	if len(path) == 0 || path[0] != '.' {
		path = slices.Insert(path, 0, '.')
	}
	return string(path)
}

// makeRoom hands out so much that at least half of the room is free.
func (s *Stream) makeRoom() error {
	if len(s.Held()) < s.Most {
		return nil
	}
	for len(s.Held()) > s.Most/2 {
		o := &s.outline
		open := s.base - 1 // where the element at hand begins
		switch {
		case o.depth > o.level && o.level < len(o.opens):
			open = o.opens[o.level]
		case o.quoted:
			open = o.from
		}
		if o.depth > o.level && o.level+1 < len(o.opens) && open >= s.base {
			if err := s.apart(open); err != nil {
				return err
			}
			continue
		}
		if open >= s.base && o.level > 0 {
			s.name(s.Held()[:open-s.base])
			s.Long(s.path())
		}
		if err := s.pass(len(s.Held())); err != nil {
			return err
		}
	}
	return nil
}

// apart takes the container apart that begins at open, and hands out the elements in it that are whole.
func (s *Stream) apart(open int64) error {
	o := &s.outline
	if o.level > 0 {
		s.name(s.Held()[:open-s.base])
	}
	end := s.base + int64(len(s.Held())) // of the elements that are whole
	if o.depth > o.level+1 {
		end = o.opens[o.level+1]
	} else if o.quoted {
		end = o.from
	}
	o.level++
	s.steps = append(s.steps, step{})
	if err := s.pass(int(open + 1 - s.base)); err != nil {
		return err
	}
	in := outline{inner: true, level: 1, depth: 1, at: s.base}
	rest := s.Held()[:end-s.base]
	for len(rest) > 0 {
		n, e := in.next(rest)
		rest = rest[n:]
		if e == element {
			if err := s.value(&in); err != nil {
				return err
			}
		}
	}
	return nil
}
