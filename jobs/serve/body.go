package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// body reads all of the request, within the limit.
func (c *call) body() ([]byte, error) {
	if e := c.r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, failed(http.StatusUnsupportedMediaType, "no Content-Encoding is known")
	}
	if c.r.ContentLength > c.limits.BodyBytes {
		return nil, &http.MaxBytesError{Limit: c.limits.BodyBytes}
	}
	var b bytes.Buffer
	if n := c.r.ContentLength; n > 0 {
		b.Grow(int(min(n, 1<<20)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(http.MaxBytesReader(c, c.r.Body, c.limits.BodyBytes)); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) || c.ctx.Err() != nil {
			return nil, err
		}
		return nil, failed(http.StatusBadRequest, "the body breaks off")
	}
	return b.Bytes(), nil
}

// mediaType is that of the body; "" where it is not said.
func (c *call) mediaType() string {
	t, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil {
		return strings.TrimSpace(strings.ToLower(c.r.Header.Get("Content-Type")))
	}
	return t
}

// parse reads a JSON body. strict refuses members that are not known.
func (c *call) parse(to any, strict bool) error {
	text, err := c.body()
	if err != nil {
		return err
	}
	if !strict {
		err = json.Unmarshal(text, to)
	} else {
		if hasNull(text) {
			return failed(http.StatusBadRequest, "null stands in the body: leave out what is not said")
		}
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

// hasNull reports whether a null stands in JSON, which would pass for any type. The letter n has no other word
// outside of strings.
func hasNull(text []byte) bool {
	for quoted, i := false, 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			quoted = !quoted
		case b == '\\' && quoted:
			i++
		case b == 'n' && !quoted:
			return true
		}
	}
	return false
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

// badJSON says what is wrong, without the text: it may be secret, or long.
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
		return failed(http.StatusBadRequest, "%q is of the wrong type: want %s", kind.Field, jsonType(kind.Type.Kind().String()))
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

// json answers with a value.
func (c *call) json(code int, v any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("encode an answer: %v", err))
	}
	c.send(code, "application/json", text.Bytes())
}

// send answers with a body. An error of the connection is the caller's affair.
func (c *call) send(code int, kind string, body []byte) {
	h := c.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	c.WriteHeader(code)
	if c.r.Method != http.MethodHead {
		c.Write(body)
	}
}
