package namenode

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
)

const (
	saslMagic  = 0xdeadbeef
	maxMessage = 64 << 10 // bytes of a step of a login at a DataNode
	aesCTR     = 2        // AES/CTR/NoPadding
)

// BlockToken takes the token out of the first bytes that a client sends to a DataNode: version, operation, and a
// message with the token in its header.
func BlockToken(op []byte) (*Token, error) {
	if len(op) < 3 {
		return nil, errors.New("no operation of a DataNode's")
	}
	b, n := protowire.ConsumeBytes(op[3:])
	if n < 0 {
		return nil, errors.New("no operation of a DataNode's")
	}
	t := &Token{}
	path := []protowire.Number{1, 1, 2} // operation, header, base, token
	for _, want := range path {
		var next []byte
		if err := fields(b, func(num protowire.Number, _ uint64, v []byte) {
			if num == want {
				next = v
			}
		}); err != nil {
			return nil, err
		}
		b = next
	}
	return t, t.read(b)
}

// read takes a token's fields.
func (t *Token) read(b []byte) error {
	return fields(b, func(num protowire.Number, _ uint64, b []byte) {
		switch num {
		case 1:
			t.Identifier = b
		case 2:
			t.Password = b
		case 3:
			t.Kind = string(b)
		case 4:
			t.Service = string(b)
		}
	})
}

// transferMessage is one step of a login at a DataNode.
type transferMessage struct {
	status  uint64
	payload []byte
	text    string
	keys    [4][]byte // key and vector of what the DataNode takes, then of what it gives
	ciphers int
}

// Protect logs in at a DataNode and returns the connection protected. m speaks as the block's token, or as the
// encryption key of all blocks, says.
func Protect(nc net.Conn, m sasl.Mechanism) (net.Conn, error) {
	if _, _, err := m.Step(nil); err != nil {
		return nil, err
	}
	if _, err := nc.Write(appendTransfer(binary.BigEndian.AppendUint32(nil, saslMagic), nil, false)); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(nc, 4<<10)
	challenge, err := readTransfer(in)
	if err != nil {
		return nil, err
	}
	response, _, err := m.Step(challenge.payload)
	if err != nil {
		return nil, err
	}
	if _, err := nc.Write(appendTransfer(nil, response, m.Layer() == sasl.Privacy)); err != nil {
		return nil, err
	}
	last, err := readTransfer(in)
	if err != nil {
		return nil, err
	}
	if _, done, err := m.Step(last.payload); err != nil || !done {
		return nil, errors.Join(err, sasl.ErrServer)
	}
	if in.Buffered() > 0 { // the DataNode waits for the operation
		return nil, sasl.ErrServer
	}
	if last.ciphers == 0 || m.Layer() != sasl.Privacy {
		return sasl.NewConn(nc, m), nil
	}
	c := &aesConn{Conn: nc}
	if c.write, err = stream(m, last.keys[0], last.keys[1]); err == nil {
		c.read, err = stream(m, last.keys[2], last.keys[3])
	}
	return c, err
}

// stream opens a key that the login protects.
func stream(m sasl.Mechanism, sealed, vector []byte) (cipher.Stream, error) {
	key, err := m.Unwrap(sealed)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	if len(vector) != block.BlockSize() {
		return nil, fmt.Errorf("a vector of %d bytes for AES", len(vector))
	}
	return cipher.NewCTR(block, vector), nil
}

// aesConn encrypts each direction as a stream.
type aesConn struct {
	net.Conn
	read, write cipher.Stream
	out         []byte
}

func (c *aesConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.XORKeyStream(p[:n], p[:n])
	return n, err
}

func (c *aesConn) Write(p []byte) (int, error) {
	if cap(c.out) < len(p) {
		c.out = make([]byte, len(p))
	}
	out := c.out[:len(p)]
	c.write.XORKeyStream(out, p)
	return c.Conn.Write(out)
}

func appendTransfer(dst, payload []byte, encrypt bool) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0)
	if payload != nil {
		b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), payload)
	}
	if encrypt {
		suite := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), aesCTR)
		b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), suite)
	}
	return protowire.AppendBytes(dst, b)
}

func readTransfer(in *bufio.Reader) (*transferMessage, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	if n > maxMessage {
		return nil, fmt.Errorf("a step of %d bytes: it does not log in as HDFS does", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, err
	}
	m := &transferMessage{}
	var inner error
	err = fields(b, func(num protowire.Number, v uint64, b []byte) {
		switch num {
		case 1:
			m.status = v
		case 2:
			m.payload = b
		case 3:
			m.text = string(b)
		case 4:
			m.ciphers++
			inner = errors.Join(inner, fields(b, func(num protowire.Number, _ uint64, b []byte) {
				if num >= 2 && num <= 5 {
					m.keys[num-2] = b
				}
			}))
		}
	})
	if err = errors.Join(err, inner); err == nil && m.status != 0 {
		err = fmt.Errorf("%w: it refuses the login: %s", sasl.ErrServer, line(m.text))
	}
	return m, err
}
