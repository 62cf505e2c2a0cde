package loads

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// newContent begins a digest: identity, base, end, anchors. The order and the
// form of the rest are as in the rows, opened and decoded.
func newContent(a *symbol.Artifact) hash.Hash {
	h := sha256.New()
	var b []byte
	for _, s := range []string{"symlake content 1", string(a.Kind), a.Canonical} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	h.Write(row.AppendLayout(b, a))
	return h
}

// addCount adds a count to a digest.
func addCount(h hash.Hash, n int) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }

// addBlock adds the columns of a block to a digest.
func addBlock(h hash.Hash, last uint64, cols [][]byte) {
	h.Write(binary.BigEndian.AppendUint64(nil, last))
	for _, c := range cols {
		addCount(h, len(c))
		h.Write(c)
	}
}
