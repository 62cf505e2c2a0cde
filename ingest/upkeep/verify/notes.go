package verify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// Notes is a file of the loads that a run has read back and found whole. A run after one that died does not read them again.
//
//	symlake verify 1\n
//	16 bytes for each load, in any order: the tag of its artifact, its id, and what its record says about its rows
//
// Tags are made with the keyring of the store, so the notes of another store name no load of this one. A load that was published
// since has another tag. A tag that is incomplete at the end counts for nothing. Not safe for concurrent use.
type Notes struct {
	file  *os.File
	known map[noted]struct{}
	next  []byte // tags that are not in the file yet
	lost  bool   // the file takes no more
}

type noted [row.TagBytes]byte

const (
	notesHead = "symlake verify 1\n"
	// mostNotes bounds the size of a file in bytes: tens of millions of loads.
	mostNotes = 1 << 30
	// notedLoad is the prefix of tags of loads.
	notedLoad = 'v'
)

// OpenNotes opens a file of notes, or makes it. It refuses a file with other contents, and does not change it.
func OpenNotes(path string) (*Notes, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	n := &Notes{file: f, known: map[noted]struct{}{}}
	if err := n.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return n, nil
}

func (n *Notes) read() error {
	st, err := n.file.Stat()
	if err != nil {
		return err
	}
	if st.Size() > mostNotes {
		return fmt.Errorf("%d bytes are too many for the notes of verify: name another file", st.Size())
	}
	text, err := io.ReadAll(n.file)
	if err != nil {
		return err
	}
	tags, ok := strings.CutPrefix(string(text), notesHead)
	if !ok && !strings.HasPrefix(notesHead, string(text)) { // a process may have died within the head
		return errors.New("these are not the notes of verify: name another file")
	}
	whole := len(tags) - len(tags)%row.TagBytes
	for i := 0; i < whole; i += row.TagBytes {
		n.known[noted([]byte(tags[i:i+row.TagBytes]))] = struct{}{}
	}
	if !ok {
		whole = 0
		if _, err := n.file.WriteAt([]byte(notesHead), 0); err != nil {
			return err
		}
	}
	_, err = n.file.Seek(int64(len(notesHead)+whole), io.SeekStart)
	return err
}

// tagOf returns the tag of a load as its record describes it.
func tagOf(k *row.Keyring, id symbol.ID, l *row.Loaded) noted {
	b := append(id[:len(id):len(id)], l.Load[:]...)
	b = append(b, l.Digest[:]...)
	for _, v := range []uint64{l.Rows, l.Ranges, l.Bytes} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return noted(k.Tag(notedLoad, string(b)))
}

// has reports whether an earlier run found the load whole.
func (n *Notes) has(t noted) bool {
	_, ok := n.known[t]
	return ok
}

// add notes a load.
func (n *Notes) add(t noted) { n.next = append(n.next, t[:]...) }

// flush writes the added tags to the file. If n is nil, or a write has failed, flush does nothing.
func (n *Notes) flush() error {
	if n == nil || n.lost || len(n.next) == 0 {
		return nil
	}
	_, err := n.file.Write(n.next)
	n.next, n.lost = n.next[:0], err != nil
	return err
}

// Close closes the file, and removes it if the run came to its end.
func (n *Notes) Close(ended bool) error {
	err := n.file.Close()
	if ended {
		err = errors.Join(err, os.Remove(n.file.Name()))
	}
	return err
}
