package trace_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/trace"
)

// packedTrace builds an Android trace of version 4, 5, 0xf4 or 0xf5, packet by packet.
type packedTrace struct{ bytes.Buffer }

// startPacked writes the header. frequency is the counter's, in Hz; 0: times are nanoseconds.
func startPacked(version uint16, frequency uint64) *packedTrace {
	p := &packedTrace{}
	b := binary.LittleEndian.AppendUint16([]byte("SLOW"), version)
	for _, n := range []uint64{1_000_000, 77, frequency} { // start, the counter at the start
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	p.Write(append(b, 0, 0))
	return p
}

func (p *packedTrace) thread(id uint32, name string) *packedTrace {
	p.Write(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32([]byte{0}, id), uint16(len(name))))
	p.WriteString(name)
	return p
}

func (p *packedTrace) method(id uint64, text string) *packedTrace {
	p.Write(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint64([]byte{1}, id), uint16(len(text))))
	p.WriteString(text)
	return p
}

// step is an entry: 0 enters method, 1 and 2 leave.
type step struct {
	at, action, method uint64
}

// packSteps packs entries. dual writes the thread's CPU time behind the time.
func packSteps(dual bool, steps ...step) (b []byte) {
	var last step
	for _, s := range steps {
		value := s.at<<2 | s.action
		b = appendLEB(b, int64(value-last.at))
		last.at = value
		if dual {
			b = appendLEB(b, int64(s.at/2))
		}
		if s.action == 0 {
			b = appendLEB(b, int64(s.method-last.method))
			last.method = s.method
		}
	}
	return b
}

func appendLEB(b []byte, n int64) []byte {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func (p *packedTrace) block(thread uint32, count int, packed []byte) *packedTrace {
	b := binary.LittleEndian.AppendUint32([]byte{2}, thread)
	b = append(b, byte(count), byte(count>>8), byte(count>>16))
	p.Write(binary.LittleEndian.AppendUint32(b, uint32(len(packed))))
	p.Write(packed)
	return p
}

// summary ends the trace. length: it is written in front, as some runtimes do.
func (p *packedTrace) summary(length bool) []byte {
	text := "*version\n5\ndata-file-overflow=true\nclock=dual\nelapsed-time-nsec=1\npid=4711\n*end\n"
	p.WriteByte(3)
	if length {
		p.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(text))))
	}
	p.WriteString(text)
	return p.Bytes()
}

const (
	packedRun    = 0x7f12_3456_7800
	packedInvoke = 0x7f12_3456_7000 // below the other: a difference is negative
)

// smallPacked is a trace of two threads, with all ways to leave and a method without a name.
func smallPacked(version uint16) *packedTrace {
	dual := version&0xf == 5
	p := startPacked(version, 0).thread(4711, "main").thread(4712, "")
	p.method(packedRun, "com.example.Main\trun\t(Landroid/os/Bundle;)V\tMain.java\t548\n")
	p.method(packedInvoke, "java.lang.reflect.Method\tinvoke\t(Ljava/lang/Object;[I)Z\tMethod.java")
	p.method(packedRun, "com.example.Other\trun\t()V\tOther.java") // the first name holds
	p.block(4711, 4, packSteps(dual, step{90, 1, 0}, step{100, 0, packedRun}, step{200, 0, packedInvoke}, step{300, 1, 0}))
	p.block(4712, 2, packSteps(dual, step{120, 0, 0x10}, step{150, 0, packedRun}))
	p.block(4711, 2, packSteps(dual, step{500, 2, 0}, step{600, 0, packedInvoke}))
	return p
}

