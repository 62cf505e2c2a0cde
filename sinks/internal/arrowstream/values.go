package arrowstream

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// placed is a field with its place in a batch.
type placed struct {
	f        *arrowmeta.Field
	rows     int
	buffer   int // first one
	buffers  int
	children []placed
}

// placer numbers the nodes and buffers of fields.
type placer struct {
	b                      *arrowmeta.Batch
	old                    bool
	node, buffer, variadic int
}

func (p *placer) place(fields []arrowmeta.Field) ([]placed, error) {
	all := make([]placed, len(fields))
	for i := range fields {
		f := &fields[i]
		x := &all[i]
		x.f, x.buffer = f, p.buffer
		if 2*p.node+1 >= len(p.b.Nodes) {
			return nil, fmt.Errorf("%w: it has %d fields, the schema has more", ErrInput, len(p.b.Nodes)/2)
		}
		if rows := p.b.Nodes[2*p.node]; rows < 0 || rows > MaxBatchBytes {
			return nil, fmt.Errorf("%w: column %q has %d rows", ErrInput, f.Name, rows)
		} else {
			x.rows = int(rows)
		}
		p.node++
		var err error
		if x.buffers, err = p.count(f); err != nil {
			return nil, err
		}
		if p.buffer += x.buffers; 2*p.buffer > len(p.b.Buffers) {
			return nil, fmt.Errorf("%w: it has %d buffers, the schema has more", ErrInput, len(p.b.Buffers)/2)
		}
		if f.Dictionary == nil {
			if x.children, err = p.place(f.Children); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// count returns how many buffers a field has, its children excepted.
func (p *placer) count(f *arrowmeta.Field) (int, error) {
	if f.Dictionary != nil {
		return 2, nil
	}
	switch f.Type {
	case arrowmeta.Null, arrowmeta.RunEndEncoded:
		return 0, nil
	case arrowmeta.FixedSizeList, arrowmeta.Struct:
		return 1, nil
	case arrowmeta.Binary, arrowmeta.UTF8, arrowmeta.LargeBinary, arrowmeta.LargeUTF8, arrowmeta.ListView, arrowmeta.LargeListView:
		return 3, nil
	case arrowmeta.BinaryView, arrowmeta.UTF8View:
		if p.variadic >= len(p.b.Variadic) {
			return 0, fmt.Errorf("%w: column %q has no count of its buffers", ErrInput, f.Name)
		}
		n := p.b.Variadic[p.variadic]
		p.variadic++
		if n < 0 || n > int64(len(p.b.Buffers)) {
			return 0, fmt.Errorf("%w: column %q has %d buffers", ErrInput, f.Name, n)
		}
		return 2 + int(n), nil
	case arrowmeta.Union:
		n := 1
		if f.Dense {
			n++
		}
		if p.old {
			n++
		}
		return n, nil
	case arrowmeta.Int, arrowmeta.Float, arrowmeta.Bool, arrowmeta.Decimal, arrowmeta.Date, arrowmeta.Time, arrowmeta.Timestamp, arrowmeta.Interval,
		arrowmeta.FixedSizeBinary, arrowmeta.Duration, arrowmeta.List, arrowmeta.LargeList, arrowmeta.Map:
		return 2, nil
	}
	return 0, fmt.Errorf("%w: column %q is of type %d, whose buffers are not known", ErrInput, f.Name, f.Type)
}

// source reads the buffers of a batch.
type source struct {
	meta *arrowmeta.Batch
	body []byte
	left int // bytes that may still be inflated
}

// buffer returns a buffer, inflated.
func (s *source) buffer(i int) ([]byte, error) {
	at, n := s.meta.Buffers[2*i], s.meta.Buffers[2*i+1]
	if at < 0 || n < 0 || at > int64(len(s.body)) || n > int64(len(s.body))-at {
		return nil, fmt.Errorf("%w: a buffer of %d bytes at %d, in a body of %d", ErrInput, n, at, len(s.body))
	}
	b := s.body[at : at+n]
	if !s.meta.Compressed || n == 0 {
		return b, nil
	}
	if n < 8 {
		return nil, fmt.Errorf("%w: a compressed buffer of %d bytes", ErrInput, n)
	}
	size := int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	if size == -1 {
		return b, nil
	}
	if size < 0 || size > int64(s.left) {
		return nil, fmt.Errorf("%w: buffers inflate to more than %d bytes; write smaller record batches", ErrInput, MaxBatchBytes)
	}
	s.left -= int(size)
	raw, err := inflate(s.meta.Codec, b, int(size))
	if err != nil {
		return nil, fmt.Errorf("%w: a compressed buffer of %d bytes: %w", ErrInput, n, err)
	}
	return raw, nil
}

var decoders = sync.Pool{New: func() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBatchBytes))
	if err != nil {
		panic(err) // these are valid options
	}
	return z
}}

