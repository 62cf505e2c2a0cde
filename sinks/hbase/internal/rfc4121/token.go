package rfc4121

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/types"
)

// ErrTampered says that a token is not as the other side sent it, or comes out of turn.
var ErrTampered = errors.New("the protected stream was changed on its way")

const headerSize = 16 // of a wrap token

// Flags of a wrap token.
const (
	fromAcceptor = 1
	sealed       = 2
	acceptorKey  = 4
	knownFlags   = fromAcceptor | sealed | acceptorKey
)

// Wrapper makes and opens the tokens of one context. Wrap and Unwrap may run side by side.
type Wrapper struct {
	// Privacy encrypts tokens; else they are only checked. Change it between tokens.
	Privacy bool

	out, in *sealer
	flags   byte   // of all our tokens
	theirs  byte   // of all tokens of the other side
	send    uint64 // number of our next token
	receive uint64 // number of their next token
}

// New makes the initiator's end of a context, or with acceptor the acceptor's. key is the context's key; subkey says that
// the acceptor chose it. send and receive are the numbers of the first tokens.
func New(key types.EncryptionKey, subkey, acceptor bool, send, receive uint64) (*Wrapper, error) {
	w := &Wrapper{theirs: fromAcceptor, send: send, receive: receive}
	ours, theirs := uint32(keyusage.GSSAPI_INITIATOR_SEAL), uint32(keyusage.GSSAPI_ACCEPTOR_SEAL)
	if acceptor {
		ours, theirs, w.flags, w.theirs = theirs, ours, fromAcceptor, 0
	}
	if subkey {
		w.flags, w.theirs = w.flags|acceptorKey, w.theirs|acceptorKey
	}
	var err error
	if w.out, err = newSealer(key, ours); err == nil {
		w.in, err = newSealer(key, theirs)
	}
	return w, err
}

// Overhead is how much longer a token is than its content.
func (w *Wrapper) Overhead() int {
	if w.Privacy {
		return headerSize + blockSize + headerSize + w.out.size
	}
	return headerSize + w.out.size
}

// Wrap appends one token around parts to dst.
func (w *Wrapper) Wrap(dst []byte, parts ...[]byte) []byte {
	var h [headerSize]byte
	h[0], h[1], h[2], h[3] = 5, 4, w.flags, 0xff
	binary.BigEndian.PutUint64(h[8:], w.send)
	w.send++
	if !w.Privacy {
		at := len(dst)
		dst = append(dst, h[:]...)
		body := len(dst)
		for _, p := range parts {
			dst = append(dst, p...)
		}
		sum := w.out.checksum(dst[body:], dst[at:body])
		binary.BigEndian.PutUint16(dst[at+4:], uint16(len(sum)))
		return append(dst, sum...)
	}
	h[2] |= sealed
	dst = append(dst, h[:]...)
	body := len(dst)
	dst = append(dst, zero[:]...)
	_, _ = rand.Read(dst[body:]) // ends the program if the system has no chance to give
	for _, p := range parts {
		dst = append(dst, p...)
	}
	dst = append(dst, h[:]...)
	return append(dst, w.out.seal(dst[body:])...)
}

// Unwrap opens a token in place: the answer is a part of token. With either, the token may be encrypted or not; else it
// is as Privacy says. Each error is ErrTampered, and the Wrapper takes the same number once more.
func (w *Wrapper) Unwrap(token []byte, either bool) ([]byte, error) {
	if len(token) < headerSize {
		return nil, fmt.Errorf("%w: a token of %d bytes", ErrTampered, len(token))
	}
	h, body := token[:headerSize], token[headerSize:]
	isSealed := h[2]&sealed != 0
	switch {
	case h[0] != 5 || h[1] != 4 || h[3] != 0xff:
		return nil, fmt.Errorf("%w: no wrap token (%x)", ErrTampered, h[:4])
	case h[2]&^knownFlags != 0 || h[2]&^sealed != w.theirs:
		return nil, fmt.Errorf("%w: flags %d of a token", ErrTampered, h[2])
	case !either && isSealed != w.Privacy:
		return nil, fmt.Errorf("%w: a token is encrypted: %v; agreed was: %v", ErrTampered, isSealed, w.Privacy)
	}
	if n := binary.BigEndian.Uint64(h[8:]); n != w.receive {
		return nil, fmt.Errorf("%w: token number %d in place of number %d", ErrTampered, n, w.receive)
	}
	extra, rotated := int(binary.BigEndian.Uint16(h[4:])), int(binary.BigEndian.Uint16(h[6:]))
	if len(body) > 0 && rotated%len(body) != 0 {
		rotateLeft(body, rotated%len(body))
	}
	var err error
	if isSealed {
		body, err = w.opened(h, body, extra)
	} else {
		body, err = w.checked(h, body, extra)
	}
	if err != nil {
		return nil, err
	}
	w.receive++
	return body, nil
}

// opened decrypts {text ‖ filler ‖ header}.
func (w *Wrapper) opened(h, body []byte, filler int) ([]byte, error) {
	n := len(body) - w.in.size
	if n < blockSize+headerSize+filler {
		return nil, fmt.Errorf("%w: an encrypted token of %d bytes", ErrTampered, len(body))
	}
	if !w.in.open(body[:n], body[n:]) {
		return nil, fmt.Errorf("%w: the checksum of token %d", ErrTampered, w.receive)
	}
	inner := body[n-headerSize : n]
	h[6], h[7] = 0, 0 // the rotation came after the encryption
	if subtle.ConstantTimeCompare(h, inner) != 1 {
		return nil, fmt.Errorf("%w: the header of token %d", ErrTampered, w.receive)
	}
	return body[blockSize : n-headerSize-filler], nil
}

// checked verifies {text ‖ checksum}.
func (w *Wrapper) checked(h, body []byte, size int) ([]byte, error) {
	if size != w.in.size || len(body) < size {
		return nil, fmt.Errorf("%w: a token of %d bytes with a checksum of %d", ErrTampered, len(body), size)
	}
	h[4], h[5], h[6], h[7] = 0, 0, 0, 0
	text, sum := body[:len(body)-size], body[len(body)-size:]
	if subtle.ConstantTimeCompare(w.in.checksum(text, h), sum) != 1 {
		return nil, fmt.Errorf("%w: the checksum of token %d", ErrTampered, w.receive)
	}
	return text, nil
}

// rotateLeft moves the first n bytes to the end.
func rotateLeft(b []byte, n int) {
	slices.Reverse(b[:n])
	slices.Reverse(b[n:])
	slices.Reverse(b)
}
