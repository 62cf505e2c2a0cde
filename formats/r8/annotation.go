package r8

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
)

// annotationID is what an annotation is about.
type annotationID uint8

const (
	idUnknown annotationID = iota
	idVersion
	idSourceFile
	idPartitionFiles
	idSynthesized
	idRewriteFrame
	idOutline
	idOutlineCallsite
	idResidualSignature
)

func annotationOf(id string) annotationID {
	switch id {
	case "com.android.tools.r8.mapping":
		return idVersion
	case "sourceFile":
		return idSourceFile
	case "partitionSourceFiles":
		return idPartitionFiles
	case "com.android.tools.r8.synthesized":
		return idSynthesized
	case "com.android.tools.r8.rewriteFrame":
		return idRewriteFrame
	case "com.android.tools.r8.outline":
		return idOutline
	case "com.android.tools.r8.outlineCallsite":
		return idOutlineCallsite
	case "com.android.tools.r8.residualsignature":
		return idResidualSignature
	}
	return idUnknown
}

// rules are the annotations that stay: what they are, and the version that brought them.
var rules = [...]struct {
	kind  symbol.RuleKind
	level uint16
}{
	idSynthesized:       {symbol.Synthesized, 100},
	idRewriteFrame:      {symbol.RewriteFrame, 200},
	idOutline:           {symbol.Outline, 200},
	idOutlineCallsite:   {symbol.OutlineCallsite, 200},
	idResidualSignature: {symbol.ResidualSignature, 202},
}

// mapVersion is a declared map version: 100 times the first number, and the second.
type mapVersion struct {
	level   uint16
	text    string
	unknown bool // newer than any that is known
}

const experimentalLevel = 1<<16 - 1

// parseVersion reads "2.2". What it cannot read is none.
func parseVersion(s string) mapVersion {
	if s == "experimental" {
		return mapVersion{level: experimentalLevel, text: s}
	}
	first, second, _ := bytes.Cut([]byte(s), []byte{'.'})
	major, err := strconv.ParseUint(string(first), 10, 8)
	minor, err2 := strconv.ParseUint(string(second), 10, 8)
	if err != nil || err2 != nil || minor > 99 {
		return mapVersion{}
	}
	v := mapVersion{level: uint16(major*100 + minor)}
	v.unknown = v.level > 202
	v.text = strconv.FormatUint(major, 10) + "." + strconv.FormatUint(minor, 10)
	return v
}

// note is one annotation with its known fields.
type note struct {
	id         annotationID
	text       string // version, fileName, outline or signature
	conditions []string
	actions    []string
	positions  []symbol.OutlinePosition
	files      []symbol.ClassFile
}

// read takes a comment line into n. It returns false for a comment for people and for an unknown annotation. reason
// says why a text that begins like an annotation is none.
func (n *note) read(line []byte) (ok bool, reason string) {
	_, b := trim(line)
	if len(b) == 0 || b[0] != '#' {
		return false, ""
	}
	if _, b = trim(b[1:]); len(b) == 0 || b[0] != '{' {
		return false, ""
	}
	*n = note{}
	if n.short(b) {
		return n.id != idUnknown, ""
	}
	p := jsonReader{b: b}
	p.object(func(key string) {
		switch key {
		case "id":
			n.id = annotationOf(p.string())
		case "version", "fileName", "outline", "signature":
			n.text = p.scalar()
		case "conditions":
			n.conditions = p.strings()
		case "actions":
			n.actions = p.strings()
		case "positions":
			p.object(func(line string) {
				from, err := strconv.ParseUint(line, 10, 32)
				to := p.number()
				p.bad = p.bad || err != nil
				n.positions = append(n.positions, symbol.OutlinePosition{Outline: uint32(from), Line: to})
			})
		case "fileNameMappings":
			p.object(func(class string) {
				n.files = append(n.files, symbol.ClassFile{Class: class, File: p.string()})
			})
		default:
			p.skip(0)
		}
	})
	if p.space(); p.bad || p.at != len(p.b) {
		return false, "want a JSON object"
	}
	return n.id != idUnknown, ""
}

// short reads {"id":"this","signature":"that"}, which nearly all annotations are, to the byte; not ok: it is something else.
func (n *note) short(b []byte) (ok bool) {
	rest, ok := bytes.CutPrefix(b, shortHead)
	rest, is := bytes.CutSuffix(rest, shortEnd)
	if !ok || !is || bytes.IndexByte(rest, '\\') >= 0 {
		return false
	}
	id, rest, ok := bytes.Cut(rest, shortNext)
	key, value, is := bytes.Cut(rest, shortIs)
	if !ok || !is || bytes.IndexByte(id, '"') >= 0 || bytes.IndexByte(value, '"') >= 0 {
		return false
	}
	switch string(key) {
	case "version", "fileName", "outline", "signature":
		n.id, n.text = annotationOf(text(id)), text(value)
		return true
	}
	return false
}

