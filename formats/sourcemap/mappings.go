package sourcemap

import (
	"math"
	"slices"
	"strconv"
)

// mapping is one segment of mappings in the line that is being read.
type mapping struct {
	column   uint32 // in the script
	source   int32  // -1: the segment maps to nothing
	line     uint32 // from 0
	original uint32 // column there
	name     int32  // -1: none
	linear   bool
}

// What a byte of mappings is, besides the digits 0 to 63.
const (
	comma     = 64
	semicolon = 65
	quote     = 66
	bad       = 67
)

var digits = func() (d [256]uint8) {
	for i := range d {
		d[i] = bad
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		d[c] = uint8(i)
	}
	d[','], d[';'], d['"'] = comma, semicolon, quote
	return d
}()

// maxSegment bounds the bytes of a segment: five numbers of seven digits, and
// needless zeros for those who write them.
const maxSegment = 1 << 12

// mappingReader decodes mappings line by line.
type mappingReader struct {
	t       *text
	sources int64
	names   int64
	ranges  *rangeReader // nil: no rangeMappings
	ordered bool         // no segment of a line begins before another one: lines may come in pieces

	piece    int // segments that are handed out although the line goes on
	line     uint32
	segments []mapping // of the line
	column   int64
	source   int64
	original int64
	oline    int64
	name     int64
}

// lineFunc takes segments of a line, ascending, which are valid during the call.
// It says how many of them it is done with: all, or if there are more to come in the line
// fewer; it gets the rest again, with those.
type lineFunc func(line uint32, segments []mapping, more bool) (done int, err error)

// pieceSegments is how many segments of a line are read before they are handed out.
const pieceSegments = 4096

// read hands out the segments of each line that has any.
func (r *mappingReader) read(at span, each lineFunc) error {
	t := r.t
	if at.escaped {
		s, err := t.stringAt(at)
		if err != nil {
			return err
		}
		t = &text{in: t.in, buf: append([]byte(s), '"'), off: at.from + 1, end: at.from + 2 + int64(len(s)), section: "mappings"}
		r.t = t
	} else {
		t.seek(at.from + 1)
	}
	t.section = "mappings"
	whole := !r.ordered || r.ranges != nil || at.escaped
	if r.piece = pieceSegments; whole {
		r.piece = math.MaxInt
	}
	for {
		if len(t.buf)-t.at <= maxSegment {
			t.more(t.at)
		}
		if t.err != nil {
			return t.err
		}
		done, err := r.run(each)
		if err != nil || done {
			return err
		}
	}
}

