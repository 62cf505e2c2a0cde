package hfile

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	magicData  = "DATABLK*"
	magicLeaf  = "IDXLEAF2"
	magicInter = "IDXINTE2"
	magicRoot  = "IDXROOT2"
	magicInfo  = "FILEINF2"

	magicBloom     = "BLMFBLK2"
	magicBloomMeta = "BLMFMET2"

	// headerBytes: magic 8, size on disk without header 4, payload 4, offset of
	// the block of this type before 8, checksum type 1, bytes a checksum 4,
	// header and payload 4.
	headerBytes      = 33
	bytesPerChecksum = 16 << 10
	checksumCRC32    = 1
	checksumCRC32C   = 2
)

// castagnoli is made by each caller from the standard library's one table; no state of ours.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// sealBlock completes b: it writes the header into the first headerBytes and appends checksums of the payload behind.
func sealBlock(b []byte, magic string, prev int64) []byte {
	n := len(b)
	sums := 4 * ((n + bytesPerChecksum - 1) / bytesPerChecksum)
	copy(b, magic)
	binary.BigEndian.PutUint32(b[8:], uint32(n-headerBytes+sums))
	binary.BigEndian.PutUint32(b[12:], uint32(n-headerBytes))
	binary.BigEndian.PutUint64(b[16:], uint64(prev))
	b[24] = checksumCRC32C
	binary.BigEndian.PutUint32(b[25:], bytesPerChecksum)
	binary.BigEndian.PutUint32(b[29:], uint32(n))
	table := castagnoli()
	for from := 0; from < n; from += bytesPerChecksum {
		b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b[from:min(n, from+bytesPerChecksum)], table))
	}
	return b
}

// blockBytes is the size on disk that a header claims, checksums and header included; ok false when it cannot be one.
func blockBytes(header []byte) (n int64, ok bool) {
	if len(header) < headerBytes {
		return 0, false
	}
	size := binary.BigEndian.Uint32(header[8:])
	return headerBytes + int64(size), size >= 4 && size < 1<<31
}

// openBlock checks a whole block, exactly b, and gives its payload.
func openBlock(b []byte, section, magic string, off int64) ([]byte, error) {
	if len(b) < headerBytes+4 {
		return nil, corrupt(section, off, "at least %d bytes, not %d", headerBytes+4, len(b))
	}
	if string(b[:8]) != magic {
		return nil, corrupt(section, off, "magic %q, not %q", magic, b[:8])
	}
	onDisk, payload, each, covered := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:]), binary.BigEndian.Uint32(b[25:]), binary.BigEndian.Uint32(b[29:])
	if uint64(onDisk)+headerBytes != uint64(len(b)) {
		return nil, corrupt(section, off, "a block of %d bytes, not %d", len(b), uint64(onDisk)+headerBytes)
	}
	var table *crc32.Table
	switch b[24] {
	case checksumCRC32:
		table = crc32.IEEETable
	case checksumCRC32C:
		table = castagnoli()
	default:
		return nil, unsupported(section, off, "checksum type 1 or 2, not %d", b[24])
	}
	if each < headerBytes {
		return nil, corrupt(section, off, "a checksum for at least %d bytes, not %d", headerBytes, each)
	}
	sums := 4 * ((uint64(covered) + uint64(each) - 1) / uint64(each))
	if uint64(covered) != headerBytes+uint64(payload) || uint64(covered)+sums != uint64(len(b)) {
		return nil, corrupt(section, off, "sizes that add up (%d bytes, of them %d payload, %d with header)", len(b), payload, covered)
	}
	sum := b[covered:]
	for from := uint64(0); from < uint64(covered); from += uint64(each) {
		if crc32.Checksum(b[from:min(uint64(covered), from+uint64(each))], table) != binary.BigEndian.Uint32(sum) {
			return nil, corrupt(section, off, "the checksum of bytes %d and on", from)
		}
		sum = sum[4:]
	}
	return b[headerBytes:covered:covered], nil
}
