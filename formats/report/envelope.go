package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

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