// What stands around the strings of a short annotation.
var shortHead, shortNext, shortIs, shortEnd = []byte(`{"id":"`), []byte(`","`), []byte(`":"`), []byte(`"}`)

// jsonReader reads the small objects of annotations, which are a tenth of a mapping, without making anything.
type jsonReader struct {
	b   []byte
	at  int
	bad bool
}

func (p *jsonReader) space() {
	for p.at < len(p.b) && (p.b[p.at] == ' ' || p.b[p.at] == '\t') {
		p.at++
	}
}

// take reports whether c comes next, and passes it.
func (p *jsonReader) take(c byte) bool {
	p.space()
	if p.at < len(p.b) && p.b[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *jsonReader) want(c byte) {
	if !p.take(c) {
		p.bad = true
	}
}

// object calls field for each key; it must read the value.
func (p *jsonReader) object(field func(key string)) {
	if p.want('{'); p.take('}') {
		return
	}
	for !p.bad {
		key := p.key()
		if p.want(':'); p.bad {
			return
		}
		if field(key); p.take('}') {
			return
		}
		p.want(',')
	}
}

func (p *jsonReader) strings() (all []string) {
	if p.want('['); p.take(']') {
		return nil
	}
	for !p.bad {
		all = append(all, p.string())
		if p.take(']') {
			return all
		}
		p.want(',')
	}
	return nil
}

// key gives a field's name, which R8 lets stand without quotes.
func (p *jsonReader) key() string {
	if p.space(); p.at < len(p.b) && p.b[p.at] == '"' {
		return p.string()
	}
	from := p.at
	for p.at < len(p.b) && bytes.IndexByte([]byte("\"':,{}[] \t"), p.b[p.at]) < 0 {
		p.at++
	}
	if p.at > from {
		return text(p.b[from:p.at])
	}
	return p.string()
}

// string gives a string that may share the line's bytes. R8 takes single quotes too.
func (p *jsonReader) string() string {
	p.space()
	if p.at == len(p.b) || p.b[p.at] != '"' && p.b[p.at] != '\'' {
		p.bad = true
		return ""
	}
	quote := p.b[p.at]
	p.at++
	from := p.at
	n := bytes.IndexByte(p.b[from:], quote)
	if n < 0 {
		p.bad = true
		return ""
	}
	if bytes.IndexByte(p.b[from:from+n], '\\') >= 0 {
		return p.escaped(from, quote)
	}
	p.at += n + 1
	return text(p.b[from : from+n])
}

// scalar gives a string, or the text of another value, which R8 takes for one; "" for null.
func (p *jsonReader) scalar() string {
	if p.space(); p.at < len(p.b) && (p.b[p.at] == '"' || p.b[p.at] == '\'') {
		return p.string()
	}
	from := p.at
	if p.skip(0); p.bad || string(p.b[from:p.at]) == "null" {
		return ""
	}
	return text(p.b[from:p.at])
}

// escaped reads a string from its beginning that holds an escape.
func (p *jsonReader) escaped(from int, quote byte) string {
	for p.at < len(p.b) && p.b[p.at] != quote {
		if p.b[p.at] == '\\' {
			p.at++
		}
		p.at++
	}
	if p.at >= len(p.b) {
		p.bad = true
		return ""
	}
	p.at++
	quoted := p.b[from-1 : p.at]
	if quote == '\'' { // as JSON has it
		inner := bytes.ReplaceAll(bytes.ReplaceAll(quoted[1:len(quoted)-1], []byte(`\'`), []byte("'")), []byte(`"`), []byte(`\"`))
		quoted = slices.Concat([]byte{'"'}, inner, []byte{'"'})
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		p.bad = true
	}
	return s
}

func (p *jsonReader) number() uint32 {
	p.space()
	from := p.at
	for p.at < len(p.b) && p.b[p.at] >= '0' && p.b[p.at] <= '9' {
		p.at++
	}
	v, err := strconv.ParseUint(text(p.b[from:p.at]), 10, 32)
	if err != nil {
		p.bad = true
	}
	return uint32(v)
}

// maxDepth is how deep skipped values may nest.
const maxDepth = 16

// skip passes over any value.
func (p *jsonReader) skip(depth int) {
	p.space()
	if p.at >= len(p.b) || depth > maxDepth {
		p.bad = true
		return
	}
	switch c := p.b[p.at]; c {
	case '{':
		p.object(func(string) { p.skip(depth + 1) })
	case '"', '\'':
		p.string()
	case '[':
		p.at++
		if p.take(']') {
			return
		}
		for !p.bad {
			if p.skip(depth + 1); p.take(']') {
				return
			}
			p.want(',')
		}
	default:
		from := p.at
		for p.at < len(p.b) && bytes.IndexByte([]byte(",]} \t"), p.b[p.at]) < 0 {
			p.at++
		}
		p.bad = p.bad || !json.Valid(p.b[from:p.at])
	}
}
