package mapfile

import (
	"strconv"
	"strings"
)

// numbers reads the VLQ numbers of a string that is in memory: scopes, function
// maps, range mappings.
type numbers struct {
	b       string
	at      int
	from    int64 // of b in the input, for errors
	section string
}

// ends reports whether no number is next.
func (n *numbers) ends() bool { return n.at >= len(n.b) || digits[n.b[n.at]] >= comma }

// unsigned reads a number of up to 32 bits.
func (n *numbers) unsigned() (uint64, error) {
	start := n.at
	value, shift := uint64(0), 0
	for {
		if n.ends() {
			return 0, n.fault(start, "a number")
		}
		c := digits[n.b[n.at]]
		n.at++
		if shift < 40 {
			value |= uint64(c&31) << shift
		} else if c&31 != 0 {
			return 0, n.fault(start, "numbers of 32 bits")
		}
		shift += 5
		if c&32 == 0 {
			break
		}
	}
	if value > 1<<32+1 {
		return 0, n.fault(start, "numbers of 32 bits")
	}
	return value, nil
}

func (n *numbers) signed() (int64, error) {
	v, err := n.unsigned()
	if v&1 != 0 {
		return -int64(v >> 1), err
	}
	return int64(v >> 1), err
}

// add reads a signed number and adds it to to, which stays from 0 to most.
func (n *numbers) add(to *int64) error {
	start := n.at
	v, err := n.signed()
	if err != nil {
		return err
	}
	if *to += v; *to < 0 || *to > MostNumber {
		return n.fault(start, "a sum from 0 to "+strconv.Itoa(MostNumber))
	}
	return nil
}

func (n *numbers) fault(at int, want string) error { return Fault(n.section, n.from+int64(at), want) }

// rangeReader reads rangeMappings beside mappings: per line, the numbers of the segments
// with columns that go on with the script's. The first is told from the line's beginning, each other from the one
// before. The proposal counted them from 1 and counts them from 0 since 2026: a map with a line that begins with 0 is of
// the newer form.
type rangeReader struct {
	numbers
	to    uint32 // the next line
	first uint64 // number of a line's first segment
}

func newRangeReader(b string, from int64) *rangeReader {
	r := &rangeReader{numbers: numbers{b: b, from: from, section: "rangeMappings"}, first: 1}
	if strings.HasPrefix(b, "A") || strings.Contains(b, ";A") {
		r.first = 0
	}
	return r
}

// line marks the linear segments of a line; lines come in order.
func (r *rangeReader) line(line uint32, segments []Mapping) error {
	for ; r.to < line; r.to++ {
		if err := r.next(nil); err != nil {
			return err
		}
	}
	if r.to > line {
		return nil
	}
	r.to++
	return r.next(segments)
}

func (r *rangeReader) next(segments []Mapping) error {
	i, least := uint64(0), r.first
	for !r.ends() {
		start := r.numbers.at
		v, err := r.unsigned()
		if err != nil {
			return err
		}
		if i += v; v < least || i-r.first >= uint64(len(segments)) {
			return r.fault(start, "one of the line's "+strconv.Itoa(len(segments))+" segments")
		}
		if segments[i-r.first].Source < 0 {
			return r.fault(start, "a segment with a source")
		}
		segments[i-r.first].Linear = true
		least = 1
	}
	if r.numbers.at < len(r.b) {
		if digits[r.b[r.numbers.at]] != semicolon {
			return r.fault(r.numbers.at, "a digit of base 64")
		}
		r.numbers.at++
	}
	return nil
}

// end is called behind the last line of mappings.
func (r *rangeReader) end(line uint32) error {
	for ; r.to <= line; r.to++ {
		if err := r.next(nil); err != nil {
			return err
		}
	}
	if r.numbers.at < len(r.b) {
		return r.fault(r.numbers.at, "no more lines than mappings have")
	}
	return nil
}
