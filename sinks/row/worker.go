package row

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// WorkerID names one process that ingests, for as long as it runs.
type WorkerID [16]byte

// NewWorkerID is a new one.
func NewWorkerID() (id WorkerID) {
	rand.Read(id[:]) // never fails: it stops the process instead
	return id
}

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
