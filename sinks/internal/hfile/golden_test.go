package hfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// TestGolden: each shape is, byte for byte, the file that HBase 2.6.4 wrote of
// the same rows. TestHBaseWrites makes HBase write them again.
func TestGolden(t *testing.T) {
	for name, want := range map[string]string{
		"one row":      "c5046f3378b900420622f1b0b0d33cc4ebd97786f3637b639a658f9256b072dc",
		"one level":    "ac290a7ac4bdd3696219b3fc0d9fc85bc2921ed6710acfc51c1402d270f0cc6a",
		"big cells":    "a67a4fd106727169ab9196ded25b8e151fdebbbb2f8046ed017e1b443f0345fd",
		"empty values": "bc2f88cc213fe89fd30dbd4eff1cb7afe2c932d81e58f82afc3ec023f237b81b",
		"two levels":   "c29379b2f0075252b2ddc7a582f1262c6b083b756a5e18409d517f521cfc845d",
		"three levels": "5af93d5dcbe8651a2280443ffe069d52eb108253bb7203b17b30fe106b7b8deb",
		"many levels":  "1e70384f0341a0168d5449e0b9aa22425415fd763fabe3cfe3f2bf6812f0fbba",
	} {
		for _, s := range shapes {
			if s.name != name {
				continue
			}
			s.o.Created = made
			sum := sha256.Sum256(write(t, rows(s.rows, s.value, 7), s.o))
			if got := hex.EncodeToString(sum[:]); got != want {
				t.Errorf("%s: SHA-256 %s, want %s", name, got, want)
			}
		}
	}
}

func TestVint(t *testing.T) {
	for n, want := range map[int]string{0: "00", 127: "7f", 128: "8f80", 200: "8fc8", 255: "8fff", 256: "8e0100", 1<<24 - 1: "8dffffff", 1 << 24: "8c01000000"} {
		b := appendVint(nil, n)
		if hex.EncodeToString(b) != want {
			t.Errorf("%d: %x, want %s", n, b, want)
		}
		if got, size := vint(append(b, 9)); got != uint64(n) || size != len(b) {
			t.Errorf("%x: %d in %d bytes, want %d", b, got, size, n)
		}
	}
	for _, bad := range [][]byte{{}, {0x8f}, {0x8e, 1}, {0xff}, {0x80, 1, 2, 3, 4, 5, 6, 7, 8}} {
		if n, size := vint(bad); size != 0 {
			t.Errorf("%x: read as %d", bad, n)
		}
	}
}

// TestMVCC reads the cells of a file that HBase flushed: each ends in its number, or in nothing.
func TestMVCC(t *testing.T) {
	key := appendKey(nil, []byte("row"), 5)
	cell := append([]byte{0, 0, 0, byte(len(key)), 0, 0, 0, 1}, key...)
	cell = append(cell, 'x')
	for _, c := range []struct {
		how  mvcc
		tail []byte
	}{{mvccAbsent, nil}, {mvccZero, []byte{0}}, {mvccNumber, []byte{0x8f, 200}}, {mvccNumber, []byte{7}}} {
		h := &Reader{mvcc: c.how}
		got, rest, err := h.cell(append(bytes.Clone(cell), append(c.tail, "next"...)...), 0)
		if err != nil || string(rest) != "next" || string(got.Row) != "row" || string(got.Value) != "x" || got.Timestamp != 5 {
			t.Errorf("%x: %+v, rest %q, %v", c.tail, got, rest, err)
		}
	}
	for _, kind := range []byte{8, 14} { // delete markers
		bad := bytes.Clone(cell)
		bad[8+len(key)-1] = kind
		if _, _, err := new(Reader).cell(bad, 0); err == nil {
			t.Errorf("a cell of type %d was read", kind)
		}
	}
}
