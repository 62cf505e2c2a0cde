package pe

import (
	"bytes"
	"compress/zlib"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// TestZdebug packs the debug sections of an image as gas does, and reads it.
func TestZdebug(t *testing.T) {
	path := formattest.Testdata(t, "pe/libgame-x64-dw4.dll")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := pe.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	header := int(le.Uint32(b[60:])) + 4
	first := header + 20 + int(file.SizeOfOptionalHeader)
	names := append([]byte{0, 0, 0, 0}, file.StringTable...)
	for i, s := range file.Sections {
		rest, debug := strings.CutPrefix(s.Name, ".debug_")
		if !debug {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		data = data[:min(len(data), int(s.VirtualSize))]
		packed := binary.BigEndian.AppendUint64([]byte("ZLIB"), uint64(len(data)))
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(data)
		w.Close()
		packed = append(packed, z.Bytes()...)
		h := b[first+40*i:][:40]
		clear(h[:8])
		copy(h, fmt.Sprintf("/%d", len(names)))
		names = append(names, ".zdebug_"+rest+"\x00"...)
		le.PutUint32(h[8:], uint32(len(packed)))
		le.PutUint32(h[16:], uint32(len(packed)))
		le.PutUint32(h[20:], uint32(len(b)))
		b = append(b, packed...)
	}
	le.PutUint32(names, uint32(len(names)))
	symbols := b[file.PointerToSymbolTable:][:18*file.NumberOfSymbols]
	le.PutUint32(b[header+8:], uint32(len(b)))
	b = append(append(b, symbols...), names...)
	if n := formattest.GoldenOf(t, &Format, formattest.InputOf("libgame.dll", b, formats.Limits{}), path+".golden.json", known(t, path)); n < 50 {
		t.Errorf("%d cases", n)
	}
}
