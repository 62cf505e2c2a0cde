package report

import (
	"bytes"
	"context"
	"io"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report/internal/input"
	"github.com/symlake/symlake/formats/room"
)

// Split reads r to its end and hands out the reports that dialects find in it, and the text around
// them, in order: the Texts one after the other are the input. A report ends where the next one
// begins, or where it meets a bound of the package. The reports belong to emit.
//
// Where several dialects know a line, the first of them reads it.
//
// Split returns emit's error unchanged; also the reader's, after all that was read before it has been
// handed out. It asks the room in ctx for memory beyond that of the text, and returns its error too.
func Split(ctx context.Context, r io.Reader, dialects []Dialect, o Options, emit func(*Report) error) error {
	o.bound = &bound{take: room.Of(ctx)}
	in := input.Buffered(r)
	if from, err := readFile(in, dialects, o, emit); err != nil {
		return err
	} else if from != in {
		in = input.Buffered(from)
	} else {
		in = input.Decoded(in)
	}
	s := newSplitter(dialects, o, emit)
	lines, p := input.Reader{In: in}, input.Piece{Ends: true}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := lines.Next(&p)
		if err == nil {
			if err := s.take(&p); err != nil {
				return err
			}
			if s.item != nil {
				rest, err := s.payload(lines.In)
				if err != nil {
					return err
				}
				if rest != lines.In {
					lines = input.Reader{In: input.Buffered(rest)}
				}
			}
			continue
		}
		if closed := s.close(); closed != nil {
			return closed
		}
		if err == io.EOF {
			return nil
		}
		return err
	}
}

// take takes a piece of the input. It decodes whole lines.
func (s *splitter) take(p *input.Piece) error {
	b := p.Bytes
	s.stream = true
	if !p.Odd || !p.Begins || !p.Ends {
		return s.piece(b, b, p.Begins, p.Ends)
	}
	plain := input.Plain(b)
	if p.Last && bytes.HasSuffix(b, []byte{'\r'}) { // half of a line end, perhaps
		plain = append(bytes.TrimSuffix(plain, []byte{'\n'}), '\r')
	}
	if s.document == nil && s.json == nil && !jsonBegins(scan.Unmarked(b, scan.LineMarks)) && beginsBehind(b) == 0 {
		if text := s.unescaped(plain); text != nil {
			s.stream = false
			return s.each(text)
		}
	}
	return s.piece(b, plain, true, true)
}
