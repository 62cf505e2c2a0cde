package json

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// streamed feeds a text in pieces of a length, and returns the values that it hands out. It fails unless all
// handed out bytes are the text, and the memory stays bounded.
func streamed(t *testing.T, text []byte, most, piece int) (values, long []string, end Extent) {
	t.Helper()
	var out []byte
	s := &Stream{Most: most}
	s.Text = func(b []byte) error { out = append(out, b...); return nil }
	s.Value = func(b []byte) error {
		if len(b) > most {
			t.Fatalf("a value of %d bytes, with a bound of %d", len(b), most)
		}
		values = append(values, string(b))
		out = append(out, b...)
		return nil
	}
	s.Long = func(path string) { long = append(long, path) }
	rest := text
	for len(rest) > 0 && end == GoesOn {
		b := rest[:min(len(rest), piece)]
		n, e, err := s.Feed(b, b)
		if err != nil {
			t.Fatal(err)
		}
		if e == GoesOn && n != len(b) {
			t.Fatalf("%d of %d bytes taken", n, len(b))
		}
		if cap(s.room) > 2*max(most, piece)+64 {
			t.Fatalf("room for %d bytes, with a bound of %d", cap(s.room), most)
		}
		rest, end = rest[n:], e
	}
	if s.Apart() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		values = append(values, string(s.Held()))
		out = append(out, s.Held()...)
	}
	if out = append(out, rest...); !bytes.Equal(out, text) {
		t.Fatalf("bound %d, pieces of %d:\n%s\nbecame\n%s", most, piece, text, out)
	}
	return values, long, end
}

// TestStream takes values apart at several bounds.
func TestStream(t *testing.T) {
	t.Parallel()
	event := `{"id":1,"stack":"a\n\tat b","frames":[{"f":1},{"f":2}]}`
	list := "[" + strings.Repeat(event+", ", 40) + event + "]"
	for name, text := range map[string]string{
		"list":            list,
		"member":          `{"version":1,"events":` + list + `,"more":{"a":[1,2]}}`,
		"lists of lists":  `[[` + event + `],[` + strings.Repeat(event+",", 30) + event + `]]`,
		"in four members": `{"a":{"b":{"c":{"d":` + list + `}}}}`,
		"comments":        "[ // one {\n" + strings.Repeat("/* two ] */ "+event+",\n", 40) + "]",
	} {
		want := strings.Count(text, event)
		for _, most := range []int{128, 200, 1000, 1 << 20} {
			for _, piece := range []int{1, 7, 64, 1 << 16} {
				values, long, end := streamed(t, []byte(text), most, piece)
				got := 0
				for _, v := range values {
					got += strings.Count(v, event)
				}
				if got != want || len(long) > 0 || end != Whole {
					t.Errorf("%s, bound %d, pieces of %d: %d of %d events, %d too long, ended %d", name, most, piece, got, want, len(long), end)
				}
			}
		}
	}
}

// TestStreamStrings hands out strings that are elements, if they have line ends.
func TestStreamStrings(t *testing.T) {
	t.Parallel()
	text := `{"a":"plain","b":["` + strings.Repeat(`x at y\n`, 5) + `","` + strings.Repeat(`x at z\n`, 5) + `"],"c":"` + strings.Repeat(`long\n`, 100) + `","d":"last\n"}`
	values, long, _ := streamed(t, []byte(text), 120, 11)
	if got := strings.Join(values, " "); !strings.Contains(got, `at y\n`) || !strings.Contains(got, `at z\n`) || !strings.Contains(got, `last`) || strings.Contains(got, "long") {
		t.Errorf("values %s", got)
	}
	if len(long) != 1 || long[0] != ".c" {
		t.Errorf("too long: %q", long)
	}
}

