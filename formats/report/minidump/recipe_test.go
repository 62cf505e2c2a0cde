package minidump

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

var update = flag.Bool("update", false, "rewrite testdata/dumps")

// TestDumps: the dumps of testdata are by this recipe. Each stands in a function without a frame, which the library libgame calls from
// Engine::step: frame pointers alone would pass over step, so only call frame information of the library finds it. The
// addresses are from llvm-objdump and llvm-dwarfdump --debug-frame.
func TestDumps(t *testing.T) {
	const at = 0x7b0000000000
	for _, recipe := range []struct {
		name    string
		arch    uint16
		base    uint64
		id      string
		context func(base uint64) []byte
		stack   func(base uint64) []byte
	}{
		{
			"x64", 9, at, "\x0a\x90\x05\x36\xe7\x74\x6c\x31\xae\x5b\xd3\xd3\x91\x6d\x09\x00\x2c\x8d\xbf\x1b",
			func(base uint64) []byte { return intel(base+0x4720, stackAt, stackAt+0x40) },
			func(base uint64) []byte { // the lambda: CFA is rsp+8; step and game_entry: CFA is rbp+16
				return pack(base+0x46eb, make([]uint64, 7), uint64(stackAt+0x80), base+0x4883, make([]uint64, 6), make([]uint64, 4))
			},
		},
		{
			"arm64", 12, at, "\x56\x4b\xb6\xc8\xbe\x48\xee\xa9\xd9\xdb\x62\x2b\x86\x89\x80\x6e\xea\x5a\xf3\xc7",
			func(base uint64) []byte {
				return contextOf(912, map[int]uint64{264: base + 0x46e0, 256: stackAt, 240: stackAt + 0x10, 248: 0x2a<<48 | base + 0x46ac}, 8)
			},
			func(base uint64) []byte { // the lambda: lr; step: CFA is x29+48, lr at x29+8; game_entry: CFA is x29+32
				return pack(make([]uint64, 2), uint64(stackAt+0x60), 0x15<<48|base+0x4848, make([]uint64, 8), make([]uint64, 4))
			},
		},
		{
			"arm", 5, 0x40000000, "\xb1\xbd\xfd\x27\x90\x85\x70\xa3\x05\x59\xcc\xf4\x18\x47\x8e\x40\xe4\x37\x89\xf9",
			func(base uint64) []byte {
				return contextOf(368, map[int]uint64{4 + 4*15: base + 0x45a0, 4 + 4*14: base + 0x456c, 4 + 4*13: stackAt, 4 + 4*11: stackAt + 0x10}, 4)
			},
			func(base uint64) []byte { // the lambda: lr; step and game_entry: CFA is r11+8
				return pack(make([]uint32, 4), uint32(stackAt+0x30), uint32(base+0x4730), make([]uint32, 12))
			},
		},
	} {
		d := newMaker()
		d.system(recipe.arch, 0x8203)
		d.list(moduleStream, d.module(recipe.base, 0x8000, 0, "/data/app/libgame.so", append([]byte("LEpB"), recipe.id...)))
		d.stream(exceptionStream, uint32(7), uint32(0), uint32(11), uint32(0), uint64(0), uint64(8), make([]byte, 128), d.link(recipe.context(recipe.base)))
		d.list(threadStream, d.thread(7, stackAt, recipe.stack(recipe.base), recipe.context(1)))
		d.stream(nameStream, uint32(1), uint32(7), uint64(d.text("GameThread")))
		name := filepath.Join(formattest.Root(), "testdata", "dumps", recipe.name+".dmp")
		if *update {
			if err := os.WriteFile(name, d.bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if kept, err := os.ReadFile(name); err != nil || !bytes.Equal(kept, d.bytes()) {
			t.Errorf("%s is not by this recipe (%v): run this test with -update", name, err)
		}
	}
}
