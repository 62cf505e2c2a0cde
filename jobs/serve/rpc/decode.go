package rpc

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/symlake/symlake/jobs/serve/protocol"
	"github.com/symlake/symlake/jobs/serve/symlakev1"
	"github.com/symlake/symlake/jobs/wire"
)

// stackFields are more fields than a raw stack has with all its names.
const stackFields = 256

// Stack decodes a raw stack.
func (m *message) Stack() (*protocol.Stack, error) {
	var said symlakev1.SymbolicateRequest
	if err := m.decode(&said, stackFields); err != nil {
		return nil, err
	}
	text := said.Data
	switch {
	case said.Text != "" && said.Data != nil:
		return nil, errors.New("want text or data, not both")
	case said.Data == nil:
		text = []byte(said.Text)
	}
	return &protocol.Stack{Text: text, App: said.App, Build: said.Build, Platform: said.Platform, Frame0: said.Frame0, Artifacts: said.Artifacts,
		Output: said.Output, Reading: wire.Reading{School: said.School, Regex: said.Regex, Verbose: said.Verbose},
		Dart: wire.Dart{IsolateStart: said.IsolateStart, VMStart: said.VmStart, Units: said.Units}}, nil
}

// Lookup decodes a look-up.
func (m *message) Lookup(most int) (*protocol.Lookup, error) {
	var said symlakev1.LookupRequest
	if err := m.decode(&said, most+16); err != nil {
		return nil, err
	}
	out := &protocol.Lookup{App: said.App, Arch: said.Arch, Context: said.Context}
	for _, q := range said.Queries {
		out.Artifacts, out.Positions = append(out.Artifacts, q.GetArtifact()), append(out.Positions, q.GetPosition())
	}
	return out, nil
}

// decode decodes a received message into to. It refuses more than most fields of it before it decodes any: an element of
// a list takes two bytes on the wire and a hundred in memory. Members that are not known are skipped, so that callers
// of a later version are answered.
func (m *message) decode(to proto.Message, most int) error {
	if m.json {
		return m.decodeJSON(to, most)
	}
	for text, n := m.text, 0; len(text) > 0; n++ {
		_, _, size := protowire.ConsumeField(text)
		if size < 0 {
			return fmt.Errorf("no message of protobuf: %w", protowire.ParseError(size))
		}
		if n == most {
			return protocol.ErrParts
		}
		text = text[size:]
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(m.text, to); err != nil {
		return errors.New("not the message that is wanted: a field has the wrong type, or a string is no UTF-8")
	}
	return nil
}

func (m *message) decodeJSON(to proto.Message, most int) error {
	if len(m.text) == 0 {
		return nil
	}
	parts, quoted := 0, false
	for i := 0; i < len(m.text); i++ {
		switch b := m.text[i]; {
		case b == '"':
			quoted = !quoted
		case b == '\\' && quoted:
			i++
		case !quoted && (b == ',' || b == '{' || b == '['):
			parts++
		}
	}
	if parts > 4*most {
		return protocol.ErrParts
	}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(m.text, to); err != nil {
		return errors.New("not the JSON that is wanted: a member has the wrong type, or the text is no JSON")
	}
	return nil
}
