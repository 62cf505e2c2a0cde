package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// decode reads one JSON value into to. strict refuses members that are not known.
func decode(text []byte, to any, strict bool) (err error) {
	if !strict {
		err = json.Unmarshal(text, to)
	} else {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err = dec.Decode(to); err == nil && len(bytes.TrimSpace(text[dec.InputOffset():])) > 0 {
			err = errors.New("text follows the value")
		}
	}
	if err != nil {
		return badJSON(err)
	}
	return nil
}

// errNull refuses null, which would pass for any type.
func errNull() error {
	return failed(http.StatusBadRequest, "null stands in the body: leave out what is not said")
}

// counts are the parts of a JSON text, outside of strings. They are known before anything is decoded: a text of a few
// bytes an element would take a hundred times its size.
type counts struct {
	objects, arrays, commas int
	null                    bool
}

// count counts. The letter n begins no other word than null.
func count(text []byte) (n counts) {
	for quoted, i := false, 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			quoted = !quoted
		case b == '\\' && quoted:
			i++
		case quoted:
		case b == '{':
			n.objects++
		case b == '[':
			n.arrays++
		case b == ',':
			n.commas++
		case b == 'n':
			n.null = true
		}
	}
	return n
}

// members visits the members of an object; text is valid JSON.
func members(text []byte, visit func(name string, value []byte) error) error {
	return parts(text, func(part []byte) error {
		end := 1
		for part[end] != '"' {
			if part[end] == '\\' {
				end++
			}
			end++
		}
		var name string
		if err := json.Unmarshal(part[:end+1], &name); err != nil {
			return badJSON(err)
		}
		_, value, _ := bytes.Cut(part[end+1:], []byte{':'})
		return visit(name, bytes.TrimSpace(value))
	})
}

// parts visits what stands between the commas of an object or array; text is valid JSON.
func parts(text []byte, visit func(part []byte) error) error {
	text = bytes.TrimSpace(text)
	inside := text[1 : len(text)-1]
	if len(bytes.TrimSpace(inside)) == 0 {
		return nil
	}
	from, depth, quoted := 0, 0, false
	for i := 0; i <= len(inside); i++ {
		if i == len(inside) || inside[i] == ',' && depth == 0 && !quoted {
			if err := visit(bytes.TrimSpace(inside[from:i])); err != nil {
				return err
			}
			from = i + 1
			continue
		}
		switch b := inside[i]; {
		case b == '"':
			quoted = !quoted
		case b == '\\' && quoted:
			i++
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
	}
	return nil
}

// wellFormed refuses a text that is no JSON or does not begin with bracket, '{' or '['.
func wellFormed(text []byte, name string, bracket byte) error {
	if !json.Valid(text) {
		var skipped struct{}
		return badJSON(json.Unmarshal(text, &skipped))
	}
	if text = bytes.TrimSpace(text); text[0] != bracket {
		return failed(http.StatusBadRequest, "%q is of the wrong type: want %s", name, map[byte]string{'{': "object", '[': "array"}[bracket])
	}
	return nil
}

// integer reads a number of JSON that is whole, however it is written: 94, 94.0 and 9.4e1 are one.
func integer(text []byte) (uint64, error) {
	s := string(bytes.TrimSpace(text))
	if !strings.ContainsAny(s, ".eE") {
		return strconv.ParseUint(s, 10, 64)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f >= 1<<64 {
		return 0, errInteger
	}
	return uint64(f), nil
}

var errInteger = errors.New("want an integer from 0")

// badJSON names the mistake without quoting the text: the text may be secret, or long.
func badJSON(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var f *fail
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &syntax):
		return failed(http.StatusBadRequest, "no JSON: at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return failed(http.StatusBadRequest, "%.64q is of the wrong type: want %s", kind.Field, jsonType(kind.Type.Kind().String()))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return failed(http.StatusBadRequest, "no JSON: it ends too early")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok && len(name) < 64 {
		return failed(http.StatusBadRequest, "unknown member %s", name)
	}
	return failed(http.StatusBadRequest, "not the JSON that is wanted")
}

func jsonType(kind string) string {
	switch kind {
	case "slice", "array":
		return "array"
	case "struct", "map", "ptr":
		return "object"
	case "bool", "string":
		return kind
	}
	return "number"
}