// Versions 4 and 5, streamed or not, are the same packets.
func TestARTPacked(t *testing.T) {
	run, invoke := "com.example.Main.run(android.os.Bundle)", "java.lang.reflect.Method.invoke(java.lang.Object, int[])"
	want := []slice{
		{Thread: "4711", Name: run, Start: 100, End: 500},
		{Thread: "4711", Name: invoke, Start: 200, End: 300, Depth: 1},
		{Thread: "4712", Name: "method 0x10", Start: 120, End: 600, Unclosed: true},
		{Thread: "4712", Name: run, Start: 150, End: 600, Depth: 1, Unclosed: true},
		{Thread: "4711", Name: invoke, Start: 600, End: 600, Unclosed: true},
	}
	for _, version := range []uint16{4, 5, 0xf4, 0xf5} {
		for _, length := range []bool{false, true} {
			file := smallPacked(version).summary(length)
			s, report, err := readText(t, file)
			if err != nil {
				t.Fatalf("version %#x: %v", version, err)
			}
			if diff := cmp.Diff(want, s.slices); diff != "" {
				t.Errorf("version %#x: (-want +got)\n%s", version, diff)
			}
			if report.Orphans != 1 || report.Unclosed != 3 || report.Bad != 0 || len(report.Notes) != 1 {
				t.Errorf("version %#x: %+v", version, report)
			}
			if s.tracks[0].Name != "main" || s.tracks[0].TID != 4711 || s.tracks[0].CPU {
				t.Errorf("version %#x: %+v", version, s.tracks[0])
			}
		}
	}
}

// Times count the ticks of a counter. Ticks of a long trace times 10^9 need more than 64 bits.
func TestARTPackedTicks(t *testing.T) {
	for _, c := range []struct {
		frequency, ticks uint64
		want             int64
	}{
		{0, 1 << 40, 1 << 40},
		{19_200_000, 19_200_000 * 3600, 3600e9},
		{2_995_200_000, 2_995_200_000 * 86400, 86400e9},
		{1_000_000_000, 12345, 12345},
		{3, 1, 333_333_333},
		{1, 1 << 61, 1 << 62}, // hostile: the bound
	} {
		p := startPacked(5, c.frequency).thread(1, "main")
		p.block(1, 1, packSteps(true, step{c.ticks, 0, 8}))
		s, _, err := readText(t, p.summary(false))
		if err != nil || len(s.slices) != 1 || s.slices[0].Start != c.want {
			t.Errorf("%d ticks of %d Hz: %v %v, want %d", c.ticks, c.frequency, s.slices, err, c.want)
		}
	}
}

// Blocks drawn at random, some longer than a buffer, give the calls of plain stacks.
func TestARTPackedRandom(t *testing.T) {
	d := rand.New(rand.NewPCG(3, 5))
	for _, size := range []int{3, 500, 300_000} {
		dual := d.IntN(2) == 0
		version := uint16(4)
		if dual {
			version = 5
		}
		p := startPacked(version, 0)
		methods := map[uint64]string{}
		for i := range 40 {
			id := d.Uint64()>>16&^7 | 8
			methods[id] = fmt.Sprintf("a.C.m%d()", i)
			p.method(id, fmt.Sprintf("a.C\tm%d\t()V\tC.java", i))
		}
		ids := make([]uint64, 0, len(methods))
		for id := range methods {
			ids = append(ids, id)
		}
		p.thread(7, "main")
		var want []slice
		var open []int
		now := uint64(0)
		for range 2 {
			var steps []step
			for range size {
				now += d.Uint64() >> (40 + d.IntN(20))
				if len(open) > 0 && d.IntN(2) == 0 {
					steps = append(steps, step{now, 1 + d.Uint64()%2, 0})
					want[open[len(open)-1]].End = int64(now)
					open = open[:len(open)-1]
					continue
				}
				id := ids[d.IntN(len(ids))]
				steps = append(steps, step{now, 0, id})
				want = append(want, slice{Thread: "7", Name: methods[id], Start: int64(now), Depth: len(open)})
				open = append(open, len(want)-1)
			}
			p.block(7, len(steps), packSteps(dual, steps...))
		}
		for _, i := range open {
			want[i].End, want[i].Unclosed = int64(now), true
		}
		s, report, err := readText(t, p.summary(false))
		if err != nil || report.Bad != 0 {
			t.Fatalf("%d: %v %+v", size, err, report)
		}
		if len(want) != len(s.slices) {
			t.Fatalf("%d calls, want %d", len(s.slices), len(want))
		}
		for i := range want {
			if want[i] != s.slices[i] {
				t.Fatalf("call %d of %d: %+v, want %+v", i, len(want), s.slices[i], want[i])
			}
		}
	}
}

