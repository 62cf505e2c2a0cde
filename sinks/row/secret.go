package row

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
)

// forClasses derives the key that classes get their positions with.
const forClasses = "symlake 1 classes"

// Secret is the data key of a load to be. It is made before the load where positions depend on it.
type Secret struct {
	data  []byte
	names *namer
}

// NewSecret makes a data key.
func NewSecret() (*Secret, error) {
	s := &Secret{data: make([]byte, secretBytes)}
	rand.Read(s.data) // never fails: it stops the process instead
	return s, s.derive()
}

func (s *Secret) derive() (err error) {
	s.names, err = newNamer(s.data)
	return err
}

// Position is that of a class, by its name in the program. Safe for concurrent use.
func (s *Secret) Position(class string) uint64 { return s.names.position(class) }

// namer gives classes their positions: the first 8 bytes of an HMAC of the name.
type namer struct{ macs sync.Pool }

func newNamer(secret []byte) (*namer, error) {
	key, err := derive(secret, forClasses, 32)
	if err != nil {
		return nil, err
	}
	return &namer{sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}, nil
}

func (n *namer) position(class string) uint64 {
	h := n.macs.Get().(hash.Hash)
	defer n.macs.Put(h)
	h.Reset()
	var buf [64]byte
	h.Write(append(buf[:0], class...))
	return binary.BigEndian.Uint64(h.Sum(buf[:0]))
}