// run decodes what the window holds, up to its last bytes unless it ends the
// input; done: the string has ended.
func (r *mappingReader) run(each lineFunc) (done bool, err error) {
	t := r.t
	b := t.buf
	i := t.at
	limit := len(b) - maxSegment
	if t.off+int64(len(b)) >= t.end || t.in.Mapped != nil {
		limit = len(b)
	}
	for i < limit {
		switch c := digits[b[i]]; c {
		case comma:
			return false, r.fault(i, "a segment, not ','")
		case quote:
			if err := r.endLine(each); err != nil {
				return false, err
			}
			if r.ranges != nil {
				return true, r.ranges.end(r.line)
			}
			return true, nil
		case semicolon:
			if err := r.endLine(each); err != nil {
				return false, err
			}
			r.line++
			r.column = 0
			i++
			continue
		case bad:
			return false, r.fault(i, "a digit of base 64")
		}
		// The numbers of a segment: most are of one digit.
		start := i
		m := mapping{source: -1, name: -1}
		var v int64
		if v, i = r.number(b, i); i < 0 {
			return false, r.badNumber(start)
		}
		r.column += v
		if uint64(r.column) > most {
			return false, r.fault(start, "a column from 0 to "+strconv.Itoa(most))
		}
		m.column = uint32(r.column)
		if i < len(b) && digits[b[i]] < comma {
			var source, line, original int64
			if source, i = r.number(b, i); i < 0 {
				return false, r.badNumber(start)
			}
			if line, i = r.number(b, i); i < 0 {
				return false, r.badNumber(start)
			}
			if original, i = r.number(b, i); i < 0 {
				return false, r.badNumber(start)
			}
			r.source += source
			r.oline += line
			r.original += original
			if uint64(r.source) >= uint64(r.sources) {
				return false, r.fault(start, "a source below "+strconv.FormatInt(r.sources, 10)+", not "+strconv.FormatInt(r.source, 10))
			}
			if uint64(r.oline) >= most || uint64(r.original) > most {
				return false, r.fault(start, "a line and a column from 0 to "+strconv.Itoa(most))
			}
			m.source, m.line, m.original = int32(r.source), uint32(r.oline), uint32(r.original)
			if i < len(b) && digits[b[i]] < comma {
				if v, i = r.number(b, i); i < 0 {
					return false, r.badNumber(start)
				}
				r.name += v
				if uint64(r.name) >= uint64(r.names) {
					return false, r.fault(start, "a name below "+strconv.FormatInt(r.names, 10)+", not "+strconv.FormatInt(r.name, 10))
				}
				m.name = int32(r.name)
			}
		}
		switch {
		case i >= len(b):
			return false, r.fault(i, "the end of mappings")
		case digits[b[i]] < comma:
			return false, r.fault(start, "1, 4 or 5 numbers in a segment")
		case i-start > maxSegment:
			return false, r.fault(start, "a segment of at most "+strconv.Itoa(maxSegment)+" bytes")
		}
		if r.segments = append(r.segments, m); len(r.segments) >= r.piece {
			if err := r.endPiece(each); err != nil {
				return false, err
			}
		}
		if digits[b[i]] == comma {
			if i++; i < len(b) && digits[b[i]] >= comma {
				return false, r.fault(i, "a segment behind ','")
			}
		}
	}
	t.at = i
	if i == len(b) && limit == len(b) {
		return false, r.fault(i, "the end of mappings")
	}
	return false, nil
}

// number reads one number; the index behind it is negative if there is none.
func (r *mappingReader) number(b []byte, i int) (int64, int) {
	if i < len(b) {
		if v := small[b[i]]; v != long {
			return int64(v), i + 1
		}
	}
	return longNumber(b, i)
}

// small are the numbers of one digit; long: a byte that is none.
const long = 127

var small = func() (s [256]int8) {
	for i := range s {
		if s[i] = long; digits[i] < 32 {
			if s[i] = int8(digits[i] >> 1); digits[i]&1 != 0 {
				s[i] = -s[i]
			}
		}
	}
	return s
}()

// longNumber reads a number of several digits: up to 32 bits.
func longNumber(b []byte, i int) (int64, int) {
	value := int64(0)
	for shift := 0; ; shift += 5 {
		if i >= len(b) {
			return 0, -1
		}
		c := digits[b[i]]
		switch {
		case c >= comma:
			return 0, -1
		case shift < 40:
			value |= int64(c&31) << shift
		case c&31 != 0:
			return 0, -1
		}
		i++
		if c&32 == 0 {
			break
		}
	}
	if value > 1<<32+1 {
		return 0, -1
	}
	if value&1 != 0 {
		return -(value >> 1), i
	}
	return value >> 1, i
}

func (r *mappingReader) badNumber(at int) error {
	return r.fault(at, "1, 4 or 5 numbers of 32 bits in a segment")
}

func (r *mappingReader) fault(at int, want string) error {
	return r.t.failAt(r.t.off+int64(at), want)
}

// endLine hands out the line. Its segments are put in order if they are not:
// equal columns stay as they came.
func (r *mappingReader) endLine(each lineFunc) error {
	if r.ranges != nil {
		if err := r.ranges.line(r.line, r.segments); err != nil {
			return err
		}
	}
	if len(r.segments) == 0 {
		return nil
	}
	for i := 1; i < len(r.segments); i++ {
		if r.segments[i].column < r.segments[i-1].column {
			slices.SortStableFunc(r.segments, func(a, b mapping) int { return int(int64(a.column) - int64(b.column)) })
			break
		}
	}
	_, err := each(r.line, r.segments, false)
	r.segments = r.segments[:0]
	return err
}

// endPiece hands out what there is of a line.
func (r *mappingReader) endPiece(each lineFunc) error {
	done, err := each(r.line, r.segments, true)
	r.segments = r.segments[:copy(r.segments, r.segments[done:])]
	return err
}
