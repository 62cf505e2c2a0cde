package formats

import "testing"

// An offset that a damaged header gave is printed as it stands there, beyond 2^63 too.
func TestErrorTells(t *testing.T) {
	for _, c := range []struct {
		e    Error
		want string
	}{
		{Error{Format: "elf", Section: ".debug_info", Offset: 0x1f4a, Want: "abbreviation 7", Err: ErrCorrupt}, "elf: .debug_info+0x1f4a: corrupt input: want abbreviation 7"},
		{Error{Format: "elf", Offset: -1, Want: "the first section header", Err: ErrCorrupt}, "elf: file+0xffffffffffffffff: corrupt input: want the first section header"},
		{Error{Format: "zip", Section: "m", Offset: -16, Err: ErrLimit}, "zip: m+0xfffffffffffffff0: limit exceeded"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