// An error says where, and comes behind all that could be read.
func TestARTPackedBad(t *testing.T) {
	start := func() *packedTrace { return startPacked(0xf5, 0).thread(1, "main").method(8, "a.B\tc\t()V\tB.java") }
	good := packSteps(true, step{5, 0, 8}, step{9, 1, 0})
	methodFirst := func() (b []byte) {
		for _, n := range []int64{8, 5, 2, 1, 4, 2} { // method and action, time, CPU time
			b = appendLEB(b, n)
		}
		return b
	}()
	long := bytes.Repeat([]byte{0xff}, 11)
	for _, c := range []struct {
		what  string
		file  []byte
		error string
		calls int
		bad   uint64
	}{
		{"no summary", start().block(1, 2, good).Bytes(), "art: file+0x57: corrupt input: want *end of the summary", 1, 0},
		{"a cut summary", append(start().block(1, 2, good).Bytes(), "\x03*version\n"...), "art: file+0x61: corrupt input: want *end of the summary", 1, 0},
		{"another packet", append(start().block(1, 2, good).Bytes(), 4), "art: file+0x57: corrupt input: want a thread, method, entries or summary, not 4", 1, 0},
		{"a cut header", start().Bytes()[:20], "art: file+0x14: corrupt input: want the header of the packets", 0, 0},
		{"a cut name", start().Bytes()[:40], "art: file+0x28: corrupt input: want a thread's name", 0, 0},
		{"a cut ID", start().Bytes()[:35], "art: file+0x23: corrupt input: want the ID and length of a thread's name", 0, 0},
		{"cut entries", start().block(1, 2, good).Bytes()[:0x56], "art: file+0x56: corrupt input: want the rest of the entries", 1, 0},
		{"a thread without a name", start().block(2, 2, good).summary(false), "art: file+0x46: corrupt input: want the name of thread 2 before its entries", 0, 0},
		{"the method first", start().block(1, 2, methodFirst).summary(false), "art: file+0x46: unsupported: want entries that begin with their time, as Perfetto reads them, not with their method", 0, 0},
		{"entries behind the count", start().block(1, 1, good).summary(false), "", 1, 1},
		{"fewer entries than counted", start().block(1, 99, good).summary(false), "", 1, 0},
		{"a number that is too long", start().block(1, 9, append(good[:len(good):len(good)], long...)).summary(false), "", 1, 1},
		{"no action", start().block(1, 2, packSteps(true, step{5, 3, 0}, step{9, 0, 8})).summary(false), "", 1, 1},
		{"a method without a class", start().method(16, "\tx").summary(false), "", 0, 1},
		{"no entries", start().block(1, 0, nil).summary(false), "", 0, 0},
	} {
		s, report, err := readText(t, c.file)
		if got := fmt.Sprint(err); err == nil && c.error != "" || err != nil && got != c.error {
			t.Errorf("%s: %v\nwant %s", c.what, err, c.error)
		}
		if err != nil && !formats.Rejects(err) {
			t.Errorf("%s: %T", c.what, err)
		}
		if len(s.slices) != c.calls || report.Bad != c.bad {
			t.Errorf("%s: %v %+v", c.what, s.slices, report)
		}
	}
	// A key section stands before versions 1 to 3 alone.
	keys := append([]byte("*version\n5\n*end\n"), start().summary(false)...)
	if _, _, err := readText(t, keys); err == nil || !strings.Contains(err.Error(), "unsupported") {
		t.Errorf("behind a key section: %v", err)
	}
	six := start().summary(false)
	six[4] = 6
	if _, _, err := readText(t, six); err == nil || !strings.Contains(err.Error(), "not 6") {
		t.Errorf("version 6: %v", err)
	}
	if trace.Sniff(six) != "art" {
		t.Error("not recognized")
	}
}

// A trace cut anywhere gives what came before, and an error.
func TestARTPackedCut(t *testing.T) {
	file := smallPacked(0xf5).summary(true)
	end := bytes.Index(file, []byte("*end")) + len("*end")
	calls := 0
	for n := 6; n < end; n++ {
		s, _, err := readText(t, file[:n])
		if err == nil || !formats.Rejects(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if len(s.slices) < calls {
			t.Errorf("%d bytes: %d calls after %d", n, len(s.slices), calls)
		}
		calls = len(s.slices)
	}
	if calls != 5 {
		t.Errorf("%d calls", calls)
	}
}
