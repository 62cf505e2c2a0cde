package perfetto

import (
	"encoding/binary"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/trace"
)

// interned is what later packets of a sequence may refer to. Each name of the
// trace gets ids of its own: what names share is not worth remembering texts for.
type interned struct {
	names   []begins // by trace.Name.ID
	last    [4]uint64
	keys    map[string]uint64
	pending []byte   // InternedData that is not written yet
	open    []byte   // the annotation "unclosed"
	long    [][]byte // begins that are longer than a place
}

// begins are the fields of an event that begins a name. Most are short, and are read for each event, in an
// order that no cache foresees: they lie where they are looked for.
type begins struct {
	size  uint8 // 0: not asked for yet
	bytes [31]byte
}

// longer is the size of fields that are elsewhere: bytes is their index in long.
const longer = 255

// The kinds of interned texts.
const (
	ofNames = iota
	ofKeys
	ofTexts
	ofLocations
)

var fieldOf = [...]protowire.Number{ofNames: internedNames, ofKeys: internedKeys, ofTexts: internedTexts, ofLocations: internedLocations}

// iid interns a text.
func (n *interned) iid(kind int, s string) uint64 {
	n.last[kind]++
	n.pending = message(n.pending, fieldOf[kind], text(field(nil, internIID, n.last[kind]), internText, s))
	return n.last[kind]
}

// key interns what an annotation is called: there are few.
func (n *interned) key(s string) uint64 {
	id, known := n.keys[s]
	if !known {
		if n.keys == nil {
			n.keys = map[string]uint64{}
		}
		id = n.iid(ofKeys, s)
		n.keys[s] = id
	}
	return id
}

// location interns a place in a source.
func (n *interned) location(l *trace.Label) uint64 {
	n.last[ofLocations]++
	m := text(text(field(nil, internIID, n.last[ofLocations]), locationFile, l.File), locationName, l.Text)
	if l.Line > 0 {
		m = field(m, locationLine, uint64(l.Line))
	}
	n.pending = message(n.pending, internedLocations, m)
	return n.last[ofLocations]
}

// name adds the fields that an event has by its name.
func (w *Writer) name(n *trace.Name) {
	i := &w.interned
	if n.ID < len(i.names) {
		switch at := &i.names[n.ID]; at.size {
		case 0:
		case longer:
			w.out = append(w.out, i.long[binary.LittleEndian.Uint32(at.bytes[:])]...)
			return
		default:
			w.out = append(w.out, at.bytes[:at.size]...)
			return
		}
	}
	l, err := w.label(n)
	if err != nil {
		w.err = err
		return
	}
	f := field(nil, eventNameIID, i.iid(ofNames, l.Text))
	if l.File != "" {
		f = field(f, eventLocationIID, i.location(&l))
	}
	if l.Text != n.Text {
		f = i.annotate(f, "obfuscated", n.Text)
	}
	f = i.list(f, "alternatives", l.Or)
	f = i.list(f, "inlined", l.Inlined)
	for _, a := range n.Args {
		f = i.annotate(f, a.Key, a.Value)
	}
	for len(i.names) <= n.ID {
		i.names = append(i.names, begins{})
	}
	if at := &i.names[n.ID]; len(f) <= len(at.bytes) {
		at.size = uint8(copy(at.bytes[:], f))
	} else {
		at.size = longer
		binary.LittleEndian.PutUint32(at.bytes[:], uint32(len(i.long)))
		i.long = append(i.long, f)
	}
	w.out = append(w.out, f...)
}

// annotate adds an annotation of one text.
func (n *interned) annotate(b []byte, key, value string) []byte {
	a := field(nil, annotationKeyIID, n.key(key))
	return message(b, eventAnnotation, field(a, annotationTextIID, n.iid(ofTexts, value)))
}

// list adds an annotation of several texts, if there are any.
func (n *interned) list(b []byte, key string, values []string) []byte {
	if len(values) == 0 {
		return b
	}
	a := field(nil, annotationKeyIID, n.key(key))
	for _, v := range values {
		a = message(a, annotationArray, field(nil, annotationTextIID, n.iid(ofTexts, v)))
	}
	return message(b, eventAnnotation, a)
}

// unclosed is the annotation of what the trace did not end.
func (w *Writer) unclosed() []byte {
	n := &w.interned
	if n.open == nil {
		n.open = message(nil, eventAnnotation, field(field(nil, annotationKeyIID, n.key("unclosed")), annotationBool, 1))
	}
	return n.open
}

// text adds a string. Texts of a trace need not be UTF-8, those of a message must.
func text(b []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), strings.ToValidUTF8(s, "\ufffd"))
}

func double(b []byte, number protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), math.Float64bits(v))
}
