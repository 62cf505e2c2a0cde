package dictionary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// The strings read are the strings picked, over several pages, names with and without
// a common beginning.
func TestDictionaryGivesItsStrings(t *testing.T) {
	tab := Table{Strings: []string{""}, Runs: []uint32{9}}
	for i := range 3 * pageStrings / 2 {
		tab.Strings = append(tab.Strings, fmt.Sprintf("_ZN4ceph6module%dE", i*7919%10007), strings.Repeat("x", i%300)+fmt.Sprint(i))
		tab.Runs = append(tab.Runs, uint32(1+i%5), 1)
	}
	picked := tab.Choose()
	if len(picked) != len(tab.Strings)-1 {
		t.Fatalf("%d of %d strings were picked", len(picked), len(tab.Strings)-1)
	}
	d, err := Open(tab.Encode(column.NewEncoder(), picked, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.pages) != 3 {
		t.Fatalf("%d pages, want 3", len(d.pages))
	}
	for i, p := range picked {
		if got := d.Get(uint32(i)); got != tab.Strings[p.at] {
			t.Fatalf("string %d is %q, want %q", i, got, tab.Strings[p.at])
		}
	}
	if err := d.Err(); err != nil {
		t.Error(err)
	}
}

// The budget goes to the strings that most runs use, then to the first ones of
// strings of fewer users.
func TestDictionaryBudget(t *testing.T) {
	long := func(c string, runs uint32) (string, uint32) { return strings.Repeat(c, maxBytes/4), runs }
	tab := Table{Strings: make([]string, 8), Runs: make([]uint32, 8)}
	tab.Strings[1], tab.Runs[1] = long("f", 1)
	tab.Strings[2], tab.Runs[2] = long("e", 2)
	tab.Strings[3], tab.Runs[3] = long("d", 1)
	tab.Strings[4], tab.Runs[4] = long("c", 5000)
	tab.Strings[5], tab.Runs[5] = long("b", 1)
	tab.Strings[6], tab.Runs[6] = "unused", 0
	tab.Strings[7], tab.Runs[7] = "a", 1
	var got []uint32
	for _, s := range tab.Choose() {
		got = append(got, s.at)
	}
	if !slices.Equal(got, []uint32{7, 5, 4, 2}) {
		t.Errorf("picked %v", got)
	}
	tab.Runs[2], tab.Runs[4] = 1, 1
	if got := tab.Choose(); got != nil {
		t.Errorf("nothing is used twice, and %v was picked", got)
	}
}

// Few bytes that stand for many are refused before these are there.
func TestPageThatGrows(t *testing.T) {
	columns := func(numbers ...uint64) (b []byte) {
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}
		return b
	}
	same := make([]uint64, 1000)
	for i := range same {
		same[i] = 1 << 20
	}
	same[0] = 0
	text := make([]byte, 1<<20)
	for name, p := range map[string]struct {
		n              int
		common, length []byte
		text           []byte
	}{
		"grows":           {len(same), columns(same...), append(columns(1<<20), make([]byte, len(same)-1)...), text},
		"more in common":  {2, columns(0, 4), columns(3, 0), text[:3]},
		"more than text":  {1, columns(0), columns(4), text[:3]},
		"less than text":  {1, columns(0), columns(2), text[:3]},
		"too few":         {2, columns(0), columns(3), text[:3]},
		"too many":        {1, columns(0, 0), columns(3, 0), text[:3]},
		"begins with one": {1, columns(1), columns(3), text[:3]},
	} {
		if _, _, err := join(p.n, column.Reader{B: p.common}, column.Reader{B: p.length}, p.text); !errors.Is(err, column.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDictionary(f *testing.F) {
	strs, _ := rowtest.Synthetic(60, 40)
	table := Table{Strings: strs}
	f.Add(table.Encode(column.NewEncoder(), table.Choose(), io.Discard))
	f.Add([]byte{1, 5, 1, 0, 1, 3, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := Open(body)
		if err != nil {
			return
		}
		for i := range min(d.count, 5000) {
			_ = d.Get(uint32(i))
		}
		if n := d.held.Load(); n > int64(len(d.pages))*(maxBytes+pageStrings*int64(unsafe.Sizeof(""))) {
			t.Fatalf("%d bytes held", n)
		}
	})
}
