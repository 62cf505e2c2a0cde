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
		"one row":      "26e629d52db895ca127186e7c7ee91407e0985a4075520edeb14876923ef02ac",
		"one level":    "eca6bffd01986d943e5561aa8900d4eafb2670a7e57a2206aa4f5938a0f2a3cf",
		"big cells":    "9715543a8ee5a32df5a8ecfd9e699c964483c456b648a604c8b9d35e7a6c5f82",
		"empty values": "70c6ebbf2e79907a40d023716c2f31a1f27763cf1fc45e3a7ad7396f385ce6cb",
		"two levels":   "f519fb8cb03f2d321d5c5ae4d354368935a7ce68015aca6a371126dc63af87d9",
		"three levels": "e96686698fdb5f09de9d223a8a0da7289154a03186c152c186c981a1ec9135d6",
		"many levels":  "4c756b523c2b85397c7abd4ab3d303c89e7d02874d098e895da04c91e418e26e",

		"prefix filter": "b402f6d9ca6e6fa7c7beef2eaacc8983f1544905450240b2ca73e827dfe36356",
		"row filter":    "1a393dc61f6b4fde7018598e2ca3ab2aceaaabd57a972b89e3fa3db635b7c7b5",
		"chunks":        "b43e7427464a44594891e5dfcfad6c0ea6da08e34868178ad4d3b9ba1e679c02",
		"short rows":    "a5f6d6d0850d167a248fb72b73aa89f4cec040b4d822dda422d66c3594f49b4c",
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
