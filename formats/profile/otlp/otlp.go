// Package otlp reads, answers and writes profiles of OpenTelemetry, in protobuf and in JSON.
//
// It knows the shapes of opentelemetry-proto since version 1.4 (signal profiles, v1development): tables in each profile, in
// the message, and in a dictionary. Messages stand alone, behind a length (a varint, four bytes, or a frame of gRPC),
// or, in JSON, one behind the other.
//
// Locations of machine code without lines get lines. Lines of Java and Kotlin, and of scripts, are replaced
// where a mapping or a source map knows better. Tables grow at their end: all indexes stay.
//
// Invariants:
//   - a message is in memory as a whole, up to the room of the options. Its tables and answers take as much again. A message
//     that cannot be read, or that takes more, stays as it came;
//   - fields and members that the package does not know stay as they came;
//   - a message without answers is written byte for byte.
package otlp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/otlp/internal/carriage"
)

// formName is the name of the form and of its folder.
const formName = "otlp"

// Format is profiles of OpenTelemetry.
var Format = &profile.Format{
	Name:    formName,
	Title:   "OpenTelemetry profiles",
	Endings: []string{".otlp", ".otlp.pb", ".otlp.json", ".otlp.jsonl"},
	Media:   []string{"application/x-protobuf; messageType=opentelemetry.proto.profiles.v1development.ProfilesData"},
	Begins:  begins,
	Answer:  answer,
	Samples: readSamples,
}

// begins reports whether head begins profiles of OpenTelemetry.
func begins(head []byte) bool {
	_, ok := carriage.Of(head)
	return ok
}

// answer writes an input with answers.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	shared := newRun(o.Room())
	return each(ctx, in, o.Room(), func(p *carriage.Part, c carriage.Carriage) error {
		if p.Why != "" {
			o.Counts.Keep(p.Why, fmt.Sprintf("message at %#x", p.At))
		}
		if p.Why != "" || p.Blank {
			_, err := out.Write(p.Bytes)
			return err
		}
		m := &message{reader: reader{b: p.Bytes, json: c == carriage.Objects}, o: o, run: shared, at: p.At, left: o.Room() * (100 - knownShare) / 100}
		grown, err := m.answer(ctx)
		if err != nil {
			return err
		}
		length := p.Length
		if grown != 0 {
			length = c.AppendLength(nil, len(p.Bytes)+grown)
		}
		if _, err := out.Write(length); err != nil {
			return err
		}
		return m.write(out)
	})
}

// each visits the parts of an input.
func each(ctx context.Context, in *profile.Input, room int64, visit func(p *carriage.Part, c carriage.Carriage) error) error {
	r, err := in.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	br := bufio.NewReaderSize(r, profile.HeadBytes)
	head, err := br.Peek(profile.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && len(head) == 0 {
		return err
	}
	c, ok := carriage.Of(head)
	if !ok {
		return &formats.Error{Format: formName, Want: "profiles of OpenTelemetry", Err: formats.ErrCorrupt}
	}
	all := &carriage.Messages{In: br, C: c, Most: int(min(room, carriage.MostBytes))}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := all.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(&p, c); err != nil {
			return err
		}
	}
}

// Message answers one message that is in memory, in protobuf or JSON. It returns the message itself if there are no answers. The error
// is ctx's or of Options.Ask. A message that cannot be read stays as it came, and o.Counts say so.
func Message(ctx context.Context, b []byte, json bool, o *profile.Options) (answered []byte, err error) {
	o.Counts.Format = formName
	err = formats.Guard(formName, func() error {
		m := &message{reader: reader{b: b, json: json}, o: o, run: newRun(o.Room()), left: o.Room()}
		grown, err := m.answer(ctx)
		if err != nil || len(m.edits) == 0 {
			answered = b
			return err
		}
		var out bytes.Buffer
		out.Grow(len(b) + grown)
		err = m.write(&out)
		answered = out.Bytes()
		return err
	})
	return answered, err
}

// answer reads a message, has its places answered, and makes its edits. It returns how many bytes the message grows.
func (m *message) answer(ctx context.Context) (grown int, err error) {
	places := m.o.Counts.Places
	err = m.read()
	m.o.Counts.Samples += m.samples
	for i := 0; i < len(m.sets) && err == nil; i++ {
		err = m.sets[i].ask(ctx, m.o)
	}
	if err == nil {
		err = m.inside(ctx)
	}
	if err == nil {
		grown, err = m.settle()
	}
	var cut *damage
	switch {
	case err == nil:
		return grown, nil
	case errors.As(err, &cut):
		m.o.Counts.Keep(cut.Error(), m.where("byte", cut.at))
	case errors.Is(err, errRoom):
		m.o.Counts.Keep(errRoom.Error(), m.where("place", int(m.o.Counts.Places-places)))
	default:
		return 0, err
	}
	m.edits, m.boxes = nil, nil
	return 0, nil
}
