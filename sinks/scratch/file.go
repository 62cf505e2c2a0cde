// Package scratch keeps what does not fit into memory: pages sealed under a
// key that lives and dies with the process, in files that have no name.
//
// It leaves to others what the bytes mean. Invariants:
//   - nothing is on disk in clear, and nothing there can be opened once the
//     process has ended;
//   - a file is unlinked as soon as it is made, so that a killed process
//     leaves nothing behind;
//   - a page is written once: its number is its nonce.
package scratch

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/sinks/hostfile"
)

// PageBytes is the most that one page holds.
const PageBytes = 64 << 10

const (
	tagBytes  = 16
	slotBytes = PageBytes + tagBytes
)

// File is sealed pages by number. Safe for concurrent use.
type File struct {
	f    *os.File
	aead cipher.AEAD
	next atomic.Int64
	disk *Budget // nil: none
	held atomic.Int64
}

// ErrDisk says that the budget of all scratch files is used up.
var ErrDisk = errors.New("limits.disk: no room for more scratch files")

// Create makes an empty file in dir ("": the system's folder for such). Its pages count against disk, unless disk is nil.
func Create(dir string, disk *Budget) (*File, error) {
	f, err := hostfile.Nameless(dir)
	if err != nil {
		return nil, fmt.Errorf("create scratch file: %w", err)
	}
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		f.Close()
		return nil, err
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		f.Close()
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f: f, aead: aead, disk: disk}, nil
}

// slots holds buffers for one sealed page each.
var slots = sync.Pool{New: func() any { return new([slotBytes]byte) }}

// Append writes at most PageBytes as a page of their own and gives its number.
func (f *File) Append(page []byte) (int64, error) {
	if len(page) > PageBytes {
		return 0, fmt.Errorf("scratch page of %d bytes, above %d", len(page), PageBytes)
	}
	if f.disk != nil {
		if !f.disk.Take(slotBytes) {
			return 0, ErrDisk
		}
		f.held.Add(slotBytes)
	}
	n := f.next.Add(1) - 1
	slot := slots.Get().(*[slotBytes]byte)
	defer slots.Put(slot)
	if _, err := f.f.WriteAt(f.aead.Seal(slot[:0], nonce(n), page, nil), n*slotBytes); err != nil {
		return 0, fmt.Errorf("write scratch page: %w", err)
	}
	return n, nil
}

// Read opens page n into to, which has the length of the page.
func (f *File) Read(n int64, to []byte) error {
	slot := slots.Get().(*[slotBytes]byte)
	defer slots.Put(slot)
	sealed := slot[:len(to)+tagBytes]
	if _, err := f.f.ReadAt(sealed, n*slotBytes); err != nil {
		return fmt.Errorf("read scratch page: %w", err)
	}
	if _, err := f.aead.Open(to[:0], nonce(n), sealed, nil); err != nil {
		return fmt.Errorf("scratch page %d is not what was written: %w", n, err)
	}
	return nil
}

// Close frees the disk space.
func (f *File) Close() error {
	err := f.f.Close()
	if f.disk != nil {
		f.disk.Give(f.held.Swap(0))
	}
	return err
}

func nonce(page int64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 4, 12), uint64(page))
}
