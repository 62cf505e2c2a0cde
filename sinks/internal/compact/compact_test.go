package compact

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

var texts = []string{
	"", "live", "x86_64", "libm.so", "DEADBEEF", "deadbeef", "deadbee", "00", "-", "--", "1-", "-1", "01-2", "1-2", "1-2-3",
	"661-1795469202570893962-9980577", "1-2-3-4-5-6-7-8", "1-2-3-4-5-6-7-8-9", "18446744073709551615-0", "18446744073709551616-0",
	"6d1843dd-cb84-942a-322d-06bb4aa6a955", "6D1843DD-cb84-942a-322d-06bb4aa6a955", "6d1843dd-cb84-942a-322d-06bb4aa6a95g",
	"d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e-17", "d41d8cd98f00b204e9800998ecf8427e-", "d41d8cd98f00b204e9800998ecf8427e-017",
	"20261123T212705Z-KNHJQQ", "20261123T212705Z-KNHJQ1", "20261323T212705Z-KNHJQQ", "20261123T212705Z-AAAAAA", "00000101T000000Z-777777",
	"go:x/y", "file:/a/b", "file:/tmp/records/in2k/000/libm00220.sym", "file:/\"/abcdef", packed, packed[1:], packed[2:], packed[3:], "s3://b/\xff\x00k", "\u00e9",
}

func TestTexts(t *testing.T) {
	for _, s := range append(texts, words...) {
		var w Writer
		w.Text(s)
		r := NewReader(w.B)
		if got := r.Text(); got != s || r.End() != nil {
			t.Errorf("%q reads %q, %v", s, got, r.Err())
		}
	}
}

// Later versions read these bytes, too.
func TestCodingIsDurable(t *testing.T) {
	var w Writer
	for _, s := range []string{"live", "dotnet", "libm.so", "deadbeef", "6d1843dd-cb84-942a-322d-06bb4aa6a955",
		"d41d8cd98f00b204e9800998ecf8427e-17", "20261123T212705Z-KNHJQQ", "661-1795469202570893962-9980577", "s3://b/libm.so"} {
		w.Text(s)
	}
	w.Int(-1)
	w.Time(time.Unix(1_700_000_000, 5))
	w.Time(time.Unix(1_699_999_999, 0))
	w.Seconds(3.350481584)
	w.Seconds(math.Pi * 1e-12)
	w.Bytes([]byte{7, 8})
	const want = "07" + "b702" + "1c6c69626d2e736f" + "11deadbeef" + "026d1843ddcb84942a322d06bb4aa6a955" +
		"06d41d8cd98f00b204e9800998ecf8427e11" + "0ad2bea5b00dc0b0ba9a05" +
		"169505" + "8ab591c3a1b7b2f518" + "a195e104" + "0e0e49da2490190b20132548e0" + "01" + "80c49fd50c05" + "0100" + "e0aaa2fb18" +
		"013d8ba23cdd5122b5" + "020708"
	if got := hex.EncodeToString(w.B); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
}

func TestTimes(t *testing.T) {
	times := []time.Time{time.Unix(0, 0), time.Unix(1_700_000_000, 999_999_999), {}, time.Unix(-1, 1), time.Unix(1<<40, 0),
		time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))}
	var w Writer
	for _, at := range times {
		w.Time(at)
	}
	r := NewReader(w.B)
	for _, at := range times {
		if got := r.Time(); !got.Equal(at) || got.Location() != time.UTC {
			t.Errorf("%v reads %v", at, got)
		}
	}
	if r.End() != nil {
		t.Error(r.Err())
	}
}

func TestSeconds(t *testing.T) {
	for _, s := range []float64{0, math.Copysign(0, -1), 1e-9, .1, .3, 1.0 / 3, 3.350481584, 1e9, 1e300, -1, math.Inf(1)} {
		var w Writer
		w.Seconds(s)
		r := NewReader(w.B)
		if got := r.Seconds(); math.Float64bits(got) != math.Float64bits(s) || r.End() != nil {
			t.Errorf("%v reads %v, %v", s, got, r.Err())
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, c := range []struct{ bytes, want string }{
		{"", "ends within a number"},
		{"\x80", "ends within a number"},
		{"\x10a", "a text of 4 bytes in 1"},
		{"\xff\x7f", "word 4095"},
		{"\x7e", "a text of shape 31"},
		{"\x02abc", "3 bytes where 16 should follow"},
		{"\x0e\x09abcdef", "9 letters in 6 bytes"},
		{"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", "a run in the year"},
	} {
		r := NewReader([]byte(c.bytes))
		if got := r.Text(); got != "" && r.Err() == nil || !errors.Is(r.Err(), ErrMalformed) || !strings.Contains(r.Err().Error(), c.want) {
			t.Errorf("%q: %q, %v", c.bytes, got, r.Err())
		}
	}
	if r := NewReader([]byte{5, 1}); r.Count() != 0 || r.Err() == nil {
		t.Error("5 items in 1 byte")
	}
	if r := NewReader([]byte{1, 2}); r.Uint() != 1 || r.End() == nil {
		t.Error("a byte is left over")
	}
}

func FuzzText(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var w Writer
		w.Text(s)
		r := NewReader(w.B)
		if got := r.Text(); got != s || r.End() != nil || len(w.B) > len(s)+5 {
			t.Fatalf("%q in %d bytes reads %q, %v", s, len(w.B), got, r.Err())
		}
	})
}

func FuzzReader(f *testing.F) {
	for _, s := range texts {
		var w Writer
		w.Text(s)
		w.Time(time.Unix(3, 4))
		w.Seconds(1.5)
		f.Add(w.B)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(b)
		text, at, s := r.Text(), r.Time(), r.Seconds()
		if r.Err() != nil {
			return
		}
		var w Writer
		w.Text(text)
		w.Time(at)
		w.Seconds(s)
		r = NewReader(w.B)
		if text2, at2, s2 := r.Text(), r.Time(), r.Seconds(); text2 != text || !at2.Equal(at) || math.Float64bits(s2) != math.Float64bits(s) || r.End() != nil {
			t.Fatalf("%q %v %v, written anew: %q %v %v, %v", text, at, s, text2, at2, s2, r.Err())
		}
		if bytes.Equal(b, nil) {
			t.Fatal("something was read from nothing")
		}
	})
}
