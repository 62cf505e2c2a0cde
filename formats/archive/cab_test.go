package archive_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/formattest"
)

// makeCab makes a cabinet of one file, stored or by MSZIP. Checksums are left out.
func makeCab(t testing.TB, name string, content []byte, packed bool) []byte {
	t.Helper()
	le := binary.LittleEndian
	var blocks []byte
	n := 0
	var last []byte
	for rest := content; len(rest) > 0; n++ {
		block := rest[:min(len(rest), 32<<10)]
		rest = rest[len(block):]
		data := block
		if packed {
			b := bytes.NewBufferString("CK")
			w, err := flate.NewWriterDict(b, 6, last)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(block)
			w.Close()
			data, last = b.Bytes(), block
		}
		blocks = le.AppendUint32(blocks, 0)
		blocks = le.AppendUint16(le.AppendUint16(blocks, uint16(len(data))), uint16(len(block)))
		blocks = append(blocks, data...)
	}
	method := uint16(0)
	if packed {
		method = 1
	}
	entry := 36 + 8
	data := entry + 16 + len(name) + 1
	b := append([]byte("MSCF"), 0, 0, 0, 0)
	b = le.AppendUint32(b, uint32(data+len(blocks)))
	b = le.AppendUint32(le.AppendUint32(b, 0), uint32(entry))
	b = append(b, 0, 0, 0, 0, 3, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint32(b, uint32(data))
	b = le.AppendUint16(le.AppendUint16(b, uint16(n)), method)
	b = le.AppendUint32(b, uint32(len(content)))
	b = append(b, make([]byte, 12)...)
	return append(append(append(b, name...), 0), blocks...)
}

func FuzzCab(f *testing.F) {
	text := bytes.Repeat([]byte("some text, "), 4000)
	fuzz(f, &archive.Cab, "MSCF", makeCab(f, "a.pdb", text, true), makeCab(f, "a.pdb", text[:100], false))
}

func TestCab(t *testing.T) {
	text := bytes.Repeat([]byte("some text, and other text; "), 5000)
	for _, packed := range []bool{true, false} {
		f := walk(t, formattest.InputOf("a.pd_", makeCab(t, `x\a.pdb`, text, packed), formats.Limits{}))
		f.expect(t, "a.pd_", map[string]string{"!a.pdb": string(text)})
	}
	b := makeCab(t, "a.pdb", text, true)
	for _, c := range []struct {
		at    int
		value byte
		kind  error
		want  string
	}{
		{44 - 2, 3, formats.ErrUnsupported, "expand"}, // LZX
		{28, 2, formats.ErrUnsupported, "one file, not 2"},
		{44 + 3, 0x7f, formats.ErrCorrupt, "a file that 5 blocks hold"},
		{16 + 2, 0x7f, formats.ErrCorrupt, "a file's entry"},
	} {
		other := bytes.Clone(b)
		other[c.at] = c.value
		_, _, err := formats.Open(t.Context(), []*formats.Format{&archive.Cab}, formattest.InputOf("a.pd_", other, formats.Limits{}))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("byte %d: %v, want %q", c.at, err, c.want)
		}
	}
}

// TestCabOfTool reads what gcab packs.
func TestCabOfTool(t *testing.T) {
	tool := formattest.Tool(t, "gcab", "apt-get install gcab")
	dir := t.TempDir()
	content, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-x64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.Repeat(content, 9)
	if err := os.WriteFile(filepath.Join(dir, "a.pdb"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "-c", "-z", "a.pd_", "a.pdb")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcab: %v\n%s", err, out)
	}
	f := walk(t, formattest.Input(t, filepath.Join(dir, "a.pd_")))
	f.expect(t, "a.pd_", map[string]string{"!a.pdb": string(content)})
}
