package spill

import (
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// maxClassStrings bounds the names of classes and types that a mapping's rows may share; the others stand where
// they are used. It keeps memory the same whatever the mapping's size.
const maxClassStrings = 16 << 20

// classes is what a lane needs for the classes of a mapping: an encoded one is a 0, where the number of
// ranges would stand, and its plain form.
type classes struct {
	plain *row.Plain
}

// encodeClass encodes the class of r into l.buf and gives its position.
func (l *Lane) encodeClass(r *symbol.Run) (position uint64, err error) {
	c := r.Class
	if l.s.o.Position == nil || len(r.Ranges)+len(r.Scopes) > 0 {
		return 0, refuse(l.part, "ranges or a class, as its artifact has")
	}
	if (c.Facts != nil) != (c.Name == "") {
		return 0, refuse(l.part, "facts in the class without a name alone")
	}
	for i := range c.Members {
		if m := &c.Members[i]; i > 0 && m.Name < c.Members[i-1].Name || m.Lines.Count > 2 || m.From.Count > 2 {
			return 0, refuse(l.part, "members by name, with lines, at member %d", i)
		}
	}
	if l.classes.plain == nil {
		l.classes.plain = row.NewPlain(l.note)
	}
	l.buf = l.classes.plain.Append(append(l.buf[:0], 0), c)
	return l.s.o.Position(c.Name), nil
}

// note counts a string that rows may share.
func (l *Lane) note(s string) {
	id := l.s.strings.known(s, l.s.strings.total.Load() < maxClassStrings)
	if id == 0 {
		return
	}
	if int(id) >= len(l.counts) {
		l.growCounts(int(id) + 1)
	}
	l.counts[id]++
}

// class is the memory of a class that comes out.
type class struct {
	body   []byte
	reader row.PlainReader
}

// decode reads what encodeClass wrote.
func (p *class) decode(b []byte, rank symbol.Rank, r *symbol.Run) (err error) {
	p.body = append(p.body[:0], b[1:]...) // b is read over by what follows it on disk
	r.Rank, r.Ranges, r.Scopes = rank, r.Ranges[:0], r.Scopes[:0]
	r.Plain = p.body
	if r.Class, err = p.reader.Read(p.body); err != nil {
		return errDecode
	}
	return nil
}
