package tables

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/jsonline"
)

// errTaken: a field that would be added is there already.
var errTaken = fmt.Errorf("%w: the field exists; give --prefix", ErrInput)

// jsonRow is a line of NDJSON: the members of an object that have a role.
type jsonRow struct {
	form   shape
	values [roleCount][]byte // raw; nil: there is none
	pairs  []byte            // raw array of pairs
	end    int               // where the added members go: behind the last member that stays
	empty  bool              // no member stays
}

const roleCount = 8

func roleIndex(r Role) int {
	for i, x := range roles {
		if x == r {
			return i
		}
	}
	return -1
}

var errNoObject = errors.New("the line is no JSON object")

// parse reads a line.
func (r *jsonRow) parse(line []byte, c Columns, prefix string) error {
	*r = jsonRow{empty: true}
	if !json.Valid(line) {
		return errNoObject
	}
	s := jsonline.Scanner{B: line}
	s.Space()
	if !s.Eat('{') {
		return errNoObject
	}
	r.end = s.At
	added := addedNames
	stays := r.end // behind the last member before the added ones
	next := 0      // of the added names, where the tail is one of an earlier run
	for s.Space(); !s.Eat('}'); s.Space() {
		key := s.Key()
		s.Space()
		s.Eat(':')
		s.Space()
		start := s.At
		s.Value()
		value := line[start:s.At]
		end := s.At
		s.Space()
		s.Eat(',')
		if name, ok := strings.CutPrefix(key, prefix); ok && slices.Contains(allNames, name) {
			if next < len(added) && (added[next] == name || next == len(added)-1 && name == "chain") {
				next++
				continue
			}
			return errTaken
		}
		if next != 0 { // something stands behind them
			return errTaken
		}
		stays, r.empty = end, false
		r.take(key, value, c)
	}
	if next != 0 && next != len(added) {
		return errTaken
	}
	r.end = stays
	r.decide()
	return nil
}

// allNames are the fields that are added to frames, in their order, and chain, which stacks have in place of the last one.
var allNames = answers.Names()

// addedNames are the fields that are added, in their order; of stacks the last one is chain.
var addedNames = allNames[:len(allNames)-1]

// AddedNames returns the names of the columns that answers have, without a prefix: inlines are of frames, and chain of stacks.
func AddedNames() []string { return answers.Names() }

// take keeps a member that has a role.
func (r *jsonRow) take(key string, value []byte, c Columns) {
	for i, role := range roles {
		for _, name := range c.names(role) {
			if name == key {
				r.values[i] = value
				break
			}
			if list, _, ok := strings.Cut(name, "."); ok && list == key && len(value) > 0 && value[0] == '[' && (role == RoleArtifact || role == RoleAddress) {
				r.pairs = value
			}
		}
	}
}

// decide says what the row is.
func (r *jsonRow) decide() {
	address := r.values[roleIndex(RoleAddress)]
	switch {
	case address != nil && address[0] == '[':
		r.form = stacks
	case address != nil:
		r.form = frames
	case r.pairs != nil, r.values[roleIndex(RoleStack)] != nil:
		r.form = stacks
	}
}

// shaped: the row says what it is.
func (r *jsonRow) shaped() bool {
	return r.values[roleIndex(RoleAddress)] != nil || r.pairs != nil || r.values[roleIndex(RoleStack)] != nil
}

func (r *jsonRow) raw(role Role) []byte { return r.values[roleIndex(role)] }

// text returns a member as text; "" of null and of values that are neither text nor number.
func (r *jsonRow) text(role Role) string { return jsonline.Text(r.raw(role)) }

// number is a whole number, and 0 where it is none.
func (r *jsonRow) number(role Role) uint64 {
	n, _ := jsonline.Whole(r.text(role))
	return n
}

func (r *jsonRow) names(artifact string) names {
	return names{artifact: artifact, app: r.text(RoleApp), build: r.text(RoleBuild), platform: r.text(RolePlatform), frame0: r.text(RoleFrame0)}
}