// TestStreamDeep nests a value deeper than any reader looks, at all bounds.
func TestStreamDeep(t *testing.T) {
	t.Parallel()
	const depth = 100_000
	for _, text := range []string{
		strings.Repeat("[", depth) + strings.Repeat("]", depth),
		strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth),
		strings.Repeat("[", depth),
		strings.Repeat(`[{"a":`, depth),
	} {
		for _, most := range []int{256, 1 << 12, 1 << 20} {
			streamed(t, []byte(text), most, 1<<12)
		}
	}
	values, _, _ := streamed(t, []byte(`{"deep":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`,"events":[{"id":1},{"id":2}]}`), 4096, 512)
	if got := strings.Join(values, " "); !strings.Contains(got, `[{"id":1},{"id":2}]`) {
		t.Errorf("behind a deep value: %d values %.200s", len(values), got)
	}
}

// TestStreamExtent says where values end.
func TestStreamExtent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1} x`:                     `{"a":1}`,
		`{"a":1}{"b":2}`:                `{"a":1}`,
		"{\"a\":[1,\n{\"b\":2":          "{\"a\":[1,\n{\"b\":2",
		"{ level\n":                     "",
		"{\"a\":\n1 {":                  "", // a byte that is no part of it: the value is what stood before its line
		`{"a":NaN,"b":-Infinity}`:       `{"a":NaN,"b":-Infinity}`,
		`{"a":what,"b":[1 2]} x`:        `{"a":what,"b":[1 2]}`,
		"{\"a\":what,\n\"b\":1}":        "{\"a\":what,\n",
		"{\"a\":\"cut\n{\"b\":2}":       "{\"a\":\"cut\n",
		`[1,2,] x`:                      `[1,2,]`,
		"[ // x ]\n1, /* ] */ 2]\n":     "[ // x ]\n1, /* ] */ 2]",
		"{\"a\":\u00a01,\ufeff\"b\":2}": "{\"a\":\u00a01,\ufeff\"b\":2}",
		"{\"a\":1,\n#1 pc 0x10\n":       "",
		"[ 12.345] kernel":              "[ 12.345]",
	} {
		s := &Stream{Most: 1 << 10}
		n, _, err := s.Feed([]byte(text), []byte(text))
		if got := text[:n]; err != nil || got != want {
			t.Errorf("%q ends behind %q, want %q: %v", text, got, want, err)
		}
	}
}

// TestStreamGenerated takes generated values apart, and compares the values that fit with the ones that encoding/json sees.
func TestStreamGenerated(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text, err := json.Marshal(generated(random, 0))
		if err != nil {
			t.Fatal(err)
		}
		if text[0] != '{' && text[0] != '[' {
			continue
		}
		most := 16 + random.IntN(2*len(text))
		values, _, end := streamed(t, text, most, 1+random.IntN(len(text)))
		if end != Whole {
			t.Fatalf("%s does not end", text)
		}
		for _, v := range values {
			if !json.Valid([]byte(v)) {
				t.Fatalf("%s was cut into %s", text, v)
			}
		}
	}
}

// generated returns a value.
func generated(random *rand.Rand, depth int) any {
	switch kind := random.IntN(6); {
	case kind < 2 && depth < 6:
		list := make([]any, random.IntN(8))
		for i := range list {
			list[i] = generated(random, depth+1)
		}
		return list
	case kind < 5 && depth < 6 || depth == 0:
		members := map[string]any{}
		for i := range random.IntN(8) {
			members[fmt.Sprintf("k%d\"]", i)] = generated(random, depth+1)
		}
		return members
	case kind == 5:
		return strings.Repeat("x\n\"{[\\", random.IntN(9))
	}
	return random.IntN(1000)
}

// TestStreamLinear: twice the text takes twice the copies, with any shape.
func TestStreamLinear(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"brackets": func(n int) string { return strings.Repeat("[", n) },
		"members":  func(n int) string { return strings.Repeat(`{"a":`, n) },
		"elements": func(n int) string { return "[" + strings.Repeat(`{"a":1},`, n) },
		"slashes":  func(n int) string { return `{"a":"` + strings.Repeat(`\\`, n) },
		"comments": func(n int) string { return `{"a":/*` + strings.Repeat(`* `, n) },
		"combs":    func(n int) string { return strings.Repeat(`[[1],`, n) },
	} {
		cost := func(n int) float64 {
			b := []byte(text(n))
			return testing.AllocsPerRun(1, func() { streamed(t, b, 1<<10, 1<<9) })
		}
		if once, twice := cost(5_000), cost(10_000); twice > 2.5*once+256 {
			t.Errorf("%s: %v allocations, %v for twice the text", name, once, twice)
		}
	}
}

// FuzzStream: all that comes out of any text, at any bound, is the text.
func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"events":[{"a":"x\ny"},{"b":[1,2,{"c":3}]}],"d":"\u12"}`), uint16(20), uint8(3))
	f.Add([]byte("[ // x\n{\"a\":NaN},/* ] */[[[]]],\"cut"), uint16(9), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, most uint16, piece uint8) {
		streamed(t, text, int(most)+8, int(piece)+1)
	})
}
