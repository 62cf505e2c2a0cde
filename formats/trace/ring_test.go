package trace_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/trace"
)

// container builds a ring container by the package's doc.
type container struct{ b []byte }

var le = binary.LittleEndian

func newContainer(pid uint32) *container {
	b := append([]byte("symring\x00"), 1, 0, 0, 0)
	return &container{le.AppendUint32(b, pid)}
}

func (c *container) chunk(kind uint32, payload []byte) *container {
	c.b = append(le.AppendUint32(le.AppendUint32(c.b, kind), uint32(len(payload))), payload...)
	return c
}

func words(of ...uint64) (b []byte) {
	for _, w := range of {
		b = le.AppendUint64(b, w)
	}
	return b
}

func (c *container) thread(id uint64, name string) *container {
	return c.chunk(1, append(words(id), name...))
}

func (c *container) names(pairs ...any) *container {
	var b []byte
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i+1].(string)
		b = append(le.AppendUint16(append(b, words(uint64(pairs[i].(int)))...), uint16(len(name))), name...)
	}
	return c.chunk(2, b)
}

func TestRing(t *testing.T) {
	c := newContainer(900).
		thread(900, "main").thread(901, "Binder:900_1").
		names(0x10, "com.example.Main.run()", 0x20, "com.example.Db.query(java.lang.String)", 0x30, "com.example.Db").
		chunk(3, words(900, 1000, 0x10, 1100, 0x20, 1200, 0)).
		chunk(77, []byte("from another version")).
		chunk(3, words(901, 1050, 0, 1060, 0x99, 1300, 0)).
		chunk(3, words(900, 1400, 0x20)).
		chunk(4, words(900, 1000, 0, 1150, 70, 1190, 91, 2000, 7)).
		chunk(5, words(900, 1150, 1190, 0x30, 901, 1250, 1260, 0x55, 902))
	s, report, err := readText(t, c.b)
	if err != nil {
		t.Fatal(err)
	}
	want := []slice{
		{Thread: "900", Name: "com.example.Main.run()", Start: 1000, End: 2000, Unclosed: true},
		{Thread: "900", Name: "com.example.Db.query(java.lang.String)", Start: 1100, End: 1200, Depth: 1},
		{Thread: "901", Name: "0x99", Start: 1060, End: 1300},
		{Thread: "900", Name: "com.example.Db.query(java.lang.String)", Start: 1400, End: 2000, Depth: 1, Unclosed: true},
		{Thread: "state", Name: "Runnable", Start: 1000, End: 1150},
		{Thread: "state", Name: "Blocked", Start: 1150, End: 1190},
		{Thread: "state", Name: "Starting", Start: 1190, End: 2000},
		{Thread: "state", Name: "state 7", Start: 2000, End: 2000, Unclosed: true},
		{Thread: "blocked", Name: "blocked by Binder:900_1", Start: 1150, End: 1190},
		{Thread: "blocked", Name: "blocked by thread 902", Start: 1250, End: 1260},
	}
	if diff := cmp.Diff(want, s.slices); diff != "" {
		t.Error(diff)
	}
	for _, n := range s.names {
		if n.Text == "blocked by Binder:900_1" {
			want := []trace.Arg{{Key: "lock", Value: "0x30 com.example.Db"}, {Key: "owner", Value: "Binder:900_1"}, {Key: "owner_tid", Value: "901"}}
			if diff := cmp.Diff(want, n.Args); diff != "" {
				t.Error(diff)
			}
		}
	}
	if report.Passed != 1 || report.Orphans != 1 || s.tracks[0].PID != 900 || s.tracks[0].Name != "main" || s.tracks[1].Name != "Binder:900_1" {
		t.Errorf("%+v %+v", report, s.tracks[0])
	}
}

// A thread's clock that goes back: the events stay, at the time before.
func TestClockJumps(t *testing.T) {
	c := newContainer(1).names(1, "a.B.c()", 2, "a.B.d()").chunk(3, words(1, 500, 1, 400, 2, 450, 0, 600, 0)).
		chunk(4, words(1, 500, 67, 300, 70, 600, 67)).
		chunk(5, words(1, 100, 300, 9, 2, 200, 250, 9, 2, 300, 200, 9, 2))
	s, report, err := readText(t, c.b)
	if err != nil {
		t.Fatal(err)
	}
	want := []slice{
		{Thread: "1", Name: "a.B.c()", Start: 500, End: 600}, {Thread: "1", Name: "a.B.d()", Start: 500, End: 500, Depth: 1},
		{Thread: "state", Name: "Runnable", Start: 500, End: 500}, {Thread: "state", Name: "Blocked", Start: 500, End: 600}, {Thread: "state", Name: "Runnable", Start: 600, End: 600, Unclosed: true},
		{Thread: "blocked", Name: "blocked by thread 2", Start: 100, End: 300}, {Thread: "blocked", Name: "blocked by thread 2", Start: 300, End: 300},
	}
	if diff := cmp.Diff(want, s.slices); diff != "" {
		t.Error(diff)
	}
	if report.Backward != 4 || report.Bad != 1 || report.FirstBad.Want != "an end of waiting that is not before its begin" {
		t.Errorf("%+v", report)
	}
}

func TestRingBad(t *testing.T) {
	calls := newContainer(1).chunk(3, words(1, 5, 0x10, 6, 0x20))
	for _, c := range []struct {
		what  string
		file  []byte
		error string
		calls int
	}{
		{"a cut header", calls.b[:12], "ring: file+0xc: corrupt input: want a header of 16 bytes", 0},
		{"another version", bytes.Replace(calls.b, []byte{0, 1, 0}, []byte{0, 2, 0}, 1), "ring: file+0x8: unsupported: want version 1, not 2", 0},
		{"a cut chunk", calls.b[:len(calls.b)-3], "ring: file+0x3d: corrupt input: want the rest of its records", 1},
		{"a record and a half", newContainer(1).chunk(3, words(1, 5, 0x10, 6)).b, "ring: file+0x14: corrupt input: want a thread's ID and whole records of 16 bytes", 0},
		{"no thread", newContainer(1).chunk(3, []byte{1}).b, "ring: file+0x19: corrupt input: want a thread's ID", 0},
		{"a name behind its chunk", newContainer(1).chunk(2, append(words(7), 200, 0)).b, "ring: file+0x20: corrupt input: want a name inside its chunk", 0},
		{"a chunk behind the file", append(calls.b, 99, 0, 0, 0, 255, 255, 255, 255), "ring: file+0x48: corrupt input: want the rest of what was announced", 2},
		{"half a chunk's head", append(calls.b, 99, 0), "ring: file+0x42: corrupt input: want a whole record", 2},
	} {
		s, _, err := readText(t, bytes.Clone(c.file))
		if err == nil || err.Error() != c.error || len(s.slices) != c.calls {
			t.Errorf("%s: %v, %d calls; want %s", c.what, err, len(s.slices), c.error)
		}
	}
	_, report, err := readText(t, newContainer(1).chunk(3, words(1, 1<<63, 0x10, 6, 0x20)).b)
	if err != nil || report.Bad != 1 || report.Slices != 1 || !strings.Contains(report.FirstBad.Error(), "file+0x20") {
		t.Errorf("%v %+v", err, report)
	}
}
