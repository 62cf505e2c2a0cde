package profile_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/symlake/symlake/formats/profile"
)

// lines is a form of lines. The appending one adds a line, the other one puts letters in upper case.
func lines(appends bool) []*profile.Format {
	return []*profile.Format{{
		Name: "lines", Appends: appends,
		Begins: func(head []byte) bool { return bytes.HasPrefix(head, []byte("lines")) },
		Answer: func(_ context.Context, in *profile.Input, out io.Writer, _ *profile.Options) error {
			r, err := in.Open()
			if err != nil {
				return err
			}
			defer r.Close()
			text, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			answer := strings.ToUpper(string(text))
			if appends {
				answer = "appended\n"
			}
			_, err = io.WriteString(out, answer)
			return err
		},
	}}
}

// pack packs a text with gzip.
func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpack reads all members of a gzip file.
func unpack(t *testing.T, b []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A profile comes out in the packing that it came in. Forms that append keep its bytes.
func TestAnswerPacking(t *testing.T) {
	t.Parallel()
	const text = "lines\nof a profile\n"
	for _, appends := range []bool{false, true} {
		want := strings.ToUpper(text)
		if appends {
			want = text + "appended\n"
		}
		for _, packed := range []bool{false, true} {
			in := []byte(text)
			if packed {
				in = append(pack(t, text[:9]), pack(t, text[9:])...)
			}
			var out bytes.Buffer
			var o profile.Options
			if err := profile.Answer(context.Background(), lines(appends), profile.Bytes("x", in), &out, &o); err != nil {
				t.Fatal(err)
			}
			got := out.String()
			if packed {
				got = unpack(t, out.Bytes())
			}
			if got != want || len(o.Counts.Kept) > 0 || o.Counts.Format != "lines" {
				t.Errorf("appends %v, packed %v: %q, want %q; %+v", appends, packed, got, want, o.Counts)
			}
			if appends && !bytes.HasPrefix(out.Bytes(), in) {
				t.Errorf("packed %v: the profile's bytes changed", packed)
			}
		}
	}
}

// A damaged packing ends the bytes, and is counted.
func TestAnswerDamagedPacking(t *testing.T) {
	t.Parallel()
	whole := pack(t, "lines\n"+strings.Repeat("of a profile, and another one\n", 300))
	sum := bytes.Clone(whole)
	sum[len(sum)-6] ^= 1
	for name, in := range map[string][]byte{"cut": whole[:len(whole)-20], "checksum": sum, "garbage": append(bytes.Clone(whole), "rest"...)} {
		var out bytes.Buffer
		var o profile.Options
		if err := profile.Answer(context.Background(), lines(false), profile.Bytes("x", in), &out, &o); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := unpack(t, out.Bytes()); !strings.HasPrefix(got, "LINES\nOF A PROFILE") {
			t.Errorf("%s: %q", name, got)
		}
		if len(o.Counts.Kept) != 1 || o.Counts.Kept[0].Parts != 1 || !strings.Contains(o.Counts.Kept[0].Why, "packing") {
			t.Errorf("%s: counts are %+v", name, o.Counts)
		}
	}
	var out bytes.Buffer
	err := profile.Answer(context.Background(), lines(false), profile.Bytes("x", whole[:9]), &out, new(profile.Options))
	if !errors.Is(err, profile.ErrFormat) || out.Len() > 0 {
		t.Errorf("a head of a packing gives %v and %d bytes", err, out.Len())
	}
}
