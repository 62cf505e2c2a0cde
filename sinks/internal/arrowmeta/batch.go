package arrowmeta

import "fmt"

// Header says what a message holds.
type Header uint8

// The headers of messages in a stream.
const (
	HeaderSchema     Header = schemaHeader
	HeaderDictionary Header = dictionaryHeader
	HeaderBatch      Header = batchHeader
)

// Message is what the metadata of a message says of it.
type Message struct {
	Header    Header
	BodyBytes int64
	Batch     *Batch // of HeaderBatch and HeaderDictionary
	// Of HeaderDictionary.
	Dictionary int64
	Delta      bool
}

// Batch is a record batch: where its columns stand in the body.
type Batch struct {
	Rows       int64
	Nodes      []int64 // two a field, depth first: rows, NULLs
	Buffers    []int64 // two each: offset and length in the body
	Variadic   []int64 // by field of a view type: how many buffers hold its texts
	Compressed bool
	Codec      Codec

	version int16
	custom  int // position of metadata in b; 0: none
	b       []byte
}

// Codec is how buffers are compressed.
type Codec uint8

// The codecs of Arrow.
const (
	LZ4Frame Codec = 0
	Zstd     Codec = 1
)

// ParseMessage reads the metadata of a message, without its frame. The error of a damaged one is ErrMessage.
func ParseMessage(message []byte) (*Message, error) {
	f := &buffer{b: message}
	root := f.root()
	m := &Message{Header: Header(root.byte(1, 0)), BodyBytes: root.long(3, 0)}
	header := root.table(2)
	switch m.Header {
	case HeaderDictionary:
		m.Dictionary, m.Delta = header.long(0, 0), header.byte(2, 0) != 0
		m.Batch = batchOf(header.table(1))
	case HeaderBatch:
		m.Batch = batchOf(header)
	}
	if f.bad || m.BodyBytes < 0 || m.Batch != nil && m.Batch.Rows < 0 {
		return nil, fmt.Errorf("%w: its metadata of %d bytes contradicts itself", ErrMessage, len(message))
	}
	if m.Batch != nil {
		m.Batch.version, m.Batch.custom, m.Batch.b = root.short(0, 0), root.ref(4), message
	}
	return m, nil
}

func batchOf(t table) *Batch {
	b := &Batch{Rows: t.long(0, 0), Nodes: t.longs(1, 2), Buffers: t.longs(2, 2), Variadic: t.longs(4, 1)}
	if c := t.table(3); c.at != 0 {
		b.Compressed, b.Codec = true, Codec(c.byte(0, 0))
	}
	return b
}

// longs reads a vector of structures of so many longs.
func (t table) longs(slot, each int) (all []int64) {
	at, n := t.vector(slot, 8*each)
	if !t.f.pay(8 * each * n) {
		return nil
	}
	for i := range n * each {
		all = append(all, t.f.i64(at+8*i))
	}
	return all
}

// Encode returns the message of a batch with a body of so many bytes. Its metadata comes along.
func (b *Batch) Encode(bodyBytes int64) []byte {
	w := &builder{b: make([]byte, 4, 256+8*(len(b.Nodes)+len(b.Buffers)+len(b.Variadic)))}
	cells := []cell{{0, 2, uint64(uint16(b.version))}, {1, 1, batchHeader}, {2, 4, 0}, {3, 8, uint64(bodyBytes)}}
	if b.custom != 0 {
		cells = append(cells, cell{4, 4, 0})
	}
	at, root := w.table(cells...)
	w.link(0, at)
	cells = []cell{{0, 8, uint64(b.Rows)}, {1, 4, 0}, {2, 4, 0}}
	if b.Compressed {
		cells = append(cells, cell{3, 4, 0})
	}
	if len(b.Variadic) > 0 {
		cells = append(cells, cell{4, 4, 0})
	}
	at, where := w.table(cells...)
	w.link(root[2], at)
	w.longs(where[1], 2, b.Nodes)
	w.longs(where[2], 2, b.Buffers)
	if b.Compressed {
		at, _ := w.table(cell{0, 1, uint64(b.Codec)}, cell{1, 1, 0})
		w.link(where[3], at)
	}
	if len(b.Variadic) > 0 {
		w.longs(where[len(where)-1], 1, b.Variadic)
	}
	if b.custom != 0 {
		w.align(8)
		base := len(w.b)
		w.b = append(w.b, b.b...)
		w.link(root[4], base+b.custom)
	}
	return w.b
}
