package rewrite_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/symlake/symlake/formats/profile/internal/rewrite"
)

// all reads a value, and every element and member in it.
func all(r *rewrite.Reader) error {
	switch r.Peek() {
	case '{':
		return r.Object(func(key string) error {
			if key == "skip" {
				return nil
			}
			return all(r)
		})
	case '[':
		return r.Array(func(int) error { return all(r) })
	}
	b, whole, err := r.Take(8)
	if err != nil || !whole {
		return err
	}
	r.Write(b)
	return nil
}

func pass(t testing.TB, in io.Reader, read func(*rewrite.Reader) error) (string, string) {
	t.Helper()
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	r := rewrite.New(in, w)
	if err := r.Run(func() error { return read(r) }); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	return out.String(), r.Fault
}

// What is not replaced comes out as it came in, at any cut and from any reader.
func TestCopy(t *testing.T) {
	t.Parallel()
	const text = "\xef\xbb\xbf { \"a\" : [ 1.50 , -2e+3,[ ] , {}, null,true ], \"skip\":{\"x\":[{\"b\":\"\\\"]}\"}]}\n,\"long\":\"0123456789abcdef\",\"e\\u00e9\":\"\" } tail"
	for cut := 0; cut <= len(text); cut++ {
		got, fault := pass(t, strings.NewReader(text[:cut]), all)
		if got != text[:cut] {
			t.Fatalf("cut %d: %q", cut, got)
		}
		whole := cut >= strings.LastIndex(text, "}")+1 || cut == 1 || cut == 2 // the mark of the byte order is no value
		if (fault == "") != whole {
			t.Errorf("cut %d: fault %q", cut, fault)
		}
	}
	if got, _ := pass(t, iotest.OneByteReader(strings.NewReader(text)), all); got != text {
		t.Errorf("byte by byte: %q", got)
	}
	long := `[` + strings.Repeat(`{"a":"`+strings.Repeat("x", 300_000)+`"},`, 3) + `7]`
	if got, fault := pass(t, strings.NewReader(long), all); got != long || fault != "" {
		t.Errorf("long: %d bytes, %q", len(got), fault)
	}
}

// An element that is left out takes its comma with it.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`[1,2,3]`: `[1,3]`, `[2,1]`: `[1]`, `[1,2]`: `[1]`, `[2]`: `[]`, `[2,2,2]`: `[]`, "[\n  2,\n  1,\n  2,\n  3\n]": "[\n  1,\n  3\n]", `[2,[2,2],2,1]`: `[[],1]`,
	} {
		var drop func(r *rewrite.Reader) error
		drop = func(r *rewrite.Reader) error {
			return r.Array(func(int) error {
				if r.Peek() == '[' {
					return drop(r)
				}
				b, _, err := r.Take(8)
				if err == nil && string(b) != "2" {
					r.Write(b)
				}
				return err
			})
		}
		if got, _ := pass(t, strings.NewReader(in), drop); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestDeep(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000)
	if got, fault := pass(t, strings.NewReader(deep), all); got != deep || fault != "" {
		t.Errorf("%d bytes, %q", len(got), fault)
	}
}

// Errors of reading and writing come back.
func TestErrors(t *testing.T) {
	t.Parallel()
	broken := fmt.Errorf("broken")
	r := rewrite.New(io.MultiReader(strings.NewReader(`{"a":[`), iotest.ErrReader(broken)), nil)
	if err := r.Run(func() error { return all(r) }); err != broken {
		t.Errorf("reading: %v", err)
	}
	r = rewrite.New(strings.NewReader(`[1]`), nil)
	if err := r.Run(func() error { return broken }); err != broken {
		t.Errorf("the caller's: %v", err)
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"c"}],"skip":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, _ := pass(t, bytes.NewReader(b), all); got != string(b) {
			t.Errorf("%q", got)
		}
	})
}