// inflate gives exactly size bytes. Memory grows with what comes out.
func inflate(codec arrowmeta.Codec, b []byte, size int) ([]byte, error) {
	switch codec {
	case arrowmeta.LZ4Frame:
		return lz4Frame(b, size)
	case arrowmeta.Zstd:
	default:
		return nil, fmt.Errorf("codec %d is not known", codec)
	}
	z := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(z)
	if err := z.Reset(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	var to bytes.Buffer
	to.Grow(min(size+bytes.MinRead, 64*len(b)+firstBytes))
	n, err := to.ReadFrom(io.LimitReader(z, int64(size)+1))
	if err == nil && n != int64(size) {
		err = errSize
	}
	return to.Bytes(), err
}

var errSize = errors.New("it holds fewer or more bytes than it says")

// Of a frame of LZ4.
const (
	lz4Magic       = 0x184d2204
	lz4Independent = 1 << 5 // flags
	lz4BlockSums   = 1 << 4
	lz4Size        = 1 << 3
	lz4Dictionary  = 1 << 0
	lz4Stored      = 1 << 31 // a block is not compressed
	lz4Ratio       = 255     // at best
	lz4Window      = 64 << 10
)

// lz4Frame inflates a frame. The reader of the library refuses the checksums of blocks that Polars writes, so only its blocks
// are used, and checksums are not compared.
func lz4Frame(b []byte, size int) ([]byte, error) {
	if size > lz4Ratio*len(b) || len(b) < 7 || binary.LittleEndian.Uint32(b) != lz4Magic {
		return nil, errSize
	}
	flags, head := b[4], 7
	if flags&lz4Size != 0 {
		head += 8
	}
	if flags&lz4Dictionary != 0 {
		return nil, errors.New("it wants a dictionary")
	}
	to, n := make([]byte, size), 0
	for b = b[min(head, len(b)):]; ; {
		if len(b) < 4 {
			return nil, errSize
		}
		block := binary.LittleEndian.Uint32(b)
		length := int64(block &^ lz4Stored)
		b = b[4:]
		if block == 0 {
			break
		}
		if length > int64(len(b)) {
			return nil, errSize
		}
		if block&lz4Stored != 0 {
			if int(length) > size-n {
				return nil, errSize
			}
			n += copy(to[n:], b[:length])
		} else {
			var before []byte
			if flags&lz4Independent == 0 {
				before = to[max(0, n-lz4Window):n]
			}
			k, err := lz4.UncompressBlockWithDict(b[:length], to[n:], before)
			if err != nil {
				return nil, err
			}
			n += k
		}
		b = b[length:]
		if flags&lz4BlockSums != 0 {
			b = b[min(4, len(b)):]
		}
	}
	if n != size {
		return nil, errSize
	}
	return to, nil
}

// column is the values of a field.
type column struct {
	texts []string
	ints  []uint64
	null  []bool // nil: there is none
}

func (c *column) n() int { return len(c.texts) + len(c.ints) }

// valid reads a validity bitmap. nil: all are valid.
func (s *source) valid(i, rows int) (null []bool, err error) {
	bits, err := s.buffer(i)
	if err != nil || len(bits) == 0 {
		return nil, err
	}
	if len(bits) < (rows+7)/8 {
		return nil, short(len(bits), rows)
	}
	null = make([]bool, rows)
	any := false
	for i := range null {
		null[i] = bits[i/8]>>(i%8)&1 == 0
		any = any || null[i]
	}
	if !any {
		return nil, nil
	}
	return null, nil
}

func short(n, rows int) error {
	return fmt.Errorf("%w: a buffer of %d bytes for %d rows", ErrInput, n, rows)
}

// column reads the values of a field without children.
func (s *source) column(p *placed, dictionaries map[int64]*dictionary) (c column, err error) {
	if c.null, err = s.valid(p.buffer, p.rows); err != nil {
		return c, err
	}
	data, err := s.buffer(p.buffer + 1)
	if err != nil {
		return c, err
	}
	if d := p.f.Dictionary; d != nil {
		return s.numbered(p, c, data, dictionaries[d.ID])
	}
	switch p.f.Type {
	case arrowmeta.Int, arrowmeta.Float, arrowmeta.Decimal:
		err = numbers(p.f, data, p.rows, &c)
	case arrowmeta.FixedSizeBinary:
		size := p.f.Size
		if len(data)/size < p.rows {
			return c, short(len(data), p.rows)
		}
		c.texts = make([]string, p.rows)
		for i := range c.texts {
			c.texts[i] = identifier(p.f, data[i*size:(i+1)*size])
		}
	case arrowmeta.BinaryView, arrowmeta.UTF8View:
		err = s.views(p, data, &c)
	default:
		var bytes []byte
		if bytes, err = s.buffer(p.buffer + 2); err == nil {
			err = texts(data, bytes, p, &c)
		}
	}
	return c, err
}

// identifier is bytes of a fixed length, as text.
func identifier(f *arrowmeta.Field, b []byte) string {
	if f.Extension == "arrow.uuid" && len(b) == 16 {
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return hex.EncodeToString(b)
}

func numbers(f *arrowmeta.Field, data []byte, rows int, c *column) error {
	width := f.Bits / 8
	if width <= 0 || width > 32 || len(data)/width < rows {
		return short(len(data), rows)
	}
	c.ints = make([]uint64, rows)
	if width == 8 && f.Type == arrowmeta.Int {
		for i := range c.ints {
			c.ints[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		return nil
	}
	for i := range c.ints {
		b := data[i*width : (i+1)*width]
		switch f.Type {
		case arrowmeta.Float:
			x := float64(0)
			if width == 4 {
				x = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
			} else {
				x = math.Float64frombits(binary.LittleEndian.Uint64(b))
			}
			var null bool
			if c.ints[i], null = pqfile.WholeBits(x); null {
				if c.null == nil {
					c.null = make([]bool, rows)
				}
				c.null[i] = true
			}
		default:
			c.ints[i] = whole(b, f.Signed || f.Type == arrowmeta.Decimal)
		}
	}
	return nil
}

// whole is a little-endian number; the greatest where it has no 64 bits.
func whole(b []byte, signed bool) (bits uint64) {
	negative := signed && b[len(b)-1] >= 0x80
	for len(b) > 8 {
		if last := b[len(b)-1]; last != 0 && (last != 0xff || !negative) {
			return math.MaxUint64
		}
		b = b[:len(b)-1]
	}
	if negative {
		bits = math.MaxUint64
	}
	for _, x := range slices.Backward(b) {
		bits = bits<<8 | uint64(x)
	}
	return bits
}

// offsets returns n+1 offsets into limit things, ascending.
func offsets(b []byte, large bool, n, limit int) ([]int, error) {
	width := 4
	if large {
		width = 8
	}
	if n == 0 {
		return []int{0}, nil // writers may leave it out
	}
	if len(b)/width < n+1 {
		return nil, short(len(b), n)
	}
	all := make([]int, n+1)
	last := int64(0)
	for i := range all {
		x := int64(0)
		if large {
			x = int64(binary.LittleEndian.Uint64(b[8*i:]))
		} else {
			x = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
		if x < last || x > int64(limit) {
			return nil, fmt.Errorf("%w: offset %d of %d is %d, behind %d, of %d", ErrInput, i, n, x, last, limit)
		}
		all[i], last = int(x), x
	}
	return all, nil
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func texts(ends, data []byte, p *placed, c *column) error {
	at, err := offsets(ends, p.f.Type == arrowmeta.LargeUTF8 || p.f.Type == arrowmeta.LargeBinary, p.rows, len(data))
	if err != nil {
		return err
	}
	c.texts = make([]string, p.rows)
	for i := range c.texts {
		c.texts[i] = view(data[at[i]:at[i+1]])
	}
	return nil
}

// views reads texts of 16 bytes each: up to 12 stand there, others in one of the buffers that follow.
func (s *source) views(p *placed, data []byte, c *column) error {
	if len(data)/16 < p.rows {
		return short(len(data), p.rows)
	}
	more := make([][]byte, p.buffers-2)
	for i := range more {
		var err error
		if more[i], err = s.buffer(p.buffer + 2 + i); err != nil {
			return err
		}
	}
	c.texts = make([]string, p.rows)
	for i := range c.texts {
		if i < len(c.null) && c.null[i] {
			continue
		}
		v := data[16*i : 16*i+16]
		n := int64(int32(binary.LittleEndian.Uint32(v)))
		if n >= 0 && n <= 12 {
			c.texts[i] = view(v[4 : 4+n])
			continue
		}
		k, at := binary.LittleEndian.Uint32(v[8:]), int64(binary.LittleEndian.Uint32(v[12:]))
		if n < 0 || uint64(k) >= uint64(len(more)) || at+n > int64(len(more[k])) {
			return fmt.Errorf("%w: a text of %d bytes at %d of buffer %d of %d", ErrInput, n, at, k, len(more))
		}
		c.texts[i] = view(more[k][at : at+n])
	}
	return nil
}

// dictionary is the values that columns in use refer to by number.
type dictionary struct {
	field arrowmeta.Field // a column of it
	known bool
	column
}

// learn keeps the values of a dictionary, if a column in use refers to it.
func (s *Stream) learn(m *arrowmeta.Message, body []byte) error {
	d := s.dictionaries[m.Dictionary]
	if d == nil {
		return nil
	}
	f := d.field
	f.Dictionary = nil
	p := placer{b: m.Batch, old: s.Schema.Old}
	at, err := p.place([]arrowmeta.Field{f})
	if err != nil {
		return err
	}
	from := source{meta: m.Batch, body: body, left: MaxBatchBytes}
	c, err := from.column(&at[0], nil)
	if err != nil {
		return err
	}
	if s.held += len(body) + 24*c.n(); s.held > maxDictionaryBytes {
		return fmt.Errorf("%w: dictionaries of columns in use have more than %d bytes", ErrInput, maxDictionaryBytes)
	}
	if !m.Delta {
		d.column, d.known = c, true
		return nil
	}
	if c.null != nil || d.null != nil {
		d.null = append(append(make([]bool, 0, d.n()+c.n()), d.null...), make([]bool, d.n()-len(d.null))...)
		d.null = append(append(d.null, c.null...), make([]bool, c.n()-len(c.null))...)
	}
	d.texts, d.ints, d.known = append(d.texts, c.texts...), append(d.ints, c.ints...), true
	return nil
}

// numbered takes values from a dictionary.
func (s *source) numbered(p *placed, c column, data []byte, d *dictionary) (column, error) {
	var at column
	index := arrowmeta.Field{Type: arrowmeta.Int, Bits: p.f.Dictionary.Bits, Signed: p.f.Dictionary.Signed}
	if err := numbers(&index, data, p.rows, &at); err != nil {
		return c, err
	}
	if d == nil || !d.known && p.rows > 0 {
		all := len(c.null) == p.rows
		for _, n := range c.null {
			all = all && n
		}
		if !all {
			return c, fmt.Errorf("%w: column %q refers to dictionary %d, which does not stand before it", ErrInput, p.f.Name, p.f.Dictionary.ID)
		}
	}
	if leafOf(p.f, nil, false).Kind == pqfile.LeafInt {
		c.ints = make([]uint64, p.rows)
	} else {
		c.texts = make([]string, p.rows)
	}
	for i, k := range at.ints {
		if c.null != nil && c.null[i] {
			continue
		}
		if k >= uint64(d.n()) {
			return c, fmt.Errorf("%w: column %q has value %d of a dictionary of %d", ErrInput, p.f.Name, k, d.n())
		}
		if d.null != nil && d.null[k] {
			if c.null == nil {
				c.null = make([]bool, p.rows)
			}
			c.null[i] = true
			continue
		}
		if c.ints != nil {
			c.ints[i] = d.ints[k]
		} else {
			c.texts[i] = d.texts[k]
		}
	}
	return c, nil
}
