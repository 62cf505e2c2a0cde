package spill

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
)

// An encoded run, without its start (that is in its key):
//
//	ranges, scopes: varints
//	per scope, five numbers: distance to its parent (index+1: none), function, and of the call: file (difference),
//	  line (difference), column
//	per range, five numbers: length, scope (difference), file (difference), line (difference), column; the
//	  ranges of a script as encodeParts says
//
// Differences are to the scope or range before, zigzag. Strings are ids of the
// interner, or in the output of Sort: indices into the table.

// encode checks a run, of a script with the marks of its ranges, and encodes it into l.buf.
func (l *Lane) encode(r *symbol.Run, marks []symbol.Mark) error {
	n := max(uint32(len(r.Strings)), 1)
	b := binary.AppendUvarint(l.buf[:0], uint64(len(r.Ranges)))
	b = binary.AppendUvarint(b, uint64(len(r.Scopes)))
	at := len(b)
	b = room(b, at, len(r.Scopes))
	var file, line uint32
	for i := range r.Scopes {
		s := &r.Scopes[i]
		if s.Parent < -1 || int(s.Parent) >= i {
			return refuse(l.part, "scope %d after its parent %d", i, s.Parent)
		}
		if s.Function >= n || s.Call.File >= n {
			return refuse(l.part, "strings of scope %d among %d", i, len(r.Strings))
		}
		var fn, f uint32
		if s.Function != 0 {
			fn = l.id(s.Function)
		}
		if s.Call.File != 0 {
			f = l.id(s.Call.File)
		}
		at = putFive(b, at, uint64(i-int(s.Parent)), fn, zigzag(f-file), zigzag(s.Call.Line-line), s.Call.Column)
		file, line = f, s.Call.Line
	}
	if r.Rank == symbol.RankScript {
		b, err := l.encodeParts(b[:at], r, marks)
		if err == nil {
			l.buf = b
		}
		return err
	}
	file, line = 0, 0
	var scope uint32
	of := uint32(0) // the string of file
	start := r.Ranges[0].Start
	for i := range r.Ranges {
		if i%roomFor == 0 {
			b = room(b, at, min(roomFor, len(r.Ranges)-i))
		}
		g := &r.Ranges[i]
		if g.Start != start || g.End <= g.Start {
			return refuse(l.part, "range %#x-%#x to begin at %#x", g.Start, g.End, start)
		}
		if g.Scope < 0 || int(g.Scope) >= len(r.Scopes) {
			return refuse(l.part, "scope %d of range %#x among %d", g.Scope, g.Start, len(r.Scopes))
		}
		if g.At.File >= n {
			return refuse(l.part, "file of range %#x among %d", g.Start, len(r.Strings))
		}
		f := file
		if g.At.File != of { // most equal the range before
			if f, of = 0, g.At.File; of != 0 {
				f = l.id(of)
			}
		}
		at = putFive(b, at, g.End-g.Start, zigzag(uint32(g.Scope)-scope), zigzag(f-file), zigzag(g.At.Line-line), g.At.Column)
		scope, file, line, start = uint32(g.Scope), f, g.At.Line, g.End
	}
	l.buf = b[:at]
	return nil
}

// roomFor is how many ranges room is made for at once.
const roomFor = 256

// room is b with room for that many times five numbers from at on, all of it in reach.
func room(b []byte, at, n int) []byte {
	b = slices.Grow(b[:at], n*fiveBytes)
	return b[:cap(b)]
}

var errDecode = errors.New("sorted run does not decode")

// decode reads the output of encode into r and marks, and uses their slices again. final turns the
// interner's ids into indices of the table. A run is of a script where marks is not nil.
func decode(b []byte, start uint64, rank symbol.Rank, final []uint32, r *symbol.Run, marks *[]symbol.Mark) error {
	d := decoder{b: b}
	ranges, scopes := int(d.long()), int(d.long())
	r.Rank = rank
	r.Ranges = resize(r.Ranges, ranges)
	r.Scopes = resize(r.Scopes, scopes)
	at := d.at
	var file, line uint32
	for i := range r.Scopes {
		up, fn, f, l, column, next := five(b, at)
		file += unzigzag(f)
		line += unzigzag(l)
		s := &r.Scopes[i]
		s.Parent, s.Function = int32(i)-int32(up), final[fn]
		s.Call.File, s.Call.Line, s.Call.Column = final[file], line, column
		at = next
	}
	if (rank == symbol.RankScript) != (marks != nil) {
		return errDecode
	}
	if marks != nil {
		*marks = resize(*marks, ranges)
		d.at = min(at, len(b))
		d.decodeParts(start, final, r.Ranges, *marks)
		at, ranges = d.at, 0
	}
	file, line = 0, 0
	var scope uint32
	for i := range ranges {
		size, s, f, l, column, next := five(b, at)
		scope += unzigzag(s)
		file += unzigzag(f)
		line += unzigzag(l)
		g := &r.Ranges[i]
		g.Start = start
		start += size
		g.End, g.Scope = start, int32(scope)
		g.At.File, g.At.Line, g.At.Column = final[file], line, column
		at = next
	}
	if d.bad || at != len(b) {
		return errDecode
	}
	return nil
}

func resize[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

func zigzag(d uint32) uint32   { return d<<1 ^ uint32(int32(d)>>31) }
func unzigzag(z uint32) uint32 { return z>>1 ^ -(z & 1) }

type decoder struct {
	b   []byte
	at  int
	bad bool
}

func (d *decoder) get() uint32 {
	if d.at < len(d.b) && d.b[d.at] < 0x80 { // most are
		d.at++
		return uint32(d.b[d.at-1])
	}
	return uint32(d.long())
}

func (d *decoder) byte() byte {
	if d.at >= len(d.b) {
		d.bad = true
		return 0
	}
	d.at++
	return d.b[d.at-1]
}

func (d *decoder) long() uint64 {
	if d.at+1 < len(d.b) && d.b[d.at+1] < 0x80 { // nearly all that is not shorter
		if c := d.b[d.at]; c >= 0x80 {
			d.at += 2
			return uint64(c&0x7f) | uint64(d.b[d.at-1])<<7
		}
		d.at++
		return uint64(d.b[d.at-1])
	}
	v, n := binary.Uvarint(d.b[d.at:])
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.at += n
	return v
}
