package perfetto

import (
	"encoding/binary"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/trace"
)

// interned is what later packets of a sequence may refer to. Each name of the
// trace gets ids of its own, which follow from its ID: what names share is not worth remembering texts for, and what an
// event says of its name is made anew each time, from one byte that says which of it there is.
type interned struct {
	said    []said // by trace.Name.ID
	more    []byte // the fields of names that say more, each behind its length in four bytes
	moreAt  []int  // the first of each name, by ID
	values  uint64 // texts of annotations
	keys    map[string]uint64
	renamed uint64 // key of what the trace calls a name
	pending []byte // InternedData that is not written yet
	open    []byte // the annotation "unclosed"
}

// said is what the events of a name say of it, besides its text.
type said uint8

const (
	saidName    said = 1 << iota // it was asked for
	saidPlace                    // its location
	saidRenamed                  // what the trace calls it
	saidMore                     // alternatives and the like: all its fields are in interned.more
)

// iidOf is the id of a name's text, of its location, and of what the trace calls it.
func iidOf(id int32) uint64 { return uint64(id) + 1 }

// The kinds of interned texts.
const (
	ofNames = iota
	ofKeys
	ofTexts
	ofLocations
)

var fieldOf = [...]protowire.Number{ofNames: internedNames, ofKeys: internedKeys, ofTexts: internedTexts, ofLocations: internedLocations}

// define interns a text under an id.
func (n *interned) define(kind int, iid uint64, s string) {
	n.pending = message(n.pending, fieldOf[kind], text(field(nil, internIID, iid), internText, s))
}

// value interns a text that stands in an annotation; no name's ID is among their ids.
func (n *interned) value(s string) uint64 {
	n.values++
	iid := iidOf(trace.MaxNames) + n.values
	n.define(ofTexts, iid, s)
	return iid
}

// key interns what an annotation is called: there are few.
func (n *interned) key(s string) uint64 {
	id, known := n.keys[s]
	if !known {
		if n.keys == nil {
			n.keys = map[string]uint64{}
		}
		id = uint64(len(n.keys)) + 1
		n.keys[s] = id
		n.define(ofKeys, id, s)
	}
	return id
}

// location interns a place in a source.
func (n *interned) location(iid uint64, l *trace.Label) {
	m := text(text(field(nil, internIID, iid), locationFile, l.File), locationName, l.Text)
	if l.Line > 0 {
		m = field(m, locationLine, uint64(l.Line))
	}
	n.pending = message(n.pending, internedLocations, m)
}

// ask reads the facts about a name.
func (w *Writer) ask(n *trace.Name) error {
	i := &w.interned
	l, err := w.label(n)
	if err != nil {
		return err
	}
	for len(i.said) <= int(n.ID) {
		i.said = append(i.said, 0)
	}
	at := &i.said[n.ID]
	*at = saidName
	i.define(ofNames, iidOf(n.ID), l.Text)
	if l.File != "" {
		i.location(iidOf(n.ID), &l)
		*at |= saidPlace
	}
	if l.Text != n.Text {
		i.renamed = i.key("obfuscated")
		i.define(ofTexts, iidOf(n.ID), n.Text)
		*at |= saidRenamed
	}
	if len(l.Or)+len(l.Inlined)+len(n.Args) == 0 {
		return nil
	}
	f := i.name(nil, n.ID, *at)
	f = i.list(f, "alternatives", l.Or)
	f = i.list(f, "inlined", l.Inlined)
	for _, a := range n.Args {
		f = i.annotate(f, a.Key, a.Value)
	}
	for len(i.moreAt) <= int(n.ID) {
		i.moreAt = append(i.moreAt, 0)
	}
	i.moreAt[n.ID] = len(i.more)
	i.more = append(binary.LittleEndian.AppendUint32(i.more, uint32(len(f))), f...)
	*at |= saidMore
	return nil
}

// name adds the fields that an event has by its name.
func (n *interned) name(b []byte, id int32, is said) []byte {
	if is&saidMore != 0 {
		f := n.more[n.moreAt[id]:]
		return append(b, f[4:4+binary.LittleEndian.Uint32(f)]...)
	}
	iid := iidOf(id)
	b = varint(append(b, eventNameIID<<3), iid)
	if is&saidPlace != 0 {
		b = varint(append(b, eventLocationIID<<3&0x7f|0x80, eventLocationIID>>4), iid)
	}
	if is&saidRenamed != 0 {
		b = append(b, eventAnnotation<<3|byte(protowire.BytesType), 0)
		from := len(b)
		b = varint(append(b, annotationKeyIID<<3), n.renamed)
		b = varint(append(b, annotationTextIID<<3&0x7f|0x80, annotationTextIID>>4), iid)
		b[from-1] = byte(len(b) - from)
	}
	return b
}

// annotate adds an annotation of one text.
func (n *interned) annotate(b []byte, key, value string) []byte {
	a := field(nil, annotationKeyIID, n.key(key))
	return message(b, eventAnnotation, field(a, annotationTextIID, n.value(value)))
}

// list adds an annotation of several texts, if there are any.
func (n *interned) list(b []byte, key string, values []string) []byte {
	if len(values) == 0 {
		return b
	}
	a := field(nil, annotationKeyIID, n.key(key))
	for _, v := range values {
		a = message(a, annotationArray, field(nil, annotationTextIID, n.value(v)))
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

// text adds a string. Texts of a trace need not be UTF-8, texts of a message must.
func text(b []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), strings.ToValidUTF8(s, "\ufffd"))
}

func double(b []byte, number protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), math.Float64bits(v))
}

// varint is protowire's, inlined for the fields of each event.
func varint(b []byte, v uint64) []byte {
	for v >= 1<<7 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
