package arrowstream

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// ErrInput says that the input is no whole stream, or has what cannot be read. It is the input's fault.
var ErrInput = errors.New("no readable Arrow stream")

const (
	// MaxBatchBytes is the most that a record batch takes in memory, and its added columns together.
	MaxBatchBytes = 1 << 30
	// maxMetaBytes bounds the metadata of a message, and maxDictionaryBytes all dictionaries in use.
	maxMetaBytes       = 64 << 20
	maxDictionaryBytes = 1 << 30

	// magic begins the file form of IPC. Its schema may stand at its end alone.
	magic = "ARROW1\x00\x00"
)

// Reader reads streams, one behind the other.
type Reader struct {
	r  *bufio.Reader
	at int // messages read, of the stream
}

// NewReader returns a reader.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 1<<20)} }

// Stream is a stream behind its schema.
type Stream struct {
	Schema *arrowmeta.Schema

	from         *Reader
	used         []used
	dictionaries map[int64]*dictionary
	held         int // bytes of dictionaries
	batches      int
}

// Next begins the next stream. io.EOF: there is none.
func (r *Reader) Next() (*Stream, error) {
	r.at = 0
	if head, _ := r.r.Peek(len(magic)); string(head) == magic {
		return nil, fmt.Errorf("%w: it has the file form of Arrow IPC (Feather); write it as a stream", ErrInput)
	}
	m, meta, _, err := r.message()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	if m.Header != arrowmeta.HeaderSchema {
		return nil, fmt.Errorf("%w: it begins with a message of kind %d, not with a schema", ErrInput, m.Header)
	}
	s, err := arrowmeta.ParseSchema(meta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	if s.BigEndian {
		return nil, fmt.Errorf("%w: its values are big-endian; write it on a little-endian machine", ErrInput)
	}
	return &Stream{Schema: s, from: r, dictionaries: map[int64]*dictionary{}}, nil
}

// message reads a message. io.EOF: the stream ends here.
func (r *Reader) message() (m *arrowmeta.Message, meta, body []byte, err error) {
	var n [4]byte
	if _, err := io.ReadFull(r.r, n[:]); errors.Is(err, io.EOF) {
		return nil, nil, nil, io.EOF
	} else if err != nil {
		return nil, nil, nil, r.cut(err)
	}
	size := binary.LittleEndian.Uint32(n[:])
	if size == arrowmeta.Continuation {
		if _, err := io.ReadFull(r.r, n[:]); err != nil {
			return nil, nil, nil, r.cut(err)
		}
		size = binary.LittleEndian.Uint32(n[:])
	}
	if size == 0 {
		return nil, nil, nil, io.EOF
	}
	if size > maxMetaBytes {
		return nil, nil, nil, fmt.Errorf("%w: message %d has %d bytes of metadata, above %d; the input may be of another form", ErrInput, r.at, size, maxMetaBytes)
	}
	if meta, err = r.bytes(int64(size)); err != nil {
		return nil, nil, nil, err
	}
	if m, err = arrowmeta.ParseMessage(meta); err != nil {
		return nil, nil, nil, fmt.Errorf("%w: message %d: %w", ErrInput, r.at, err)
	}
	if m.BodyBytes > MaxBatchBytes {
		return nil, nil, nil, fmt.Errorf("%w: message %d has a body of %d bytes, above %d; write smaller record batches", ErrInput, r.at, m.BodyBytes, MaxBatchBytes)
	}
	if body, err = r.bytes(m.BodyBytes); err != nil {
		return nil, nil, nil, err
	}
	r.at++
	return m, meta, body, nil
}

// firstBytes is how much memory a length alone may take. More is taken as bytes arrive.
const firstBytes = 1 << 20

// bytes reads n bytes into memory of their own.
func (r *Reader) bytes(n int64) ([]byte, error) {
	b := make([]byte, min(n, firstBytes))
	for have := 0; ; {
		k, err := io.ReadFull(r.r, b[have:])
		if err != nil {
			return nil, r.cut(err)
		}
		if have += k; int64(have) == n {
			return b, nil
		}
		more := make([]byte, min(n, 4*int64(have)))
		copy(more, b)
		b = more
	}
}

func (r *Reader) cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends within message %d", ErrInput, r.at)
	}
	return fmt.Errorf("read the input: %w", err)
}

// Batch is a record batch, or a dictionary that is passed on.
type Batch struct {
	Rows  int
	Cells []pqfile.Cells // by leaf of Use; valid as long as the caller holds them

	meta       *arrowmeta.Batch
	body       []byte
	dictionary []byte // the message of a dictionary; nil: this is a record batch
	id         int64
}

