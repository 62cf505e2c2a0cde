package namenode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// Hadoop's RPC, version 9: a frame is a length of 4 bytes, a header and a body, each with its length as a varint.
const (
	rpcVersion  = 9
	authNone    = 0
	authSASL    = 0xdf
	contextCall = -3  // the number of the call that names the client
	saslCall    = -33 // of the calls that log in, and that protect others
	// maxFrame is Hadoop's own limit to an answer, in bytes.
	maxFrame = 128 << 20
	// frameStep is how much of a frame is allocated before its bytes are there.
	frameStep = 1 << 20
)

// States of SASL within RPC.
const (
	saslSuccess   = 0
	saslNegotiate = 1
	saslInitiate  = 2
	saslChallenge = 3
	saslResponse  = 4
	saslWrap      = 5
)

// errJunk says that the other side does not speak Hadoop's RPC.
var errJunk = errors.New("its answer is none of Hadoop's RPC: check the port")

// readFrame reads a frame without its length.
func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, fmt.Errorf("%w (a frame of %d bytes)", errJunk, n)
	}
	var b []byte
	for size := int(n); len(b) < size; {
		at := len(b)
		b = append(b, make([]byte, min(size-at, max(frameStep, at)))...)
		if _, err := io.ReadFull(r, b[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return b, nil
}

// appendFrame appends a frame of header and bodies.
func appendFrame(dst, header []byte, bodies ...[]byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = protowire.AppendBytes(dst, header)
	for _, b := range bodies {
		dst = protowire.AppendBytes(dst, b)
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// fields calls each with the fields of a message.
func fields(b []byte, each func(num protowire.Number, number uint64, bytes []byte)) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errJunk
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(b); n >= 0 {
				each(num, v, nil)
			}
		case protowire.BytesType:
			var v []byte
			if v, n = protowire.ConsumeBytes(b); n >= 0 {
				each(num, 0, v)
			}
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return errJunk
		}
		b = b[n:]
	}
	return nil
}

// parts cuts a frame into header and body; a frame of an exception has no body.
func parts(frame []byte) (header, body []byte, err error) {
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return nil, nil, errJunk
	}
	if frame = frame[n:]; len(frame) == 0 {
		return header, nil, nil
	}
	if body, n = protowire.ConsumeBytes(frame); n < 0 {
		return nil, nil, errJunk
	}
	return header, body, nil
}

// request is what Conn knows of a client's frame.
type request struct {
	frame  []byte // with its length
	call   int32
	client []byte // identity
	method string // "" in the first frame
	body   []byte // behind the header
}

func parseRequest(frame []byte) (*request, error) {
	if len(frame) < 4 || int(binary.BigEndian.Uint32(frame)) != len(frame)-4 {
		return nil, errors.New("a client's frame is not whole")
	}
	header, body, err := parts(frame[4:])
	if err != nil {
		return nil, err
	}
	q := &request{frame: frame, body: body}
	if err = fields(header, func(num protowire.Number, v uint64, b []byte) {
		switch num {
		case 3:
			q.call = int32(protowire.DecodeZigZag(v))
		case 4:
			q.client = b
		}
	}); err != nil {
		return nil, err
	}
	if q.call >= 0 { // else the body is no name of a method
		err = fields(body, func(num protowire.Number, _ uint64, b []byte) {
			if num == 1 {
				q.method = string(b)
			}
		})
	}
	return q, err
}

// param returns what the method is called with.
func (q *request) param() []byte {
	b := q.frame[4:]
	for range 2 { // the header, and the method's name
		_, n := protowire.ConsumeBytes(b)
		b = b[max(n, 0):]
	}
	v, _ := protowire.ConsumeBytes(b)
	return v[:len(v):len(v)]
}

// requestHeader is the header of a call of Conn's own.
func requestHeader(call int32, client []byte) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 2) // protocol buffers
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), 0)    // the whole call
	b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), protowire.EncodeZigZag(int64(call)))
	return protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), client)
}

const clientProtocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol"

// methodHeader names a method.
func methodHeader(protocol, method string) []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), method)
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), protocol)
	return protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), 1)
}

// greeting is the first frame after the login. user "" leaves it to the login.
func greeting(client []byte, protocol, user string) []byte {
	var b []byte
	if user != "" {
		who := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), user)
		b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), who)
	}
	b = protowire.AppendString(protowire.AppendTag(b, 3, protowire.BytesType), protocol)
	return appendFrame(nil, requestHeader(contextCall, client), b)
}

// answer is a frame of the NameNode.
type answer struct {
	call   int32
	failed bool
	Exception
	body []byte
}

// Exception is a NameNode's reason not to do a call.
type Exception struct{ Class, Text string }

func (e *Exception) Error() string { return e.Class + ": " + e.Text }

func parseAnswer(frame []byte) (*answer, error) {
	header, body, err := parts(frame)
	if err != nil {
		return nil, err
	}
	a := &answer{body: body}
	known := false
	err = fields(header, func(num protowire.Number, v uint64, b []byte) {
		switch num {
		case 1:
			a.call, known = int32(uint32(v)), true
		case 2:
			a.failed = v != 0
		case 4:
			a.Class = string(b)
		case 5:
			a.Text = string(b)
		}
	})
	if err == nil && !known {
		err = errJunk
	}
	return a, err
}

// okAnswer is the frame of an answer without content.
func okAnswer(call int32) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(uint32(call)))
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), 0)
	return appendFrame(nil, b, nil)
}

// Auth is a way to log in that a NameNode offers.
type Auth struct {
	Method    string // KERBEROS, TOKEN, SIMPLE
	Mechanism string
	Protocol  string // the first part of the server's principal
	Server    string // the second one: a host
	Challenge []byte // of a mechanism where the server speaks first

	plain []byte // as the NameNode wrote it, without the challenge: it compares
}

// saslMessage is one step of a login, or a protected piece.
type saslMessage struct {
	state uint64
	token []byte // nil: none
	auths []Auth
}

func (m *saslMessage) append(b []byte) []byte {
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), m.state)
	if m.token != nil {
		b = protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), m.token)
	}
	for _, a := range m.auths {
		b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), a.plain)
	}
	return b
}

func parseSASL(b []byte) (*saslMessage, error) {
	m := &saslMessage{}
	var inner error
	err := fields(b, func(num protowire.Number, v uint64, b []byte) {
		switch num {
		case 2:
			m.state = v
		case 3:
			m.token = b
			if b == nil {
				m.token = []byte{}
			}
		case 4:
			var a Auth
			inner = errors.Join(inner, fields(b, func(num protowire.Number, _ uint64, b []byte) {
				if num != 5 {
					a.plain = protowire.AppendBytes(protowire.AppendTag(a.plain, num, protowire.BytesType), b)
				}
				switch num {
				case 1:
					a.Method = string(b)
				case 2:
					a.Mechanism = string(b)
				case 3:
					a.Protocol = string(b)
				case 4:
					a.Server = string(b)
				case 5:
					a.Challenge = b
				}
			}))
			m.auths = append(m.auths, a)
		}
	})
	return m, errors.Join(err, inner)
}
