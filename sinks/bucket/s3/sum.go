package s3

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"hash/crc64"
	"math/bits"
)

// crcKind is a checksum that joins: values over the parts of a text make the value over the whole.
type crcKind struct {
	bits   int
	poly   uint64 // the polynomial, reflected
	update func(sum uint64, p []byte) uint64
}

var (
	crc32ieee = crcKind{32, crc32.IEEE, func(sum uint64, p []byte) uint64 { return uint64(crc32.Update(uint32(sum), crc32.IEEETable, p)) }}
	crc32c    = crcKind{32, crc32.Castagnoli, func(sum uint64, p []byte) uint64 { return uint64(crc32.Update(uint32(sum), castagnoli, p)) }}
	crc64nvme = crcKind{64, nvme, func(sum uint64, p []byte) uint64 { return crc64.Update(sum, nvmeTable, p) }}

	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	nvmeTable  = crc64.MakeTable(nvme)
)

// nvme is the polynomial of CRC-64/NVME, reflected.
const nvme = 0x9a6c9329ac4bc9b5

// storedSum is the checksum of an object. A nil kind: there is none.
type storedSum struct {
	kind *crcKind
	sum  uint64
}

// parse reads a checksum as S3 writes it: base64 of its bytes, big endian.
func (k *crcKind) parse(text string) (uint64, bool) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != k.bits/8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(append(make([]byte, 8-len(b)), b...)), true
}

// join gives the checksum of two texts one behind the other: a's, and b's of n bytes. A text of n zero bytes
// behind a multiplies a's checksum by x^8n, modulo the polynomial.
func (k *crcKind) join(a, b uint64, n int64) uint64 {
	factor := uint64(1) << (k.bits - 1) // x^0: in a reflected polynomial the highest bit is the lowest power
	power := factor >> 8                // x^8
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			factor = k.multiply(factor, power)
		}
		power = k.multiply(power, power)
	}
	return k.multiply(a, factor) ^ b
}

// multiply multiplies two polynomials modulo k's.
func (k *crcKind) multiply(a, b uint64) (product uint64) {
	for a <<= 64 - k.bits; a != 0; a <<= 1 {
		if bits.LeadingZeros64(a) == 0 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry != 0 {
			b ^= k.poly
		}
	}
	return product
}

// joined is the checksum of all pieces, which are in order.
func joined(k *crcKind, pieces []*piece) uint64 {
	sum := pieces[0].sum
	for _, p := range pieces[1:] {
		sum = k.join(sum, p.sum, p.n)
	}
	return sum
}

// summing is an offsetWriter that keeps the checksum of what it wrote.
type summing struct {
	offsetWriter
	of  *crcKind // nil: none is wanted
	sum uint64
}

func (s *summing) Write(p []byte) (int, error) {
	n, err := s.offsetWriter.Write(p)
	if s.of != nil {
		s.sum = s.of.update(s.sum, p[:n])
	}
	return n, err
}
