package mapfile

import (
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/symlake/symlake/formats/internal/json"
)

// Mapping is one segment of mappings in the line that is being read.
type Mapping struct {
	Column   uint32 // in the script
	Source   int32  // -1: the segment maps to nothing
	Line     uint32 // from 0
	Original uint32 // column there
	Name     int32  // -1: none
	Linear   bool
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

// maxNumber bounds the digits of a number: seven, and needless zeros for tools that write them. Five of them are a
// segment, so a window that holds maxSegment bytes more holds the segment and what ends it.
const (
	maxNumber  = 4 << 10
	maxSegment = 5*maxNumber + 2
)

// mappingReader decodes mappings line by line.
type mappingReader struct {
	t       *json.Reader
	sources int64
	names   int64
	ranges  *rangeReader // nil: no rangeMappings
	ordered bool         // no segment of a line begins before another one: lines may come in pieces

	piece    int // segments that are handed out although the line goes on
	line     uint32
	segments []Mapping // of the line
	sums     sums
}

// NewMappingReader returns a reader of the mappings of a map with so many sources and names.
func NewMappingReader(t *json.Reader, l *Layout, sources, names int) *mappingReader {
	return &mappingReader{t: t, sources: int64(sources), names: int64(names), ordered: l.ordered}
}

// ReadRanges makes the reader mark the linear segments of the map, if the map lists any.
func (r *mappingReader) ReadRanges(l *Layout) error {
	if l.ranges == (Span{}) {
		return nil
	}
	b, err := stringAt(r.t, l.ranges)
	r.ranges = newRangeReader(b, l.ranges.From+1)
	return err
}

// sums are what the numbers of the next segment are told against.
type sums struct{ column, source, line, original, name int64 }

// lineFunc takes segments of a line, ascending, which are valid during the call. It returns the number of segments that
// it is done with. If the line goes on, it may leave the segments of the last column: it gets them again together with
// the following ones. Of more than two segments that it leaves, it gets only the first and the last again.
type lineFunc func(line uint32, segments []Mapping, more bool) (done int, err error)

// pieceSegments is how many segments of a line are read before they are handed out: as few as are at hand still.
const pieceSegments = 512

// lines are the segments of readers that have ended, no more than twice pieceSegments of one.
var lines sync.Pool // of *[]Mapping

// grow makes room for another segment.
func (r *mappingReader) grow() {
	if r.segments == nil {
		if s, is := lines.Get().(*[]Mapping); is {
			r.segments = *s
			return
		}
	}
	r.segments = slices.Grow(r.segments, 1)
}

// end gives the room of the segments to a later reader.
func (r *mappingReader) end() {
	if n := cap(r.segments); n > 0 && n <= 2*pieceSegments {
		s := r.segments[:0]
		lines.Put(&s)
	}
	r.segments = nil
}

// Read hands out the segments of each line that has any.
func (r *mappingReader) Read(at Span, each lineFunc) error {
	defer r.end()
	t := r.t
	if at.escaped {
		s, err := stringAt(t, at)
		if err != nil {
			return err
		}
		t = t.Inside(s, at.From)
		r.t = t
	} else {
		t.SeekTo(at.From + 1)
	}
	t.Section = "mappings"
	whole := !r.ordered || r.ranges != nil || at.escaped
	if r.piece = pieceSegments; whole {
		r.piece = math.MaxInt
	}
	for {
		if len(t.Rest()) <= maxSegment {
			t.ReadOn()
		}
		if err := t.Failure(); err != nil {
			return err
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
	b := r.t.Rest()
	i := 0
	limit := len(b) - maxSegment
	if r.t.IsLast() {
		limit = len(b)
	}
	at := r.sums
	for i < limit {
		start := i
		v := int64(small[b[i]])
		if i++; v == long {
			if v, i = longNumber(b, start); i < 0 {
				done, next, err := r.between(b, start, each)
				if done || err != nil {
					return done, err
				}
				if i = next; b[start] == ';' {
					at.column = 0
				}
				continue
			}
		}
		at.column += v
		if uint64(at.column) > MostNumber {
			return false, r.fault(start, "a column from 0 to "+strconv.Itoa(MostNumber))
		}
		// It is made where it stays.
		n := len(r.segments)
		if n == cap(r.segments) {
			r.grow()
		}
		r.segments = r.segments[:n+1]
		m := &r.segments[n]
		m.Column, m.Source, m.Name, m.Linear = uint32(at.column), -1, -1, false
		if digits[b[i]] < comma {
			var line, original int64
			if v = int64(small[b[i]]); v != long {
				i++
			} else if v, i = longNumber(b, i); i < 0 {
				return false, r.badNumber(start)
			}
			if line = int64(small[b[i]]); line != long {
				i++
			} else if line, i = longNumber(b, i); i < 0 {
				return false, r.badNumber(start)
			}
			if original = int64(small[b[i]]); original != long {
				i++
			} else if original, i = longNumber(b, i); i < 0 {
				return false, r.badNumber(start)
			}
			at.source += v
			at.line += line
			at.original += original
			if uint64(at.source) >= uint64(r.sources) {
				return false, r.fault(start, "a source below "+strconv.FormatInt(r.sources, 10)+", not "+strconv.FormatInt(at.source, 10))
			}
			if uint64(at.line) > MostNumber || uint64(at.original) > MostNumber {
				return false, r.fault(start, "a line and a column from 0 to "+strconv.Itoa(MostNumber))
			}
			m.Source, m.Line, m.Original = int32(at.source), uint32(at.line), uint32(at.original)
			if digits[b[i]] < comma {
				if v, i = chanceNumber(b, i); i < 0 {
					return false, r.badNumber(start)
				}
				at.name += v
				if uint64(at.name) >= uint64(r.names) {
					return false, r.fault(start, "a name below "+strconv.FormatInt(r.names, 10)+", not "+strconv.FormatInt(at.name, 10))
				}
				m.Name = int32(at.name)
			}
		}
		if digits[b[i]] < comma {
			return false, r.fault(start, "1, 4 or 5 numbers in a segment")
		}
		if n+1 >= r.piece {
			if err := r.endPiece(each); err != nil {
				return false, err
			}
		}
		if b[i] == ',' {
			if i++; i < len(b) && digits[b[i]] >= comma {
				return false, r.fault(i, "a segment behind ','")
			}
		}
	}
	r.sums = at
	if i == len(b) && limit == len(b) {
		return false, r.fault(i, "the end of mappings")
	}
	r.t.Advance(i)
	return false, nil
}

// between reads what stands where no segment begins, at i: the end of a line, or of all.
func (r *mappingReader) between(b []byte, i int, each lineFunc) (done bool, next int, err error) {
	switch digits[b[i]] {
	case quote:
		if err := r.endLine(each); err != nil {
			return false, i, err
		}
		if r.ranges != nil {
			return true, i, r.ranges.end(r.line)
		}
		return true, i, nil
	case semicolon:
		if err := r.endLine(each); err != nil {
			return false, i, err
		}
		r.line++
		return false, i + 1, nil
	case comma:
		return false, i, r.fault(i, "a segment, not ','")
	case bad:
		return false, i, r.fault(i, "a digit of base 64")
	}
	return false, i, r.badNumber(i)
}

// small are the numbers of one digit; long: a byte that is none.
const long = 127

var small = func() (s [256]int8) {
	for i := range s {
		if s[i] = long; digits[i] < 32 {
			s[i] = int8(signed(int64(digits[i])))
		}
	}
	return s
}()

// longNumber reads a number of up to 32 bits that may have several digits; the index behind it is negative if there
// is none.
func longNumber(b []byte, i int) (int64, int) {
	if i+1 < len(b) {
		// Most are of two.
		if first, second := digits[b[i]], digits[b[i+1]]; first < comma && second < 32 {
			return signed(int64(first&31) | int64(second)<<5), i + 2
		}
	}
	value := int64(0)
	for n := 0; n < maxNumber && i < len(b); n, i = n+1, i+1 {
		c := digits[b[i]]
		switch {
		case c >= comma:
			return 0, -1
		case n < 8:
			value |= int64(c&31) << (5 * n)
		case c&31 != 0:
			return 0, -1
		}
		if c&32 != 0 {
			continue
		}
		if value > 1<<32+1 {
			return 0, -1
		}
		return signed(value), i + 1
	}
	return 0, -1
}

// chanceNumber is longNumber where it is chance whether the number, which begins with a digit, has one, two or three of
// them, as numbers of names have: no branch depends on that.
func chanceNumber(b []byte, i int) (int64, int) {
	if i+2 >= len(b) {
		return longNumber(b, i)
	}
	first, second, third := uint32(digits[b[i]]), uint32(digits[b[i+1]]), uint32(digits[b[i+2]])
	more := first >> 5
	second &= -more
	again := second >> 5
	third &= -again
	if second >= comma || third >= 32 {
		return longNumber(b, i)
	}
	return signed(int64(first&31 | second&31<<5 | third<<10)), i + 1 + int(more+again)
}

// signed is a number with its sign in the lowest bit.
func signed(v int64) int64 {
	minus := -(v & 1)
	return (v>>1 ^ minus) - minus
}

func (r *mappingReader) badNumber(at int) error {
	return r.fault(at, "1, 4 or 5 numbers of 32 bits in a segment")
}

// fault is the error of a byte of the window, which begins with the next byte of t.
func (r *mappingReader) fault(at int, want string) error {
	return r.t.FailAt(r.t.Offset()+int64(at), want)
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
		if r.segments[i].Column < r.segments[i-1].Column {
			slices.SortStableFunc(r.segments, func(a, b Mapping) int { return int(int64(a.Column) - int64(b.Column)) })
			break
		}
	}
	_, err := each(r.line, r.segments, false)
	r.segments = r.segments[:0]
	return err
}

// endPiece hands out the segments of a line that goes on. Of the others, which have one column, it keeps two:
// a line of equal columns then costs no more than others.
func (r *mappingReader) endPiece(each lineFunc) error {
	done, err := each(r.line, r.segments, true)
	left := r.segments[done:]
	if len(left) > 2 {
		left[1] = left[len(left)-1]
		left = left[:2]
	}
	r.segments = r.segments[:copy(r.segments, left)]
	return err
}
