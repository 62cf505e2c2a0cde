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

// Secret is the data key of a load. It is made before the load where positions depend on it. Safe for
// concurrent use.
type Secret struct {
	data  []byte
	once  sync.Once
	names *namer // made by once: most loads have no classes
}

// NewSecret makes a data key.
func NewSecret() *Secret {
	s := &Secret{data: make([]byte, secretBytes)}
	rand.Read(s.data) // never fails: it stops the process instead
	return s
}

// Position returns the position of a class, by its name in the program.
func (s *Secret) Position(class string) uint64 {
	s.once.Do(func() {
		names, err := newNamer(s.data)
		if err != nil {
			panic(err) // the length of the key is a constant
		}
		s.names = names
	})
	return s.names.position(class)
}

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
