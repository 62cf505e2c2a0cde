package hfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options are for a Writer; zero values are what HBase itself uses, but for Created.
type Options struct {
	BlockBytes int       // a data block is closed once it holds this many; 0: 64 KiB
	IndexBytes int       // an index block likewise; 0: 128 KiB
	Timestamp  uint64    // of the cells that Append writes, a load's generation; 0: 1
	Created    time.Time // noted in the file as when it was made; to the millisecond
	Family     byte      // the one letter of the cells' column family; 0: b. Readers here want b
	Bloom      Bloom     // the zero value: none
}

const (
	defaultBlockBytes = 64 << 10
	defaultIndexBytes = 128 << 10
	// minRootEntries: a root index with no more entries is not split.
	minRootEntries = 16
)

// Writer writes one file from its first byte to its last, without seeking. One goroutine.
// Memory is one data block, one leaf index block, one root entry for each leaf, and one or two chunks
// of the Bloom filter (128 KiB each).
type Writer struct {
	w   io.Writer
	o   Options
	err error

	off    int64
	block  []byte // header space and cells of the data block being filled
	first  []byte // row of its first cell
	sep    []byte // row it is indexed by
	stamp  uint64 // timestamp of its first cell
	last   []byte // row of the last cell
	spare  []byte // buffer of index blocks
	leaf   chunk
	root   chunk
	leaves int // data blocks below the leaves written
	bloom  *bloomWriter

	prevData, prevLeaf, prevInter int64
	t                             trailer
	keyBytes, valueBytes          uint64
	minStamp, maxStamp, lastStamp uint64
	biggest                       uint64 // cell; and its key
	biggestKey                    []byte
}

// NewWriter writes to w, in pieces of about a block. The file is whole once Close succeeded.
func NewWriter(w io.Writer, o Options) *Writer {
	if o.BlockBytes == 0 {
		o.BlockBytes = defaultBlockBytes
	}
	if o.IndexBytes == 0 {
		o.IndexBytes = defaultIndexBytes
	}
	if o.Timestamp == 0 {
		o.Timestamp = 1
	}
	if o.Family == 0 {
		o.Family = family[0]
	}
	f := &Writer{
		w: w, o: o, block: make([]byte, headerBytes, headerBytes+o.BlockBytes+o.BlockBytes/2),
		prevData: -1, prevLeaf: -1, prevInter: -1, minStamp: ^uint64(0),
	}
	if o.Bloom.Kind != BloomNone {
		f.err = o.Bloom.check()
		f.bloom = newBloomWriter(o.Bloom)
	}
	return f
}

// Bytes is how much of the file has been written so far, all of it after Close.
func (w *Writer) Bytes() int64 { return w.off }

// Append writes a row; rows strictly ascend. It keeps no reference.
func (w *Writer) Append(row, value []byte) error { return w.AppendAt(row, value, w.o.Timestamp) }

// AppendAt is Append with the cell's own timestamp.
func (w *Writer) AppendAt(row, value []byte, timestamp uint64) error {
	if w.err == nil {
		w.err = w.append(row, value, timestamp)
	}
	return w.err
}

func (w *Writer) append(row, value []byte, timestamp uint64) error {
	switch {
	case len(row) == 0 || len(row) > maxRow:
		return fmt.Errorf("hfile: row key of %d bytes: want 1 to %d", len(row), maxRow)
	case timestamp > 1<<63-1:
		return fmt.Errorf("hfile: row %x: timestamp %d does not fit 63 bits", row, timestamp)
	case w.t.cells > 0 && string(row) <= string(w.last):
		return fmt.Errorf("hfile: row %x after %x: rows must ascend", row, w.last)
	}
	if w.bloom != nil {
		w.bloom.add(row) // before the block is closed, as HBase does
	}
	if len(w.block)-headerBytes >= w.o.BlockBytes {
		if err := w.closeBlock(); err != nil {
			return err
		}
		if err := w.inline(); err != nil {
			return err
		}
	}
	keyBytes := 2 + len(row) + keyTail
	if len(w.block)+keyBytes+cellTail > maxBlock || len(value) > maxBlock-len(w.block)-keyBytes-cellTail {
		return fmt.Errorf("hfile: row %x: a value of %d bytes does not fit a block", row, len(value))
	}
	if len(w.block) == headerBytes {
		w.sep = w.sep[:0]
		if w.t.cells > 0 {
			w.sep = separator(w.last, row)
		}
		w.first, w.stamp = append(w.first[:0], row...), timestamp
	}
	w.block = binary.BigEndian.AppendUint32(w.block, uint32(keyBytes))
	w.block = binary.BigEndian.AppendUint32(w.block, uint32(len(value)))
	w.block = w.appendKey(w.block, row, timestamp)
	w.block = append(w.block, value...)
	w.block = append(w.block, 0)
	w.last, w.lastStamp = append(w.last[:0], row...), timestamp
	w.minStamp, w.maxStamp = min(w.minStamp, timestamp), max(w.maxStamp, timestamp)
	if n := uint64(len(value) + keyBytes + cellTail + 3); n > w.biggest { // HBase counts 12 bytes beyond key and value
		w.biggest, w.biggestKey = n, w.appendKey(w.biggestKey[:0], row, timestamp)
	}
	w.keyBytes += uint64(keyBytes)
	w.valueBytes += uint64(len(value))
	w.t.cells++
	return nil
}

