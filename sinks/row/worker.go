package row

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// WorkerID names one process that ingests, for as long as it runs.
type WorkerID [16]byte

// NewWorkerID returns a new id: 8 random bytes and 8 zeros, which records leave out.
func NewWorkerID() (id WorkerID) {
	rand.Read(id[:8]) // never fails: it stops the process instead
	return id
}

// short is the id without the zeros at its end.
func (id *WorkerID) short() []byte { return bytes.TrimRight(id[:], "\x00") }

func (id WorkerID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText writes the id in hex digits.
func (id WorkerID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *WorkerID) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(id) {
		return fmt.Errorf("worker %q: want %d hex digits", text, 2*len(id))
	}
	copy(id[:], b)
	return nil
}
