package scratch

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"

	"github.com/symlake/symlake/sinks/hostfile"
)

// Random is a scratch file that is read and written anywhere. A key that dies with the process hides its bytes; nothing
// tells of bytes that others change. Safe for concurrent use.
type Random struct {
	f     *os.File
	block cipher.Block
}

// NewRandom makes an empty file in dir ("": the system's folder for such).
func NewRandom(dir string) (*Random, error) {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	f, err := hostfile.Nameless(dir)
	if err != nil {
		return nil, fmt.Errorf("create scratch file: %w", err)
	}
	return &Random{f, block}, nil
}

// ReadAt implements io.ReaderAt.
func (r *Random) ReadAt(to []byte, off int64) (int, error) {
	n, err := r.f.ReadAt(to, off)
	r.mask(to[:n], to[:n], off)
	return n, err
}

// WriteAt implements io.WriterAt.
func (r *Random) WriteAt(from []byte, off int64) (int, error) {
	if off < 0 {
		return 0, os.ErrInvalid
	}
	masked := make([]byte, min(len(from), PageBytes))
	done := 0
	for done < len(from) {
		n := copy(masked, from[done:])
		r.mask(masked[:n], masked[:n], off+int64(done))
		m, err := r.f.WriteAt(masked[:n], off+int64(done))
		if done += m; err != nil {
			return done, fmt.Errorf("write scratch file: %w", err)
		}
	}
	return done, nil
}

// mask hides or shows the bytes at an offset.
func (r *Random) mask(to, from []byte, off int64) {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(off)/aes.BlockSize)
	stream := cipher.NewCTR(r.block, counter[:])
	var skipped [aes.BlockSize]byte
	stream.XORKeyStream(skipped[:off%aes.BlockSize], skipped[:off%aes.BlockSize])
	stream.XORKeyStream(to, from)
}

// Close frees the disk space.
func (r *Random) Close() error { return r.f.Close() }
