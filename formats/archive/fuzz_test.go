package archive_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/formattest"
)

func fuzz(f *testing.F, form *formats.Format, magic string, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, form, magic, data) })
}

func FuzzZip(f *testing.F) {
	few := []member{{"a/b.so", "bytes bytes bytes bytes", 8}, {"stored", "as it is", 0}, {"z", "zstd zstd zstd zstd", 93}, {"dir/", "", 0}}
	one := makeZip(f, few...)
	fuzz(f, &archive.Zip, "PK\x03\x04", one, makeZip(f), append([]byte("PK\x03\x04before"), one...))
}

func FuzzTar(f *testing.F) {
	fuzz(f, &archive.Tar, "", makeTar(f, member{"a", "1", 0}, member{"b/" + string(bytes.Repeat([]byte("long"), 60)), "22", 0}), make([]byte, 1024))
}

func FuzzAr(f *testing.F) {
	fuzz(f, &archive.Ar, "!<arch>\n", makeAr(member{"a.o", "1", 0}, member{"a-very-long-member-name.o", "22", 0}),
		[]byte("!<arch>\n#1/8            0           0     0     644     10        `\nname.o\x00\x00xx"))
}

func FuzzGzip(f *testing.F) {
	one := makeGzip(f, []byte("some text, some text, some text"))
	fuzz(f, &archive.Gzip, "\x1f\x8b\x08", one, append(bytes.Clone(one), one...))
}

func FuzzZstd(f *testing.F) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	fuzz(f, &archive.Zstd, "\x28\xb5\x2f\xfd", enc.EncodeAll([]byte("some text, some text, some text"), nil))
}

// xzText is "some text, " twenty times, by xz -9.
const xzText = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4ADbABJdADmbyfLnULjF4lzC4GoUJwtAAAAAAE6gaPrCJO/mAAEu3AEAAACmRUoKscRn+wIAAAAABFla"

func FuzzXz(f *testing.F) {
	b, err := base64.StdEncoding.DecodeString(xzText)
	if err != nil {
		f.Fatal(err)
	}
	fuzz(f, &archive.Xz, "\xfd7zXZ\x00", b)
}

func TestXz(t *testing.T) {
	b, err := base64.StdEncoding.DecodeString(xzText)
	if err != nil {
		t.Fatal(err)
	}
	want := string(bytes.Repeat([]byte("some text, "), 20))
	// Streams one after the other are one object.
	for n := 1; n <= 2; n++ {
		f := walk(t, formattest.InputOf("x.xz", bytes.Repeat(b, n), formats.Limits{}))
		f.expect(t, "x.xz", map[string]string{"!x": string(bytes.Repeat([]byte(want), n))})
	}
	gz := makeGzip(t, []byte(want))
	f := walk(t, formattest.InputOf("dir/x.GZ", append(bytes.Clone(gz), gz...), formats.Limits{}))
	f.expect(t, "dir/x.GZ", map[string]string{"!x": want + want})
}
