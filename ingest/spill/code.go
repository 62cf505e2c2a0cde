package spill

import (
	"encoding/binary"
	"errors"

	"github.com/symlake/symlake/formats/symbol"
)

// An encoded run is varints only, without its start (that is in its key):
//
//	ranges, scopes
//	per scope: distance to its parent (index+1: none), function, and of the
//	  call: file (difference), line (difference), column
//	per range: length, scope (difference), file (difference), line
//	  (difference), column; those of a script as encodeParts says
//
// Differences are to the scope or range before, zigzag. Strings are ids of the
// interner, or in what comes out of Sort: indices into the table.

// encode checks r and encodes it into l.buf.
func (l *Lane) encode(r *symbol.Run) error {
	n := uint32(len(r.Strings))
	b := binary.AppendUvarint(l.buf[:0], uint64(len(r.Ranges)))
	b = binary.AppendUvarint(b, uint64(len(r.Scopes)))
	var file, line uint32
	for i := range r.Scopes {
		s := &r.Scopes[i]
		if s.Parent < -1 || int(s.Parent) >= i {
			return refuse(l.part, "scope %d after its parent %d", i, s.Parent)
		}
		if s.Function >= max(n, 1) || s.Call.File >= max(n, 1) {
			return refuse(l.part, "strings of scope %d among %d", i, n)
		}
		var fn, f uint32
		if s.Function != 0 {
			fn = l.id(s.Function)
		}
		if s.Call.File != 0 {
			f = l.id(s.Call.File)
		}
		b = put(b, uint32(i-int(s.Parent)))
		b = put(b, fn)
		b = put(b, zigzag(f-file))
		b = put(b, zigzag(s.Call.Line-line))
		b = put(b, s.Call.Column)
		file, line = f, s.Call.Line
	}
	if r.Rank == symbol.RankScript {
		b, err := l.encodeParts(b, r)
		if err == nil {
			l.buf = b
		}
		return err
	}
	file, line = 0, 0
	var scope uint32
	of := uint32(0) // the string of file
	at := r.Ranges[0].Start
	for i := range r.Ranges {
		g := &r.Ranges[i]
		if g.Start != at || g.End <= g.Start {
			return refuse(l.part, "range %#x-%#x to begin at %#x", g.Start, g.End, at)
		}
		if g.Scope < 0 || int(g.Scope) >= len(r.Scopes) {
			return refuse(l.part, "scope %d of range %#x among %d", g.Scope, g.Start, len(r.Scopes))
		}
		if g.At.File >= max(n, 1) {
			return refuse(l.part, "file of range %#x among %d", g.Start, n)
		}
		f := file
		if g.At.File != of { // most are those of the range before
			if f, of = 0, g.At.File; of != 0 {
				f = l.id(of)
			}
		}
		if size := g.End - g.Start; size < 0x80 {
			b = append(b, byte(size))
		} else {
			b = binary.AppendUvarint(b, size)
		}
		b = put(b, zigzag(uint32(g.Scope)-scope))
		b = put(b, zigzag(f-file))
		b = put(b, zigzag(g.At.Line-line))
		b = put(b, g.At.Column)
		scope, file, line, at = uint32(g.Scope), f, g.At.Line, g.End
	}
	l.buf = b
	return nil
}

var errDecode = errors.New("sorted run does not decode")

// decode reads what encode wrote into r, whose slices are used again. final
// turns the interner's ids into indices of the table.
func decode(b []byte, start uint64, rank symbol.Rank, final []uint32, r *symbol.Run) error {
	d := decoder{b: b}
	ranges, scopes := int(d.long()), int(d.long())
	r.Rank = rank
	r.Ranges = resize(r.Ranges, ranges)
	r.Scopes = resize(r.Scopes, scopes)
	var file, line uint32
	for i := range r.Scopes {
		s := &r.Scopes[i]
		s.Parent = int32(i) - int32(d.get())
		s.Function = final[d.get()]
		file += unzigzag(d.get())
		line += unzigzag(d.get())
		s.Call = symbol.Site{File: final[file], Line: line, Column: d.get()}
	}
	if rank == symbol.RankScript {
		d.decodeParts(start, final, r.Ranges)
		ranges = 0
	}
	file, line = 0, 0
	var scope uint32
	for i := range ranges {
		g := &r.Ranges[i]
		g.Start = start
		start += d.long()
		g.End = start
		scope += unzigzag(d.get())
		g.Scope = int32(scope)
		file += unzigzag(d.get())
		line += unzigzag(d.get())
		g.At = symbol.Site{File: final[file], Line: line, Column: d.get()}
		g.Name, g.Flags = 0, 0
	}
	if d.bad || d.at != len(b) {
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

func put(b []byte, v uint32) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

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
