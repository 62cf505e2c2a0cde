package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// message is a message on its way: encoded when it comes, a proto.Message when it goes. The server has it decoded once it
// has taken memory for that.
type message struct {
	text []byte
	json bool
	send proto.Message
}

// Len returns the length of a received message, in bytes.
func (m *message) Len() int { return len(m.text) }

// codec is an encoding of messages by its name in Content-Type: proto or json.
type codec string

// Name returns the name.
func (c codec) Name() string { return string(c) }

// Marshal encodes a message that goes, or the status of a call.
func (c codec) Marshal(v any) ([]byte, error) {
	if m, ok := v.(*message); ok {
		v = m.send
	}
	p, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("encode %T: it is no message", v)
	}
	if c == "json" {
		text, err := protojson.Marshal(p)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer // protojson puts spaces in by chance
		err = json.Compact(&out, text)
		return out.Bytes(), err
	}
	return proto.Marshal(p)
}

// Unmarshal keeps a copy of the bytes in a message.
func (c codec) Unmarshal(text []byte, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("decode %T: it is no message", v)
	}
	m.text, m.json = append([]byte(nil), text...), c == "json"
	return nil
}
