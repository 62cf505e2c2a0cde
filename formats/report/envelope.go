package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/internal/json"
)

// item is an item of an envelope, as Sentry's libraries send them: a line of JSON, the payload's header, and so many
// bytes as the header says. Payloads may be files that are no text.
type item struct {
	header []byte
	length Length // in the header
	bytes  int64
}

// mostHeader is the length of the longest header of an item.
const mostHeader = 4 << 10

// itemOf returns the item with a header; nil: the text is none.
func itemOf(text []byte) *item {
	if len(text) > mostHeader || !bytes.HasSuffix(text, []byte{'\n'}) || !bytes.Contains(text, []byte(`"length"`)) {
		return nil
	}
	i := &item{header: text, length: Length{Kind: Decimal, From: len(text)}, bytes: -1}
	typed := false
	j := &json.Walker{Bytes: text}
	j.Object(func(key string) {
		switch key {
		case "type":
			typed = j.Text() != ""
		case "length":
			at := j.Pos
			j.Skip()
			if n, err := strconv.ParseInt(string(text[at:j.Pos]), 10, 64); err == nil {
				i.bytes, i.length.Span = n, [2]int{at, j.Pos}
			}
		}
	})
	if !typed || i.bytes < 0 || j.Failed {
		return nil
	}
	return i
}

// payload reads the payload of the item at hand, and hands the item out. It returns the reader of the rest: in, or
// another one, if there is no such payload.
func (s *splitter) payload(in *bufio.Reader) (io.Reader, error) {
	i := s.item
	s.item = nil
	if i.bytes > int64(s.options.documentBytes()) {
		s.jsonLong("")
		return in, s.longPayload(i, in)
	}
	b, err := io.ReadAll(io.LimitReader(in, i.bytes))
	rest := io.Reader(in)
	if err != nil && !errors.Is(err, io.EOF) {
		rest = io.MultiReader(in, failing{err})
	}
	next, _ := in.Peek(1)
	if int64(len(b)) < i.bytes || len(next) > 0 && next[0] != '\n' && next[0] != '\r' {
		s.kind = 0
		return io.MultiReader(bytes.NewReader(b), rest), s.again(i.header)
	}
	return rest, s.readItem(i, b)
}

// longPayload passes on an item that is too long.
func (s *splitter) longPayload(i *item, in io.Reader) error {
	if err := s.text(i.header, i.header, len(i.header)); err != nil {
		return err
	}
	piece := make([]byte, textBytes)
	for left := i.bytes; left > 0; {
		n, _ := io.ReadFull(in, piece[:min(left, textBytes)])
		if n == 0 {
			return nil // the error is told where the rest is read
		}
		if err := s.text(piece[:n], piece[:n], n); err != nil {
			return err
		}
		left -= int64(n)
	}
	return nil
}

// readItem hands out an item with its payload.
func (s *splitter) readItem(i *item, payload []byte) error {
	whole := append(i.header[:len(i.header):len(i.header)], payload...)
	i.length.End = len(whole)
	if !s.options.Takes(documentRoom(whole)) {
		return s.options.full()
	}
	var made *Report
	switch {
	case jsonBegins(payload):
		same := bytes.Clone(whole)
		for k := range i.header {
			same[k] = ' '
		}
		if made = readStrings(s.values.read(same, s.options), same, s.dialects, splitOnce, s.options); made != nil {
			made.counted = &i.length
		}
	case utf8.Valid(payload) && bytes.IndexByte(payload, 0) < 0:
		made = readParts(whole, &Parts{Texts: []Part{{Span: [2]int{len(i.header), len(whole)}}}, Lengths: []Length{i.length}}, s.dialects, splitOnce, s.options)
	}
	if done, err := s.handOut(made, whole); done || err != nil {
		return err
	}
	return s.text(whole, whole, len(whole))
}