// jsonAddress gives place and value of an address: a number, or text.
func (p *placer) jsonAddress(t *target, raw []byte, frame uint64) (uint32, uint64, error) {
	s := jsonline.Text(raw)
	if s == "" {
		n, err := p.noAddress()
		return n, 0, err
	}
	if raw[0] == '"' {
		return p.text(t, s, frame)
	}
	v, ok := jsonline.Whole(s)
	if !ok {
		return p.invalid(errors.New("the address is no whole number of 64 bits"))
	}
	place, value := p.number(t, v, frame)
	return place, value, nil
}

// extend writes a line with members added. A line without an object becomes an object that holds the line.
func (r *jsonRow) extend(w *bufio.Writer, line, said []byte, c Columns, prefix string) error {
	eol := line[len(bytes.TrimRight(line, "\r\n")):]
	err := r.parse(line, c, prefix)
	switch {
	case errors.Is(err, errTaken):
		return err
	case err != nil:
		text, name := line[:len(line)-len(eol)], "raw"
		if !utf8.Valid(text) {
			text, name = base64.StdEncoding.AppendEncode(nil, text), "raw_base64"
		}
		w.WriteByte('{')
		w.Write(jsonline.AppendText(nil, prefix+name))
		w.WriteByte(':')
		w.Write(jsonline.AppendText(nil, string(text)))
		w.Write(said)
	case r.empty:
		w.Write(line[:r.end])
		w.Write(said[1:]) // without the comma
	default:
		w.Write(line[:r.end])
		w.Write(said)
	}
	w.WriteByte('}')
	_, err = w.Write(eol)
	return err
}

// fields writes answers as members of an object.
type fields struct {
	keys  [8]string // with comma and colon
	form  shape
	inner [6]string
}

func newFields(prefix string, form shape) fields {
	f := fields{form: form, inner: [6]string{`{"frame":`, `,"status":`, `"function":`, `,"file":`, `,"line":`, `,"col":`}}
	for i, n := range addedNames {
		if i == len(addedNames)-1 && form == stacks {
			n = "chain"
		}
		key, _ := json.Marshal(prefix + n) // of a string: it cannot fail
		f.keys[i] = "," + string(key) + ":"
	}
	return f
}

// append writes an answer behind other members.
func (f *fields) append(to []byte, a *answers.Answer, texts []string) []byte {
	var top answers.Line
	if len(a.Lines) > 0 {
		top = a.Lines[0]
	}
	text := func(n uint32) { to = jsonline.AppendText(to, texts[n]) }
	orNull := func(n uint32) {
		if n == 0 {
			to = append(to, "null"...)
			return
		}
		text(n)
	}
	key := func(i int) { to = append(to, f.keys[i]...) }
	number := func(n uint32) { to = strconv.AppendUint(to, uint64(n), 10) }
	key(0)
	text(top.Function)
	key(1)
	text(top.File)
	key(2)
	number(top.Line)
	key(3)
	number(top.Col)
	key(4)
	text(a.Status)
	key(5)
	orNull(a.Reason)
	key(6)
	orNull(a.Group)
	key(7)
	to = append(to, '[')
	lines := a.Lines
	if f.form == frames && len(lines) > 0 {
		lines = lines[1:]
	}
	for i := range lines {
		l := &lines[i]
		if i > 0 {
			to = append(to, ',')
		}
		if f.form == stacks {
			to = append(to, f.inner[0]...)
			number(uint32(l.Frame))
			to = append(to, f.inner[1]...)
			text(l.Status)
			to = append(to, ',')
		} else {
			to = append(to, '{')
		}
		to = append(to, f.inner[2]...)
		text(l.Function)
		to = append(to, f.inner[3]...)
		text(l.File)
		to = append(to, f.inner[4]...)
		number(l.Line)
		to = append(to, f.inner[5]...)
		number(l.Col)
		to = append(to, '}')
	}
	return append(to, ']')
}

// cutLast parts a name at its last dot.
func cutLast(name string) (before, last string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}
