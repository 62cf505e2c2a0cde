package perfetto

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/trace"
)

// interned is what later packets of a sequence may refer to.
type interned struct {
	names   [][]byte // by trace.Name.ID: the fields of an event that begins it; nil: not asked for yet
	texts   [4]map[string]uint64
	pending []byte // InternedData that is not written yet
	open    []byte // the annotation "unclosed"
}

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
	id, known := n.texts[kind][s]
	if !known {
		id = n.enter(kind, s)
		n.pending = message(n.pending, fieldOf[kind], text(field(nil, internIID, id), internText, s))
	}
	return id
}

func (n *interned) enter(kind int, key string) uint64 {
	if n.texts[kind] == nil {
		n.texts[kind] = map[string]uint64{}
	}
	id := uint64(len(n.texts[kind]) + 1)
	n.texts[kind][key] = id
	return id
}

// location interns a place in a source.
func (n *interned) location(l *trace.Label) uint64 {
	var line [4]byte
	for i := range line {
		line[i] = byte(l.Line >> (8 * i))
	}
	key := l.File + "\x00" + l.Text + "\x00" + string(line[:])
	id, known := n.texts[ofLocations][key]
	if !known {
		id = n.enter(ofLocations, key)
		m := text(text(field(nil, internIID, id), locationFile, l.File), locationName, l.Text)
		if l.Line > 0 {
			m = field(m, locationLine, uint64(l.Line))
		}
		n.pending = message(n.pending, internedLocations, m)
	}
	return id
}

// name gives the fields of an event by its name.
func (w *Writer) name(n *trace.Name) []byte {
	i := &w.interned
	for len(i.names) <= n.ID {
		i.names = append(i.names, nil)
	}
	if i.names[n.ID] == nil {
		l, err := w.label(n)
		if err != nil {
			w.err = err
			return nil
		}
		b := field(nil, eventNameIID, i.iid(ofNames, l.Text))
		if l.File != "" {
			b = field(b, eventLocationIID, i.location(&l))
		}
		if l.Text != n.Text {
			b = i.annotate(b, "obfuscated", n.Text)
		}
		b = i.list(b, "alternatives", l.Or)
		b = i.list(b, "inlined", l.Inlined)
		for _, a := range n.Args {
			b = i.annotate(b, a.Key, a.Value)
		}
		i.names[n.ID] = b
	}
	return i.names[n.ID]
}

// annotate adds an annotation of one text.
func (n *interned) annotate(b []byte, key, value string) []byte {
	a := field(nil, annotationKeyIID, n.iid(ofKeys, key))
	return message(b, eventAnnotation, field(a, annotationTextIID, n.iid(ofTexts, value)))
}

// list adds an annotation of several texts, if there are any.
func (n *interned) list(b []byte, key string, values []string) []byte {
	if len(values) == 0 {
		return b
	}
	a := field(nil, annotationKeyIID, n.iid(ofKeys, key))
	for _, v := range values {
		a = message(a, annotationArray, field(nil, annotationTextIID, n.iid(ofTexts, v)))
	}
	return message(b, eventAnnotation, a)
}

// unclosed is the annotation of what the trace did not end.
func (w *Writer) unclosed() []byte {
	n := &w.interned
	if n.open == nil {
		n.open = message(nil, eventAnnotation, field(field(nil, annotationKeyIID, n.iid(ofKeys, "unclosed")), annotationBool, 1))
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
