package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
)

var made = time.UnixMilli(1_700_000_000_000)

// rows gives n cells as the store has them: artifact, load, kind, last position.
func rows(n, valueBytes int, seed uint64) []Cell {
	rng := rand.New(rand.NewPCG(seed, 1))
	list := make([]Cell, n)
	key := make([]byte, 24)
	var last uint64
	for i := range list {
		if i%50 == 0 {
			binary.BigEndian.PutUint64(key, uint64(i)<<32|uint64(rng.Uint32())) // the next load
			last = 0
		}
		last += 2 + rng.Uint64N(4000)
		row := append(bytes.Clone(key), 1)
		row = binary.BigEndian.AppendUint64(row, last)
		value := make([]byte, valueBytes/2+rng.IntN(valueBytes+1))
		for j := range value {
			value[j] = byte(rng.Uint32())
		}
		list[i] = Cell{Row: row, Value: value, Timestamp: 1}
	}
	return list
}

func write(t testing.TB, list []Cell, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, o)
	for _, c := range list {
		if err := w.AppendAt(c.Row, c.Value, c.Timestamp); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Bytes() != int64(b.Len()) {
		t.Fatalf("writer counts %d bytes, wrote %d", w.Bytes(), b.Len())
	}
	return b.Bytes()
}

func open(t testing.TB, file []byte) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shapes are files of one, two and three index levels.
var shapes = []struct {
	name   string
	rows   int
	value  int
	o      Options
	levels uint64
}{
	{"one row", 1, 100, Options{}, 1},
	{"one level", 3000, 1000, Options{}, 1},
	{"big cells", 100, 200_000, Options{}, 1},
	{"empty values", 3000, 0, Options{BlockBytes: 512}, 1},
	{"two levels", 3000, 300, Options{BlockBytes: 2048, IndexBytes: 4096}, 2},
	{"three levels", 3000, 300, Options{BlockBytes: 512, IndexBytes: 1024}, 3},
	{"many levels", 3000, 40, Options{BlockBytes: 1, IndexBytes: 64}, 0},
	{"prefix filter", 3000, 300, Options{BlockBytes: 2048, IndexBytes: 4096, Bloom: Bloom{Kind: BloomRowPrefix, Prefix: 24}}, 2},
	{"row filter", 3000, 100, Options{BlockBytes: 2048, Bloom: Bloom{Kind: BloomRow}}, 1},
	{"chunks", 120_000, 0, Options{IndexBytes: 512, Bloom: Bloom{Kind: BloomRow, ErrorRate: 0.0001}}, 0},
	{"short rows", 500, 10, Options{Bloom: Bloom{Kind: BloomRowPrefix, Prefix: 100, ErrorRate: 0.5}}, 1},
}

// mostLookups is about how many rows of a file are looked up, evenly apart. The scan reads all.
const mostLookups = 5000

func TestRoundTrip(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			list := rows(s.rows, s.value, 7)
			for i := range list {
				list[i].Timestamp = 1 + uint64(i%3)
			}
			s.o.Created = made
			r := open(t, write(t, list, s.o))
			if r.Rows() != uint64(len(list)) || !bytes.Equal(r.LastRow(), list[len(list)-1].Row) {
				t.Fatalf("%d rows to %x", r.Rows(), r.LastRow())
			}
			if s.levels > 0 && r.t.levels != s.levels {
				t.Fatalf("%d index levels, want %d", r.t.levels, s.levels)
			}
			i := 0
			err := r.Scan(nil, nil, func(c Cell) error {
				same(t, c, list[i])
				i++
				return nil
			})
			if err != nil || i != len(list) {
				t.Fatalf("%d of %d rows, %v", i, len(list), err)
			}
			for i := 0; i < len(list); i += 1 + len(list)/mostLookups {
				want := list[i]
				prev := append(bytes.Clone(want.Row[:len(want.Row)-1]), want.Row[len(want.Row)-1]-1, 255)
				if want.Row[len(want.Row)-1] == 0 {
					prev = want.Row
				}
				for _, from := range [][]byte{want.Row, prev} {
					c, ok, err := r.First(from, nil)
					if err != nil || !ok {
						t.Fatalf("first at %x: %v %v", from, ok, err)
					}
					same(t, c, want)
				}
				if _, ok, err := r.First(want.Row, want.Row); ok || err != nil {
					t.Fatalf("first in an empty span: %v, %v", ok, err)
				}
				above := append(bytes.Clone(want.Row), 0)
				c, ok, err := r.First(above, nil)
				if err != nil || ok != (i+1 < len(list)) {
					t.Fatalf("first above row %d: %v, %v", i, ok, err)
				}
				if ok {
					same(t, c, list[i+1])
				}
				if _, ok, err := r.First(above, append(bytes.Clone(want.Row), 1)); ok || err != nil {
					t.Fatalf("first in a gap: %v, %v", ok, err)
				}
			}
			if _, ok, _ := r.First(nil, nil); !ok {
				t.Fatal("no first row of all")
			}
		})
	}
}

