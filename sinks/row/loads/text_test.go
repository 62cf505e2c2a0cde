package loads

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/texts"
)

// source is a text that a test stores.
type source struct{ file, text string }

// withTexts encodes a script of one range and texts.
func withTexts(t testing.TB, k *row.Keyring, all []source) (*row.Loaded, []sinks.Row) {
	t.Helper()
	var rows []sinks.Row
	a := script(1 << 32)
	e, err := NewEncoder(k, &a, row.NewLoad(time.Unix(1, 0)), nil, dictionary.Table{Strings: []string{""}, Runs: []uint32{0}}, func(r sinks.Row) error {
		if n := len(rows); n > 0 && bytes.Compare(rows[n-1].Key, r.Key) >= 0 {
			t.Fatalf("row %x after %x", r.Key, rows[n-1].Key)
		}
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.AddScript(&symbol.Script{Run: symbol.Run{Rank: symbol.RankScript, Strings: []string{""}, Scopes: []symbol.Scope{{Parent: -1}}, Ranges: []symbol.Range{{Start: 0, End: 9}}}, Marks: make([]symbol.Mark, 1)}); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if err := e.AddText(s.file, []byte(s.text)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := e.Close()
	if err != nil {
		t.Fatal(err)
	}
	return l, rows
}

// find is the row of a span.
func find(t testing.TB, rows []sinks.Row, s sinks.Span) sinks.Row {
	t.Helper()
	for _, r := range rows {
		if bytes.Equal(r.Key, s.From) {
			return r
		}
	}
	t.Fatalf("no row %x", s.From)
	return sinks.Row{}
}

// excerpt reads lines of a file as a client does.
func excerpt(t testing.TB, o *Opened, rows []sinks.Row, file string, first, last uint32) (out []string) {
	t.Helper()
	for _, part := range o.TextRows(file, first, last) {
		lines, err := o.Text(part, find(t, rows, part.Span))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			if n := part.From + uint32(i); n >= first && n <= last {
				out = append(out, line)
			}
		}
	}
	return out
}

// Every line of every text comes back by its number, over the borders of rows, with every line ending.
func TestTextsComeBackByLine(t *testing.T) {
	k, _ := newRing(t)
	random := rand.New(rand.NewPCG(1, 2))
	var all []source
	want := map[string][]string{}
	for i, end := range []string{"\n", "\r\n", "\r"} {
		var lines []string
		for range 3000 + 500*i {
			lines = append(lines, strings.Repeat("x", random.IntN(90))+fmt.Sprint(random.Uint64()))
		}
		lines[7] = ""
		file := fmt.Sprintf("src/%d.ts", i)
		all = append(all, source{file, strings.Join(lines, end) + strings.Repeat(end, i)})
		for range max(i-1, 0) {
			lines = append(lines, "")
		}
		want[file] = lines
	}
	long := strings.Repeat("y", texts.MaxLine+9)
	all = append(all, source{"long", long + "\nnext"}, source{"empty", ""}, source{"one", "a"}, source{"", "of no name"})
	want["long"], want["one"], want[""] = []string{long[:texts.MaxLine], "next"}, []string{"a"}, []string{"of no name"}
	l, rows := withTexts(t, k, all)
	if l.TextRows < 6 || l.TextsLeft != 1 {
		t.Errorf("%d rows, %d texts left, want several and the empty one", l.TextRows, l.TextsLeft)
	}
	o, err := Open(k, l.Artifact.ID, l)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.TextRows("one", 1, 1); got != nil {
		t.Errorf("%v without a directory", got)
	}
	span, ok := o.TextDirectory()
	if !ok {
		t.Fatal("no directory")
	}
	if err := o.SetTextDirectory(find(t, rows, span)); err != nil {
		t.Fatal(err)
	}
	for file, lines := range want {
		n := uint32(len(lines))
		for _, q := range [][2]uint32{{1, 1}, {1, n}, {n, n}, {n, n + 5}, {n / 2, n/2 + 7}} {
			first, last := max(q[0], 1), q[1]
			if got := excerpt(t, o, rows, file, first, last); !slices.Equal(got, lines[first-1:min(last, n)]) {
				t.Fatalf("%q, lines %d to %d: %d lines, want %d", file, first, last, len(got), min(last, n)-first+1)
			}
		}
		if got := excerpt(t, o, rows, file, n+1, n+2); got != nil {
			t.Errorf("%q: lines behind its end: %q", file, got)
		}
	}
	if got := excerpt(t, o, rows, "none", 1, 9); got != nil {
		t.Errorf("a file that is not there: %q", got)
	}
}

// Two texts of one name cannot be told apart by a frame: neither is served. The same text twice is one.
func TestTextsOfOneName(t *testing.T) {
	k, _ := newRing(t)
	l, rows := withTexts(t, k, []source{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"b", "2"}})
	o, err := Open(k, l.Artifact.ID, l)
	if err != nil {
		t.Fatal(err)
	}
	span, _ := o.TextDirectory()
	if err := o.SetTextDirectory(find(t, rows, span)); err != nil {
		t.Fatal(err)
	}
	if a, b := excerpt(t, o, rows, "a", 1, 1), excerpt(t, o, rows, "b", 1, 1); a != nil || !slices.Equal(b, []string{"2"}) || l.TextsLeft != 1 {
		t.Errorf("%q %q, %d left", a, b, l.TextsLeft)
	}
}

// A load with texts verifies, and with a row of them changed, moved or missing it does not.
func TestTextsVerify(t *testing.T) {
	k, _ := newRing(t)
	l, rows := withTexts(t, k, []source{{"a", strings.Repeat("line\n", 40000)}, {"b", "2"}})
	verify := func(rows []sinks.Row) error {
		o, err := Open(k, l.Artifact.ID, l)
		if err != nil {
			t.Fatal(err)
		}
		v := o.Verify()
		for _, r := range rows {
			if _, err := v.Add(r); err != nil {
				return err
			}
		}
		digest, err := v.Digest()
		if err == nil && digest != l.Digest {
			err = row.ErrUnauthentic
		}
		return err
	}
	if err := verify(rows); err != nil {
		t.Fatal(err)
	}
	other, _ := withTexts(t, k, []source{{"a", strings.Repeat("line\n", 40000)}, {"b", "3"}})
	if other.Digest == l.Digest {
		t.Error("another text has the same digest")
	}
	for i := range rows {
		if err := verify(slices.Delete(slices.Clone(rows), i, i+1)); !errors.Is(err, row.ErrUnauthentic) {
			t.Errorf("without row %d: %v", i, err)
		}
		for _, at := range []int{0, 1, rowHeader, len(rows[i].Value) - 1} {
			bad := slices.Clone(rows)
			bad[i].Value = bytes.Clone(bad[i].Value)
			bad[i].Value[at] ^= 1
			if err := verify(bad); err == nil {
				t.Errorf("row %d with byte %d flipped verifies", i, at)
			}
		}
		moved := slices.Clone(rows)
		moved[i].Value = rows[(i+1)%len(rows)].Value
		if err := verify(moved); !errors.Is(err, row.ErrUnauthentic) {
			t.Errorf("row %d with the next one's value: %v", i, err)
		}
	}
}