// appendKey appends the key of a cell of this file.
func (w *Writer) appendKey(b, row []byte, timestamp uint64) []byte {
	b = appendKey(b, row, timestamp)
	b[len(b)-keyTail+1] = w.o.Family
	return b
}

// appendKey appends the key of a cell.
func appendKey(b, row []byte, timestamp uint64) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(row)))
	b = append(b, row...)
	b = append(b, byte(len(family)))
	b = append(b, family+qualifier...)
	b = binary.BigEndian.AppendUint64(b, timestamp)
	return append(b, typePut)
}

// separatorKey is the key of a row without a column, above which every cell of the row stands.
func separatorKey(row []byte) []byte {
	b := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(row)+10), uint16(len(row)))
	b = append(b, row...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint64(b, 1<<63-1)
	return append(b, 255)
}

// emit writes a block, header space and payload in b, and gives b back to be used again.
func (w *Writer) emit(b []byte, magic string, prev int64) (off int64, size uint32, buf []byte, err error) {
	b = sealBlock(b, magic, prev)
	off = w.off
	n, err := w.w.Write(b)
	w.off += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return off, uint32(len(b)), b[:headerBytes], err
}

// closeBlock writes the data block.
func (w *Writer) closeBlock() error {
	w.t.totalBytes += uint64(len(w.block))
	off, size, buf, err := w.emit(w.block, magicData, w.prevData)
	if err != nil {
		return err
	}
	w.block, w.prevData = buf, off
	w.t.lastData = uint64(off) // the first is at 0
	var key []byte
	if len(w.sep) > 0 {
		key = separatorKey(w.sep)
	} else { // the file's first key is the true one
		key = w.appendKey(nil, w.first, w.stamp)
	}
	w.leaf.add(entry{key, off, size})
	return nil
}

// inline writes what stands between data blocks: the leaf index block and the chunks of the Bloom
// filter that are full.
func (w *Writer) inline() error {
	if w.leaf.nonRoot() >= w.o.IndexBytes {
		if err := w.closeLeaf(); err != nil {
			return err
		}
	}
	return w.closeChunks(false)
}

// closeChunks writes the chunks of the Bloom filter that are full; with closing the last one too.
func (w *Writer) closeChunks(closing bool) error {
	if w.bloom == nil {
		return nil
	}
	w.bloom.enqueue(closing)
	for _, p := range w.bloom.ready {
		b := append(w.space(), p.bits...)
		w.t.totalBytes += uint64(len(b))
		off, size, buf, err := w.emit(b, magicBloom, w.bloom.prev)
		if err != nil {
			return err
		}
		w.spare = buf
		w.bloom.written(p, off, size)
	}
	w.bloom.ready = w.bloom.ready[:0]
	return nil
}

func (w *Writer) closeLeaf() error {
	b := w.leaf.appendNonRoot(w.space())
	w.t.totalBytes += uint64(len(b))
	w.t.indexBytes += uint64(len(b) - headerBytes)
	off, size, buf, err := w.emit(b, magicLeaf, w.prevLeaf)
	if err != nil {
		return err
	}
	w.spare, w.prevLeaf = buf, off
	w.leaves += len(w.leaf.entries)
	w.root.add(entry{w.leaf.entries[0].key, off, size})
	w.root.below = append(w.root.below, w.leaves)
	w.leaf = chunk{entries: w.leaf.entries[:0]}
	return nil
}

// space is the buffer of index blocks with room for a header.
func (w *Writer) space() []byte { return append(w.spare[:0], make([]byte, headerBytes)...) }

// Close writes index, file info and trailer. It does not close the
// io.Writer. A file without rows is refused, as HBase would refuse it.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.close()
		if w.err == nil {
			w.err = errClosed
			return nil
		}
	}
	return w.err
}

var errClosed = errors.New("hfile: writer is closed")