func same(t testing.TB, got, want Cell) {
	t.Helper()
	if !bytes.Equal(got.Row, want.Row) || !bytes.Equal(got.Value, want.Value) || got.Timestamp != want.Timestamp {
		t.Fatalf("row %x (%d bytes, timestamp %d), want %x (%d, %d)", got.Row, len(got.Value), got.Timestamp, want.Row, len(want.Value), want.Timestamp)
	}
}

func TestScanSpan(t *testing.T) {
	list := rows(2000, 100, 3)
	r := open(t, write(t, list, Options{BlockBytes: 1024, IndexBytes: 512, Created: made}))
	for _, span := range [][2]int{{0, 0}, {0, 1}, {17, 18}, {17, 900}, {1999, 2000}, {500, 2000}} {
		var stop []byte
		if span[1] < len(list) {
			stop = list[span[1]].Row
		}
		i := span[0]
		err := r.Scan(list[i].Row, stop, func(c Cell) error { same(t, c, list[i]); i++; return nil })
		if err != nil || i != span[1] {
			t.Fatalf("span %v: ended at %d, %v", span, i, err)
		}
	}
	stop := errors.New("stop")
	if err := r.Scan(nil, nil, func(Cell) error { return stop }); err != stop {
		t.Fatalf("emit's error came back as %v", err)
	}
}

func TestWriterRefuses(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, Options{Created: made})
	if err := w.Append([]byte("b"), nil); err != nil {
		t.Fatal(err)
	}
	err := w.Append([]byte("a"), nil)
	if err == nil || err.Error() != "hfile: row 61 after 62: rows must ascend" {
		t.Fatal(err)
	}
	if again := w.Append([]byte("c"), nil); again != err {
		t.Fatalf("a failed writer took a row: %v", again)
	}
	if again := w.Close(); again != err || b.Len() != 0 {
		t.Fatalf("a failed writer closed: %v", again)
	}
	for name, row := range map[string][]byte{"empty": nil, "long": make([]byte, maxRow+1)} {
		if err := NewWriter(&b, Options{}).Append(row, nil); err == nil {
			t.Errorf("%s row taken", name)
		}
	}
	if err := NewWriter(&b, Options{}).Close(); err == nil {
		t.Error("a file without rows")
	}
}

// short is a disk that is full after so many bytes.
type short struct{ left int }

var errFull = errors.New("full")

func (s *short) Write(b []byte) (int, error) {
	n := min(len(b), s.left)
	s.left -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func TestWriterFails(t *testing.T) {
	list := rows(200, 100, 3)
	whole := len(write(t, list, Options{BlockBytes: 1024, IndexBytes: 256, Created: made}))
	for left := 0; left < whole; left += 97 {
		w := NewWriter(&short{left}, Options{BlockBytes: 1024, IndexBytes: 256, Created: made})
		for _, c := range list {
			_ = w.Append(c.Row, c.Value) // the failure stays
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Fatalf("disk full after %d of %d bytes: %v", left, whole, err)
		}
	}
}

// TestDamage flips each byte of a file: every answer is an error or the right one.
func TestDamage(t *testing.T) {
	list := rows(60, 40, 5)
	file := write(t, list, Options{BlockBytes: 300, IndexBytes: 200, Created: made})
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 0x55
		err := readAll(bad, list)
		var e *Error
		if err != nil && !(errors.As(err, &e) && (errors.Is(err, sinks.ErrCorrupt) || errors.Is(err, ErrUnsupported))) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if err == nil && i < len(file)-trailerBytes {
			t.Fatalf("byte %d of %d: damage not seen", i, len(file))
		}
	}
	for n := range file {
		if err := readAll(file[:n], list); err == nil {
			t.Fatalf("a file cut after %d of %d bytes was read", n, len(file))
		}
	}
}

func readAll(file []byte, want []Cell) error {
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	i := 0
	err = r.Scan(nil, nil, func(c Cell) error {
		if i >= len(want) || !bytes.Equal(c.Row, want[i].Row) || !bytes.Equal(c.Value, want[i].Value) {
			return fmt.Errorf("row %d is wrong", i)
		}
		i++
		return nil
	})
	if err != nil {
		return err
	}
	for _, w := range want {
		c, ok, err := r.First(w.Row, nil)
		if err != nil {
			return err
		}
		if !ok || !bytes.Equal(c.Value, w.Value) {
			return fmt.Errorf("row %x is wrong", w.Row)
		}
	}
	if i != len(want) {
		return fmt.Errorf("%d rows of %d", i, len(want))
	}
	return nil
}
