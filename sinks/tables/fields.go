package tables

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// errTaken: a field that would be added is there already.
var errTaken = fmt.Errorf("%w: the field exists; give --prefix", errInput)

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
	s := scanner{b: line}
	s.space()
	if !s.eat('{') {
		return errNoObject
	}
	r.end = s.at
	added := addedNames
	stays := r.end // behind the last member before the added ones
	next := 0      // of the added names, where the tail is one of an earlier run
	for s.space(); !s.eat('}'); s.space() {
		key := s.key()
		s.space()
		s.eat(':')
		s.space()
		start := s.at
		s.value()
		value := line[start:s.at]
		end := s.at
		s.space()
		s.eat(',')
		if name, ok := strings.CutPrefix(key, prefix); ok && isAdded(name) {
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

// addedNames are the fields that are added, in their order; of stacks the last one is chain.
var addedNames = []string{"function", "file", "line", "col", "status", "reason", "group", "inlines"}

func isAdded(name string) bool {
	return name == "chain" || slices.Contains(addedNames, name)
}

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
func (r *jsonRow) text(role Role) string { return jsonText(r.raw(role)) }

func jsonText(raw []byte) string {
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '"':
		if bytes.IndexByte(raw, '\\') < 0 {
			return string(raw[1 : len(raw)-1])
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw)
	}
	return ""
}

// number is a whole number; 0 of anything else.
func (r *jsonRow) number(role Role) uint64 {
	n, _ := strconv.ParseUint(withoutFraction(r.text(role)), 10, 64)
	return n
}

func (r *jsonRow) names(artifact string) names {
	return names{artifact: artifact, app: r.text(RoleApp), build: r.text(RoleBuild), platform: r.text(RolePlatform), frame0: r.text(RoleFrame0)}
}

// withoutFraction returns a JSON number without a fraction of zeros, and in digits where it has an exponent and is whole.
// A number that is not whole comes back as it is.
func withoutFraction(s string) string {
	if whole, fraction, ok := strings.Cut(s, "."); ok && strings.Trim(fraction, "0") == "" {
		return whole
	}
	if !strings.ContainsAny(s, "eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return s
	}
	return strconv.FormatInt(int64(f), 10)
}

// jsonAddress gives place and value of an address: a number, or text.
func (p *placer) jsonAddress(t *target, raw []byte, frame uint64) (uint32, uint64, error) {
	s := jsonText(raw)
	if s == "" {
		n, err := p.noAddress()
		return n, 0, err
	}
	if raw[0] == '"' {
		return p.text(t, s, frame)
	}
	v, err := strconv.ParseUint(withoutFraction(s), 10, 64)
	if err != nil {
		if i, ierr := strconv.ParseInt(withoutFraction(s), 10, 64); ierr == nil {
			v = uint64(i) // a signed 64-bit column printed it
		} else if errors.Is(err, strconv.ErrRange) && !strings.ContainsAny(s, ".eE-") {
			v = math.MaxUint64
		} else {
			return p.invalid(errors.New("the address is no whole number of 64 bits"))
		}
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
		w.Write(appendText(nil, prefix+name))
		w.WriteByte(':')
		w.Write(appendText(nil, string(text)))
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
func (f *fields) append(to []byte, a *Answer, texts []string) []byte {
	var top Line
	if len(a.Lines) > 0 {
		top = a.Lines[0]
	}
	text := func(n uint32) { to = appendText(to, texts[n]) }
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

// appendText writes a string as JSON.
func appendText(to []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return append(append(append(to, '"'), s...), '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // of a string: it cannot fail
	return append(to, bytes.TrimRight(b.Bytes(), "\n")...)
}

// scanner walks JSON that is valid.
type scanner struct {
	b  []byte
	at int
}

func (s *scanner) space() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\t' || s.b[s.at] == '\r' || s.b[s.at] == '\n') {
		s.at++
	}
}

func (s *scanner) eat(c byte) bool {
	if s.at < len(s.b) && s.b[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) key() string {
	from := s.at
	s.value()
	return jsonText(s.b[from:s.at])
}

// value skips a value.
func (s *scanner) value() {
	depth := 0
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case '"':
			for s.at++; s.b[s.at] != '"'; s.at++ {
				if s.b[s.at] == '\\' {
					s.at++
				}
			}
			s.at++
		case '{', '[':
			depth++
			s.at++
			continue
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
			s.at++
			continue
		default:
			for s.at < len(s.b) && strings.IndexByte(",:]} \t\r\n", s.b[s.at]) < 0 {
				s.at++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// cutLast parts a name at its last dot.
func cutLast(name string) (before, last string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}
