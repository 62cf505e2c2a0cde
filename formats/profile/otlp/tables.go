package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// tables are the tables that locations refer to.
type tables struct {
	m     *message
	kind  kind   // of the message that has them
	homes []span // that message; several are one

	strings    []span
	functions  []function
	mappings   []mapping
	locations  []location
	lines      []line
	attributes map[int32]attribute // that say something of mappings or locations

	ends [tableCount]int32 // behind the last element; 0: there is none

	places []place
	out    []outLine // of all places
	names  names
}

// table is one of the tables.
type table uint8

const (
	functionTable table = iota
	stringTable
	tableCount
)

// mapping is a file that was mapped.
type mapping struct {
	start, limit, offset uint64
	file                 int32
	image                int32  // the number of its names
	gnu, golang, hash    string // build-ids
	named                bool   // it says more than nothing
}

// function is a function as the profile has it.
type function struct{ name, system, file int32 }

// location is a place in a program.
type location struct {
	from, body, end int32 // of its message
	mapping         int32 // none: it has none
	first, lines    int32 // of tables.lines
	place           int32 // of its code; none: it is not asked for
	frame           frameType
	address         uint64
}

// line is a line of a location.
type line struct {
	function     int32
	line, column uint32
	from, end    int32 // of its message; in JSON of its object
	place        int32 // none: it is not asked for
}

// attribute is a fact about a mapping or a location.
type attribute struct {
	key    attributeKey
	text   string
	number uint64
}

const none = -1

// attributeKey is the meaning of an attribute.
type attributeKey uint8

// The attributes that are looked at.
const (
	otherKey attributeKey = iota
	gnuKey
	goKey
	hashKey
	frameKey
	threadKey
	threadNameKey
)

var attributeKeys = map[string]attributeKey{
	"process.executable.build_id.gnu":     gnuKey,
	"process.executable.build_id.go":      goKey,
	"process.executable.build_id.htlhash": hashKey,
	"profile.frame.type":                  frameKey,
	"thread.id":                           threadKey,
	"thread.name":                         threadNameKey,
}

// frameType is what runs the code of a location.
type frameType uint8

// The types of frames that are told apart.
const (
	unsaid  frameType = iota // the profile does not say it
	machine                  // native, kernel, go, rust
	jvm
	v8
	interpreted // by what nothing is known of
)

var frameTypes = map[string]frameType{"native": machine, "kernel": machine, "go": machine, "rust": machine, "jvm": jvm, "v8js": v8}

// About what elements take.
const (
	locationBytes = 56
	lineBytes     = 24
	functionBytes = 12
	mappingBytes  = 160
	stringBytes   = 8
	attrBytes     = 160
)

// home notes the message that has the tables.
func (t *tables) home(f *field) {
	t.homes = append(t.homes, span{int32(f.body), int32(f.end)})
	t.m.box(f)
}

// each visits the fields of all homes.
func (t *tables) each(visit func(f *field) error) error {
	for _, h := range t.homes {
		if err := t.m.fields(t.kind, int(h.from), int(h.to), visit); err != nil {
			return err
		}
	}
	return nil
}