func (w *Writer) close() error {
	if w.t.cells == 0 {
		return errors.New("hfile: a file without rows")
	}
	if err := w.closeBlock(); err != nil {
		return err
	}
	split := len(w.root.entries) > 0
	if split && len(w.leaf.entries) > 0 {
		if err := w.closeLeaf(); err != nil {
			return err
		}
	}
	if err := w.closeChunks(true); err != nil {
		return err
	}
	w.t.levels = 1
	var mid []byte
	if !split {
		w.root = w.leaf
	} else {
		w.t.levels = 2
		mid = w.root.appendMidKey(nil)
		for w.root.root() > w.o.IndexBytes && len(w.root.entries) > minRootEntries && w.t.levels < maxLevels {
			if err := w.closeLevel(); err != nil {
				return err
			}
			w.t.levels++
		}
	}
	w.t.loadOnOpen = uint64(w.off)
	w.t.rootEntries = uint64(len(w.root.entries))
	b := w.root.appendRoot(w.space())
	b = append(b, mid...)
	w.t.indexBytes += uint64(len(b) - headerBytes)
	root, _, b, err := w.emit(b, magicRoot, -1)
	if err != nil {
		return err
	}
	w.t.totalBytes += headerBytes
	if _, _, b, err = w.emit(b, magicRoot, root); err != nil { // of the meta blocks: none
		return err
	}
	w.t.infoOffset = uint64(w.off)
	b = appendInfo(b, w.info())
	w.t.totalBytes += uint64(len(b)) + trailerBytes
	if _, _, b, err = w.emit(b, magicInfo, -1); err != nil {
		return err
	}
	if w.bloom != nil {
		b = w.bloom.appendMeta(b)
		w.t.totalBytes += uint64(len(b))
		if _, _, b, err = w.emit(b, magicBloomMeta, -1); err != nil {
			return err
		}
	}
	w.t.codec, w.t.comparator = codecNone, comparator
	n, err := w.w.Write(w.t.append(b[:0]))
	w.off += int64(n)
	return err
}

// closeLevel packs the root's entries into intermediate blocks. Their entries are the new root.
func (w *Writer) closeLevel() error {
	var next, part chunk
	flush := func() error {
		b := part.appendNonRoot(w.space())
		w.t.indexBytes += uint64(len(b) - headerBytes)
		off, size, buf, err := w.emit(b, magicInter, w.prevInter)
		if err != nil {
			return err
		}
		w.spare, w.prevInter = buf, off
		next.add(entry{part.entries[0].key, off, size})
		part = chunk{entries: part.entries[:0]}
		return nil
	}
	for i, e := range w.root.entries {
		part.add(e)
		if i >= minRootEntries && part.root() >= w.o.IndexBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(part.entries) > 0 {
		if err := flush(); err != nil {
			return err
		}
	}
	w.root = next
	return nil
}

// info is what HBase wants to know of a bulk-loaded file.
func (w *Writer) info() []pair {
	made := u64(uint64(w.o.Created.UnixMilli()))
	list := []pair{
		{"BULKLOAD_TIMESTAMP", made},
		{"DELETE_FAMILY_COUNT", u64(0)}, // no cell hides a whole row: HBase need not look
		{"EARLIEST_PUT_TS", u64(w.minStamp)},
		{"EXCLUDE_FROM_MINOR_COMPACTION", []byte{0}},
		{infoKeyValueVersion, u32(1)}, // mvcc bytes are there …
		{"MAJOR_COMPACTION_KEY", []byte{255}},
		{infoMaxMVCC, u64(0)}, // … and all zero
		{"TIMERANGE", append(u64(w.minStamp), u64(w.maxStamp)...)},
		{"hfile.AVG_KEY_LEN", u32(w.keyBytes / w.t.cells)},
		{"hfile.AVG_VALUE_LEN", u32(w.valueBytes / w.t.cells)},
		{"hfile.CREATE_TIME_TS", made},
		{"hfile.KEY_OF_BIGGEST_CELL", w.biggestKey},
		{"hfile.LEN_OF_BIGGEST_CELL", u64(w.biggest)},
		{infoLastKey, w.appendKey(nil, w.last, w.lastStamp)},
	}
	if w.bloom != nil {
		list = append(list, w.bloom.info()...)
	}
	return list
}

// Names in the file info that a reader needs too.
const (
	infoKeyValueVersion = "KEY_VALUE_VERSION"
	infoMaxMVCC         = "MAX_MEMSTORE_TS_KEY"
	infoLastKey         = "hfile.LASTKEY"
	infoMaxTags         = "hfile.MAX_TAGS_LEN"
	infoEncoding        = "DATA_BLOCK_ENCODING"
)
