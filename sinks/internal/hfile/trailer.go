package hfile

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	trailerBytes = 4096
	trailerMagic = "TRABLK\"$"
	versionBytes = "\x03\x00\x00\x03" // minor 3, major 3
	codecNone    = 2
	maxLevels    = 16
	comparator   = "org.apache.hadoop.hbase.KeyValue$KVComparator" // what HBase 2 writes; it reads it as InnerStoreCellComparator
)

// comparators are the names HBase gave the one order we know: row, family, qualifier, newest first.
func comparators() []string {
	return []string{
		comparator, "org.apache.hadoop.hbase.KeyValue.KVComparator", "org.apache.hadoop.hbase.CellComparator",
		"org.apache.hadoop.hbase.CellComparatorImpl", "org.apache.hadoop.hbase.InnerStoreCellComparator",
	}
}

// trailer is HBase's FileTrailerProto; a field's number is its place here, from 1.
type trailer struct {
	infoOffset, loadOnOpen   uint64
	indexBytes, totalBytes   uint64 // uncompressed
	rootEntries, metaEntries uint64
	cells                    uint64
	levels                   uint64
	firstData, lastData      uint64
	comparator               string
	codec                    uint64
	encrypted                bool // field 13, a key, is there
}

// numbers are the fields that hold one, in the order of their numbers.
func (t *trailer) numbers() []*uint64 {
	return []*uint64{
		&t.infoOffset, &t.loadOnOpen, &t.indexBytes, &t.totalBytes, &t.rootEntries, &t.metaEntries,
		&t.cells, &t.levels, &t.firstData, &t.lastData, nil, &t.codec,
	}
}

// append appends the whole trailer.
func (t *trailer) append(b []byte) []byte {
	var msg []byte
	for i, n := range t.numbers() {
		field := protowire.Number(i + 1)
		if n == nil {
			msg = protowire.AppendTag(msg, field, protowire.BytesType)
			msg = protowire.AppendString(msg, t.comparator)
			continue
		}
		msg = protowire.AppendTag(msg, field, protowire.VarintType)
		msg = protowire.AppendVarint(msg, *n)
	}
	start := len(b)
	b = append(b, trailerMagic...)
	b = protowire.AppendBytes(b, msg)
	b = append(b, make([]byte, start+trailerBytes-len(versionBytes)-len(b))...)
	return append(b, versionBytes...)
}

// parse reads a trailer, exactly b, that stands at off, the end of the blocks.
func (t *trailer) parse(b []byte, off int64) error {
	bad := func(format string, args ...any) error { return corrupt("trailer", off, format, args...) }
	if string(b[:len(trailerMagic)]) != trailerMagic {
		return bad("magic %q, not %q", trailerMagic, b[:len(trailerMagic)])
	}
	if v := b[len(b)-4:]; v[1] != 0 || v[2] != 0 || v[3] != 3 {
		return unsupported("trailer", off, "major version 3, not %d", uint32(v[1])<<16|uint32(v[2])<<8|uint32(v[3]))
	}
	msg, n := protowire.ConsumeBytes(b[len(trailerMagic) : len(b)-len(versionBytes)])
	if n < 0 {
		return bad("a message that fits")
	}
	t.codec = ^uint64(0)
	numbers := t.numbers()
	for len(msg) > 0 {
		num, kind, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return bad("a protobuf field")
		}
		msg = msg[n:]
		switch {
		case num >= 1 && int(num) <= len(numbers) && numbers[num-1] != nil && kind == protowire.VarintType:
			*numbers[num-1], n = protowire.ConsumeVarint(msg)
		case num == 11 && kind == protowire.BytesType:
			t.comparator, n = protowire.ConsumeString(msg)
		default:
			t.encrypted = t.encrypted || num == 13
			n = protowire.ConsumeFieldValue(num, kind, msg)
		}
		if n < 0 {
			return bad("a value of field %d", num)
		}
		msg = msg[n:]
	}
	switch end := uint64(off); {
	case t.encrypted:
		return unsupported("trailer", off, "no encryption")
	case t.codec != codecNone:
		return unsupported("trailer", off, "compression codec %d (none), not %d", codecNone, t.codec)
	case !slices.Contains(comparators(), t.comparator):
		return unsupported("trailer", off, "comparator %s, not %q", comparator, t.comparator)
	case t.loadOnOpen >= end || t.infoOffset <= t.loadOnOpen || t.infoOffset >= end:
		return bad("an index at %#x and file info at %#x in front of the trailer", t.loadOnOpen, t.infoOffset)
	case t.levels < 1 || t.levels > maxLevels:
		return bad("1 to %d index levels, not %d", maxLevels, t.levels)
	case (t.cells == 0) != (t.rootEntries == 0):
		return bad("index entries for %d cells, not %d", t.cells, t.rootEntries)
	case t.cells > 0 && (t.firstData > t.lastData || t.lastData >= t.loadOnOpen):
		return bad("data blocks from %#x to %#x in front of the index at %#x", t.firstData, t.lastData, t.loadOnOpen)
	}
	return nil
}