// read reads all tables.
func (t *tables) read() error {
	var raw []span // of attributes
	err := t.each(func(f *field) error {
		switch f.name {
		case nStrings:
			t.ends[stringTable] = t.behind(f)
			t.strings = append(t.strings, span{int32(f.body), int32(f.end)})
			return t.m.take(stringBytes)
		case nAttributes:
			raw = append(raw, span{int32(f.body), int32(f.end)})
			return t.m.take(stringBytes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, at := range raw {
		if err := t.attribute(int32(i), at); err != nil {
			return err
		}
	}
	return t.each(func(f *field) error {
		switch f.name {
		case nMappings:
			return t.mapping(f)
		case nFunctions:
			return t.function(f)
		case nLocations:
			return t.location(f)
		}
		return nil
	})
}

// behind returns the offset behind an element.
func (t *tables) behind(f *field) int32 {
	if t.m.json && t.m.b[f.from] == '"' {
		return int32(f.end) + 1
	}
	return int32(f.end)
}

// string returns a text of the table; "" if there is none.
func (t *tables) string(i int32) string {
	if i <= 0 || int(i) >= len(t.strings) {
		return ""
	}
	return t.m.text(t.strings[i])
}

// index returns a number as an index; a number that is too large stays out of range.
func index(v uint64) int32 { return int32(min(v, math.MaxInt32)) }

// attribute reads an attribute.
func (t *tables) attribute(i int32, at span) error {
	a := attribute{}
	err := t.m.fields(kAttribute, int(at.from), int(at.to), func(f *field) error {
		switch f.name {
		case nKeyIndex:
			a.key = attributeKeys[t.string(index(f.value))]
		case nKey: // an index, or of older versions a text
			if f.wire == protowire.VarintType {
				a.key = attributeKeys[t.string(index(f.value))]
			} else {
				a.key = attributeKeys[t.m.text(span{int32(f.body), int32(f.end)})]
			}
		case nValue:
			text, number, err := t.value(f)
			a.text, a.number = text, number
			return err
		}
		return nil
	})
	if err != nil || a.key == otherKey {
		return err
	}
	if t.attributes == nil {
		t.attributes = map[int32]attribute{}
	}
	t.attributes[i] = a
	return t.m.take(attrBytes + len(a.text))
}

// value returns the text of a value, or its bytes in hex, or its number.
func (t *tables) value(f *field) (text string, number uint64, err error) {
	if f.wire != protowire.BytesType {
		return "", 0, nil
	}
	err = t.m.fields(kValue, f.body, f.end, func(f *field) error {
		switch f.name {
		case nText:
			text = t.m.text(span{int32(f.body), int32(f.end)})
		case nOctets:
			b := t.m.b[f.body:f.end]
			if t.m.json {
				b, _ = base64.StdEncoding.AppendDecode(nil, b)
			}
			text = hex.EncodeToString(b)
		case nTextIndex:
			text = t.string(index(f.value))
		case nNumber:
			number = f.value
		}
		return nil
	})
	return text, number, err
}

// eachAttribute visits the known attributes that a field refers to.
func (t *tables) eachAttribute(f *field, visit func(a attribute)) error {
	return t.m.ints(f, func(v uint64) {
		if a, known := t.attributes[index(v)]; known {
			visit(a)
		}
	})
}

// mapping reads a mapping.
func (t *tables) mapping(f *field) error {
	m := mapping{image: none}
	err := t.m.fields(kMapping, f.body, f.end, func(f *field) error {
		switch f.name {
		case nStart:
			m.start = f.value
		case nLimit:
			m.limit = f.value
		case nOffset:
			m.offset = f.value
		case nFile:
			m.file = index(f.value)
		case nAttributeIndices:
			return t.eachAttribute(f, func(a attribute) {
				switch a.key {
				case gnuKey:
					m.gnu = a.text
				case goKey:
					m.golang = a.text
				case hashKey:
					m.hash = a.text
				}
			})
		}
		return nil
	})
	m.named = m.file > 0 || m.gnu != "" || m.golang != "" || m.hash != ""
	t.mappings = append(t.mappings, m)
	if err == nil {
		err = t.m.take(mappingBytes)
	}
	return err
}

// function reads a function.
func (t *tables) function(f *field) error {
	t.ends[functionTable] = t.behind(f)
	var fn function
	err := t.m.fields(kFunction, f.body, f.end, func(f *field) error {
		switch f.name {
		case nName:
			fn.name = index(f.value)
		case nSystemName:
			fn.system = index(f.value)
		case nFile:
			fn.file = index(f.value)
		}
		return nil
	})
	t.functions = append(t.functions, fn)
	if err == nil {
		err = t.m.take(functionBytes)
	}
	return err
}

// location reads a location.
func (t *tables) location(f *field) error {
	l := location{from: int32(f.from), body: int32(f.body), end: int32(f.end), first: int32(len(t.lines)), mapping: none, place: none}
	if t.m.version >= v18 || t.m.json && t.kind == kTables {
		l.mapping = 0
	}
	err := t.m.fields(kLocation, f.body, f.end, func(f *field) error {
		switch f.name {
		case nMapping:
			l.mapping = index(f.value)
		case nAddress:
			l.address = f.value
		case nLines:
			return t.line(f)
		case nAttributeIndices:
			if f.wire != protowire.BytesType && t.m.version < v18 {
				return nil // once a flag had this number
			}
			return t.eachAttribute(f, func(a attribute) {
				if a.key == frameKey {
					if l.frame = frameTypes[a.text]; l.frame == unsaid {
						l.frame = interpreted
					}
				}
			})
		}
		return nil
	})
	l.lines = int32(len(t.lines)) - l.first
	t.locations = append(t.locations, l)
	if err == nil {
		err = t.m.take(locationBytes)
	}
	return err
}

// line reads a line of a location.
func (t *tables) line(f *field) error {
	l := line{from: int32(f.from), end: int32(f.end), place: none}
	err := t.m.fields(kLine, f.body, f.end, func(f *field) error {
		switch f.name {
		case nFunction:
			l.function = index(f.value)
		case nLine:
			l.line = uint32(min(f.value, math.MaxUint32))
		case nColumn:
			l.column = uint32(min(f.value, math.MaxUint32))
		}
		return nil
	})
	t.lines = append(t.lines, l)
	if err == nil {
		err = t.m.take(lineBytes)
	}
	return err
}

// isNamed reports whether a location has a function's name.
func (t *tables) isNamed(l *location) bool {
	return slices.ContainsFunc(t.lines[l.first:l.first+l.lines], func(ln line) bool {
		if int(ln.function) >= len(t.functions) {
			return true // the fault is counted
		}
		fn := t.functions[ln.function]
		return t.isText(fn.name) || t.isText(fn.system)
	})
}

// isText reports whether a string of the table says something.
func (t *tables) isText(i int32) bool {
	if i <= 0 || int(i) >= len(t.strings) {
		return false
	}
	s := t.strings[i]
	return len(bytes.TrimSpace(t.m.b[s.from:s.to])) > 0
}
