package spill

import "testing"

// TestFive puts numbers of every size beside each other and reads them back, the last ones with nothing behind them.
func TestFive(t *testing.T) {
	type numbers struct {
		long           uint64
		v1, v2, v3, v4 uint32
	}
	var all []numbers
	for shift := range 64 {
		for _, off := range []uint64{0, ^uint64(0)} {
			long := uint64(1)<<shift + off
			v := uint32(uint64(1)<<(shift%32) + off)
			all = append(all, numbers{long, v, 0, 0, 0}, numbers{long, 0, v, ^v, 1}, numbers{1, ^v, 0xffff, 0x10000, v}, numbers{^uint64(0), v, v, v, v})
		}
	}
	b, at := make([]byte, len(all)*fiveBytes), 0
	for _, n := range all {
		at = putFive(b, at, n.long, n.v1, n.v2, n.v3, n.v4)
	}
	b = b[:at]
	at = 0
	for i, n := range all {
		var got numbers
		if got.long, got.v1, got.v2, got.v3, got.v4, at = five(b, at); got != n {
			t.Fatalf("%d: %+v, want %+v", i, got, n)
		}
	}
	if at != len(b) {
		t.Fatalf("%d of %d bytes read", at, len(b))
	}
	if _, _, _, _, _, next := five(b, len(b)); next <= len(b) {
		t.Fatal("numbers behind the end are not told from those before it")
	}
}
