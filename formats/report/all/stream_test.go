package all

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
)

// repeated reads a text of a length: head, one and tail, with one as often as it fits.
type repeated struct {
	head, one, tail string
	left            int64
	now             string
	ended           bool
}

func (r *repeated) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if r.now == "" {
			switch {
			case r.head != "":
				r.now, r.head = r.head, ""
			case r.left > 0:
				r.now = r.one
				r.left -= int64(len(r.one))
			case !r.ended:
				r.now, r.ended = r.tail, true
			default:
				return n, io.EOF
			}
			continue
		}
		m := copy(b[n:], r.now)
		r.now = r.now[m:]
		n += m
	}
	return n, nil
}

// heapBytes returns the bytes of live objects. The second collection frees what pools kept over the first.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestLongJSON reads values that are longer than memory may be. SYMLAKE_JSON_BYTES is their length; the default is short,
// with a bound as much lower.
func TestLongJSON(t *testing.T) {
	size, o := int64(3<<20), report.Options{DocumentBytes: 128 << 10}
	if text := os.Getenv("SYMLAKE_JSON_BYTES"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		size, o = n, report.Options{}
	}
	event := `{"level":"error","stack":"Error: x\n    at f (https://h.example/app.min.js:1:44)\n    at g (https://h.example/app.min.js:1:99)\n","n":[1,{"a":null}]}`
	for _, c := range []struct {
		name, head, one, tail string
		frames                float64 // in each
	}{
		{"a list", "[", event + ",", event + "]", 2},
		{"a member", `{"dsn":null,"events":[`, event + ",", event + `],"end":{}}`, 2},
		{"members of members", `{"a":{"b":[{"resourceLogs":[`, event + ",\n", event + `]}]}}`, 2},
		{"values in one line", "", event, "", 2},
		{"lines", "", event + "\n", "", 2},
		{"a string", `[` + event + `,{"data":"`, "0123456789abcdef", `"},` + event + `]`, 0},
		{"brackets", `[`, `[`, ``, 0},
		{"objects", `[`, `{"a":`, ``, 0},
		{"escapes", `{"a":"`, `\\`, `"}`, 0},
		{"no JSON", `{"a":`, `#`, ``, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := sha256.New()
			in := io.TeeReader(&repeated{head: c.head, one: c.one, tail: c.tail, left: size}, want)
			got := sha256.New()
			frames, most := 0, uint64(0)
			before := heapBytes()
			seen := int64(0)
			err := report.Split(t.Context(), in, Dialects, o, func(r *report.Report) error {
				frames += r.Frames()
				got.Write(r.Text)
				if seen += int64(len(r.Text)); seen > size/16 {
					seen = 0
					most = max(most, heapBytes())
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
				t.Error("the text changed")
			}
			if least := int(c.frames * float64(size/int64(len(c.one)))); frames < least {
				t.Errorf("%d frames, want %d", frames, least)
			}
			if c.name == "a string" && frames != 4 {
				t.Errorf("%d frames beside a long string, want 4", frames)
			}
			bound := uint64(4*o.DocumentBytes + 3<<19) // two thirds of the text
			if o.DocumentBytes == 0 {
				bound = 4 * report.MaxDocumentBytes
			}
			if most > before+bound {
				t.Errorf("%d MiB of heap, want %d", (most-before)>>20, bound>>20)
			}
			t.Logf("%d frames, %d KiB of heap", frames, (max(most, before)-before)>>10)
		})
	}
}

// TestValuesInOneLine reads values that stand one behind the other, and text behind them.
func TestValuesInOneLine(t *testing.T) {
	t.Parallel()
	event := `{"stack":"Error: x\n    at f (https://h.example/app.min.js:1:44)\n    at g (https://h.example/app.min.js:1:99)\n"}`
	for text, want := range map[string]int{
		event + event:                                 4,
		event + ", " + event + ",\n":                  4,
		event + " and so on\n" + event:                4,
		event + "\n    at f (https://h/a.js:1:2)":     3,
		"\x1e" + event + "\n\x1e" + event + "\n":      4,
		"\ufeff" + event + "\n\ufeff" + event:         4,
		"[" + event + ",NaN," + event + ",]":          4,
		"[/* { */" + event + ", // [\n" + event + "]": 4,
		`{"a":what,"b":[` + event + `]}`:              2,
	} {
		frames := 0
		for _, s := range split(t, text, report.Options{}) {
			frames += s.Frames()
		}
		if frames != want {
			t.Errorf("%s: %d frames, want %d", text, frames, want)
		}
	}
}

// TestLongPart says which part of a long value stays unread.
func TestLongPart(t *testing.T) {
	t.Parallel()
	var unread []report.Unread
	for _, s := range split(t, `{"a":[1,{"stack":"`+strings.Repeat(`x\n`, 1000)+`"}]}`, report.Options{DocumentBytes: 1000}) {
		unread = append(unread, s.Unread...)
	}
	if len(unread) != 1 || unread[0].Path != ".a[0].stack" || unread[0].Why != report.WhyPart {
		t.Errorf("unread: %+v", unread)
	}
}
