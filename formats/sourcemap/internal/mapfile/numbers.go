package mapfile

import "strconv"

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
// (from 1, each told against the one before) with columns that go on with the script's.
type rangeReader struct {
	numbers
	to uint32 // the next line
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
	i := uint64(0)
	for !r.ends() {
		start := r.numbers.at
		v, err := r.unsigned()
		if err != nil {
			return err
		}
		if i += v; v == 0 || i > uint64(len(segments)) {
			return r.fault(start, "a segment from 1 to "+strconv.Itoa(len(segments)))
		}
		segments[i-1].Linear = true
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
