package s3

import (
	"math/rand/v2"
	"testing"
)

// The checksums of parts join to the checksum of the whole.
func TestJoinedSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 10_000)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	for _, k := range []*crcKind{&crc32ieee, &crc32c, &crc64nvme} {
		want := k.update(0, text)
		for range 100 {
			a := r.IntN(len(text) + 1)
			b := a + r.IntN(len(text)-a+1)
			sum := k.join(k.update(0, text[:a]), k.update(0, text[a:b]), int64(b-a))
			if sum = k.join(sum, k.update(0, text[b:]), int64(len(text)-b)); sum != want {
				t.Fatalf("%d bits, parted at %d and %d: %x, want %x", k.bits, a, b, sum, want)
			}
		}
	}
	// The check value of CRC-64/NVME.
	if got := crc64nvme.update(0, []byte("123456789")); got != 0xae8b14860a799888 {
		t.Errorf("%x", got)
	}
}