// IsDictionary reports whether this is no record batch: a Writer passes it on.
func (b *Batch) IsDictionary() bool { return b.dictionary != nil }

// Next returns the next batch. io.EOF: the stream ends here.
func (s *Stream) Next() (*Batch, error) {
	m, meta, body, err := s.from.message()
	if err != nil {
		return nil, err
	}
	switch m.Header {
	case arrowmeta.HeaderDictionary:
		if err := s.learn(m, body); err != nil {
			return nil, fmt.Errorf("dictionary %d: %w", m.Dictionary, err)
		}
		return &Batch{dictionary: meta, body: body, id: m.Dictionary}, nil
	case arrowmeta.HeaderBatch:
		b, err := s.batch(m.Batch, body)
		if err != nil {
			return nil, fmt.Errorf("record batch %d: %w", s.batches, err)
		}
		s.batches++
		return b, nil
	}
	return nil, fmt.Errorf("%w: a message of kind %d", ErrInput, m.Header)
}

// used is a column in use: the way to its field, from the root.
type used struct {
	leaf pqfile.Leaf
	path []int
}

// Leaves returns the columns that hold values, depth first, lists of lists excepted.
func (s *Stream) Leaves() (all []pqfile.Leaf) {
	for _, u := range leavesOf(s.Schema.Fields, nil, nil, false) {
		all = append(all, u.leaf)
	}
	return all
}

// Use says which columns Next reads: some of Leaves.
func (s *Stream) Use(leaves []pqfile.Leaf) {
	s.used = nil
	for _, l := range leaves {
		for _, u := range leavesOf(s.Schema.Fields, nil, nil, false) {
			if u.leaf == l {
				s.used = append(s.used, u)
				break
			}
		}
	}
	var wanted func(f *arrowmeta.Field, path []int)
	wanted = func(f *arrowmeta.Field, path []int) {
		if f.Dictionary != nil {
			s.dictionaries[f.Dictionary.ID] = &dictionary{field: *f}
		} else if len(path) > 0 {
			wanted(&f.Children[path[0]], path[1:])
		}
	}
	for _, u := range s.used {
		wanted(&s.Schema.Fields[u.path[0]], u.path[1:])
	}
}

func leavesOf(fields []arrowmeta.Field, names []string, path []int, list bool) (all []used) {
	for i := range fields {
		f := &fields[i]
		way := append(path[:len(path):len(path)], i)
		name := append(names[:len(names):len(names)], f.Name)
		inside := f.Dictionary == nil
		switch {
		case inside && f.Type == arrowmeta.Struct:
			all = append(all, leavesOf(f.Children, name, way, list)...)
		case inside && !list && isList(f.Type) && len(f.Children) == 1:
			// The name of the element says nothing: of structures, their fields follow the list's name.
			e := &f.Children[0]
			at := append(way[:len(way):len(way)], 0)
			if e.Type == arrowmeta.Struct && e.Dictionary == nil {
				all = append(all, leavesOf(e.Children, name, at, true)...)
			} else {
				all = append(all, used{leafOf(e, name, true), at})
			}
		default:
			all = append(all, used{leafOf(f, name, list), way})
		}
	}
	return all
}

func isList(t arrowmeta.Type) bool {
	switch t {
	case arrowmeta.List, arrowmeta.LargeList, arrowmeta.FixedSizeList, arrowmeta.ListView, arrowmeta.LargeListView:
		return true
	}
	return false
}

func leafOf(f *arrowmeta.Field, names []string, list bool) pqfile.Leaf {
	l := pqfile.Leaf{Path: strings.Join(names, "."), List: list}
	switch f.Type {
	case arrowmeta.UTF8, arrowmeta.LargeUTF8, arrowmeta.UTF8View, arrowmeta.Binary, arrowmeta.LargeBinary, arrowmeta.BinaryView:
		l.Kind = pqfile.LeafText
	case arrowmeta.FixedSizeBinary:
		if f.Size > 0 {
			l.Kind = pqfile.LeafText
		}
	case arrowmeta.Int:
		l.Kind = pqfile.LeafInt
	case arrowmeta.Float:
		if f.Bits > 16 {
			l.Kind = pqfile.LeafInt
		}
	case arrowmeta.Decimal:
		if f.Scale == 0 {
			l.Kind = pqfile.LeafInt
		}
	}
	return l
}
