package token

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kinds of tokens.
const (
	KindHBase = "HBASE_AUTH_TOKEN"
	KindHDFS  = "HDFS_DELEGATION_TOKEN"
)

// Token is one delegation token.
type Token struct {
	Identifier, Password []byte
	Kind, Service        string
}

// String names the token without its secret.
func (t Token) String() string { return t.Kind + " for " + t.Service }

const (
	maxFile   = 4 << 20
	maxTokens = 10_000
)

// Read reads a file of tokens.
func Read(path string) ([]Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	var list []Token
	if err == nil {
		list, err = Parse(b)
	}
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return list, nil
}

var errShort = errors.New("it ends in the middle of a token")

// Parse reads the bytes of a file of tokens.
func Parse(b []byte) ([]Token, error) {
	rest, ok := bytes.CutPrefix(b, []byte("HDTS"))
	if !ok || len(rest) == 0 {
		return nil, errors.New("it does not begin with HDTS: it is no file of Hadoop's tokens")
	}
	switch version, rest := rest[0], rest[1:]; version {
	case 0:
		return writable(rest)
	case 1:
		return protobuf(rest)
	default:
		return nil, fmt.Errorf("it has version %d, and symlake knows 0 and 1", version)
	}
}

// writable reads version 0: a number of tokens, each an alias, identifier, password, kind and service. Secret keys
// follow. They do not matter here.
func writable(b []byte) ([]Token, error) {
	n, b, err := vint(b)
	if err != nil || n > maxTokens {
		return nil, fmt.Errorf("it counts %d tokens: %w", n, errShort)
	}
	var list []Token
	for range n {
		var part [5][]byte
		for i := range part {
			var size int
			if size, b, err = vint(b); err != nil || size > len(b) {
				return nil, errShort
			}
			part[i], b = b[:size], b[size:]
		}
		list = append(list, Token{part[1], part[2], string(part[3]), string(part[4])})
	}
	return list, nil
}

// vint reads a number as Hadoop's WritableUtils writes it. It is not below 0.
func vint(b []byte) (n int, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, errShort
	}
	first := int8(b[0])
	if first >= 0 {
		return int(first), b[1:], nil
	}
	size := int(-112 - int(first)) // 1 to 8 bytes; beyond that the number is below 0
	if first >= -112 || size < 1 || size > 4 || len(b) < 1+size {
		return 0, nil, errShort
	}
	var wide [8]byte
	copy(wide[8-size:], b[1:1+size])
	v := binary.BigEndian.Uint64(wide[:])
	if v > maxFile {
		return 0, nil, errShort
	}
	return int(v), b[1+size:], nil
}

// protobuf reads version 1: one message with its length before it.
func protobuf(b []byte) ([]Token, error) {
	m, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, errShort
	}
	var list []Token
	err := fields(m, func(id protowire.Number, entry []byte) error {
		if id != 1 {
			return nil
		}
		if len(list) == maxTokens {
			return fmt.Errorf("it has more than %d tokens", maxTokens)
		}
		var t Token
		found := false
		err := fields(entry, func(id protowire.Number, body []byte) error {
			if id != 2 {
				return nil
			}
			found = true
			return fields(body, func(id protowire.Number, v []byte) error {
				switch id {
				case 1:
					t.Identifier = v
				case 2:
					t.Password = v
				case 3:
					t.Kind = string(v)
				case 4:
					t.Service = string(v)
				}
				return nil
			})
		})
		if found {
			list = append(list, t)
		}
		return err
	})
	return list, err
}

// fields hands out the fields of a message that have bytes.
func fields(b []byte, take func(id protowire.Number, v []byte) error) error {
	for len(b) > 0 {
		id, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errShort
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(id, kind, b)
		if size < 0 {
			return errShort
		}
		if kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b)
			if err := take(id, v); err != nil {
				return err
			}
		}
		b = b[size:]
	}
	return nil
}
