package trace_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/trace"
)

// action is a record of an Android trace.
type action struct {
	thread uint16
	method uint32 // a multiple of 4
	action uint32 // 0 entered, 1 left, 2 left by an exception
	cpu    uint32 // microseconds
	wall   uint32
}

// artTrace builds an Android trace of a version; 0xf2 and 0xf3 are streamed.
type artTrace struct {
	version uint16
	clock   string
	threads map[uint16]string
	methods map[uint32]string // "class\tname\tsignature\tfile"
	actions []action
}

func (a *artTrace) bytes() []byte {
	var b bytes.Buffer
	le := binary.LittleEndian
	streamed := a.version&0xf0 != 0
	keys := func() string {
		var k strings.Builder
		fmt.Fprintf(&k, "*version\n%d\ndata-file-overflow=false\nclock=%s\nelapsed-time-usec=1\nnum-method-calls=%d\nclock-call-overhead-nsec=0\nvm=art\npid=4711\n*threads\n", a.version&0xf, a.clock, len(a.actions))
		for _, id := range sortedKeys(a.threads) {
			fmt.Fprintf(&k, "%d\t%s\n", id, a.threads[id])
		}
		k.WriteString("*methods\n")
		for _, id := range sortedKeys(a.methods) {
			fmt.Fprintf(&k, "%#x\t%s\n", id, a.methods[id])
		}
		return k.String() + "*end\n"
	}
	if !streamed {
		b.WriteString(keys())
	}
	size := map[uint16]int{1: 9, 2: 10, 3: 10}[a.version&0xf]
	if a.clock == "dual" {
		size = 14
	}
	header := make([]byte, 32)
	copy(header, "SLOW")
	le.PutUint16(header[4:], a.version)
	le.PutUint16(header[6:], 32)
	le.PutUint64(header[8:], 1_700_000_000_000_000)
	le.PutUint16(header[16:], uint16(size))
	b.Write(header)
	told := map[string]bool{}
	for _, x := range a.actions {
		if thread := fmt.Sprint("t", x.thread); streamed && !told[thread] {
			told[thread] = true
			name := a.threads[x.thread]
			b.Write(le.AppendUint16(le.AppendUint16([]byte{0, 0, 2}, x.thread), uint16(len(name))))
			b.WriteString(name)
		}
		if method := fmt.Sprint("m", x.method); streamed && !told[method] && a.methods[x.method] != "" {
			told[method] = true
			line := fmt.Sprintf("%#x\t%s\n", x.method, a.methods[x.method])
			b.Write(le.AppendUint16([]byte{0, 0, 1}, uint16(len(line))))
			b.WriteString(line)
		}
		record := []byte{byte(x.thread)}
		if a.version != 1 {
			record = le.AppendUint16(nil, x.thread)
		}
		record = le.AppendUint32(record, x.method|x.action)
		switch a.clock {
		case "dual":
			record = le.AppendUint32(le.AppendUint32(record, x.cpu), x.wall)
		case "wall":
			record = le.AppendUint32(record, x.wall)
		default:
			record = le.AppendUint32(record, x.cpu)
		}
		b.Write(record)
	}
	if streamed {
		summary := keys()
		b.Write(le.AppendUint32([]byte{0, 0, 3}, uint32(len(summary))))
		b.WriteString(summary)
	}
	return b.Bytes()
}

func sortedKeys[K uint16 | uint32](m map[K]string) (keys []K) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// versions are all versions of the format, with their clocks.
var versions = []artTrace{{version: 1, clock: "thread-cpu"}, {version: 2, clock: "wall"}, {version: 2, clock: "thread-cpu"}, {version: 3, clock: "dual"}, {version: 3, clock: "wall"}, {version: 0xf2, clock: "wall"}, {version: 0xf3, clock: "dual"}}

func TestART(t *testing.T) {
	for _, a := range versions {
		a.threads = map[uint16]string{1: "main", 2: "RenderThread"}
		a.methods = map[uint32]string{
			0x4:  "com.example.Main\tonCreate\t(Landroid/os/Bundle;)V\tMain.java",
			0x8:  "com/example/Feed$Adapter\tbind\t(I[[Ljava/lang/String;)Z\tFeed.java\t17",
			0x10: "com.example.Odd\tname\tno signature",
		}
		a.actions = []action{
			{1, 0x10, 1, 5, 5}, // calls from before the trace began
			{1, 0x4, 0, 10, 10},
			{2, 0x8, 0, 11, 12},
			{1, 0x8, 0, 12, 14},
			{1, 0xc, 0, 13, 15}, // not in the table
			{1, 0x8, 2, 20, 30}, // an exception leaves both
			{1, 0x4, 1, 25, 40},
			{1, 0x10, 0, 26, 50},
		}
		s, report, err := readText(t, a.bytes())
		if err != nil {
			t.Errorf("version %#x: %v", a.version, err)
			continue
		}
		at := func(cpu, wall int64) int64 {
			if a.clock == "thread-cpu" {
				return cpu * 1000
			}
			return wall * 1000
		}
		bind := "com.example.Feed$Adapter.bind(int, java.lang.String[][])"
		want := []slice{
			{Thread: "1", Name: "com.example.Main.onCreate(android.os.Bundle)", Start: at(10, 10), End: at(25, 40)},
			{Thread: "2", Name: bind, Start: at(11, 12), End: at(26, 50), Unclosed: true},
			{Thread: "1", Name: bind, Start: at(12, 14), End: at(20, 30), Depth: 1},
			{Thread: "1", Name: "method 0xc", Start: at(13, 15), End: at(20, 30), Depth: 2, Unclosed: true},
			{Thread: "1", Name: "com.example.Odd", Start: at(26, 50), End: at(26, 50), Unclosed: true},
		}
		if diff := cmp.Diff(want, s.slices); diff != "" {
			t.Errorf("version %#x %s: (-want +got)\n%s", a.version, a.clock, diff)
		}
		if report.Orphans != 1 || report.Lost != 1 || report.Unclosed != 2 || report.Bad != 0 {
			t.Errorf("version %#x: %+v", a.version, report)
		}
		if s.tracks[0].Name != "main" || s.tracks[1].Name != "RenderThread" || s.tracks[0].CPU != (a.clock == "dual") {
			t.Errorf("version %#x: %+v", a.version, s.tracks[0])
		}
		if a.version&0xf0 == 0 && s.tracks[0].PID != 4711 {
			t.Errorf("process %d", s.tracks[0].PID)
		}
	}
}

// Times have 32 bits of microseconds: a longer trace begins again at 0.
func TestARTWraps(t *testing.T) {
	a := artTrace{version: 2, clock: "wall", threads: map[uint16]string{1: "main"}, methods: map[uint32]string{4: "a.B\tc\t()V\tB.java"}, actions: []action{
		{1, 4, 0, 0, 0xffff_fff0}, {1, 4, 1, 0, 0x10}, {1, 4, 0, 0, 0x20}, {1, 4, 1, 0, 0x18},
	}}
	s, report, err := readText(t, a.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := s.slices[0].End - s.slices[0].Start; got != 0x20*1000 {
		t.Errorf("%d ns over the wrap", got)
	}
	if report.Backward != 1 || s.slices[1].End != s.slices[1].Start {
		t.Errorf("a step back: %+v, %+v", report, s.slices[1])
	}
}

// What dmtracedump prints of a trace: per record the thread, whether it enters, leaves or unrolls, time and method.
func dumped(t *testing.T, dmtracedump string, file []byte) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(dmtracedump, "-o", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(out), "\n")
}

// Android's own dmtracedump reads the same events in traces drawn at random.
func TestARTOracle(t *testing.T) {
	tool := formattest.Tool(t, "dmtracedump", "apt-get install dmtracedump")
	const seed = 11
	for _, a := range versions {
		if a.version&0xf0 != 0 {
			continue // it reads no streamed ones
		}
		d := rand.New(rand.NewPCG(seed, uint64(a.version)))
		a.threads, a.methods = map[uint16]string{}, map[uint32]string{}
		for i := range uint16(5) {
			a.threads[i+1] = fmt.Sprintf("thread-%d", i)
		}
		for i := range uint32(40) {
			a.methods[4*(i+1)] = fmt.Sprintf("com.example.C%d\tm%d\t(IJ)V\tC.java", i%7, i)
		}
		open := map[uint16][]uint32{}
		now, run := uint32(0), map[uint16]uint32{}
		for range 2000 {
			thread := uint16(1 + d.IntN(5))
			step := uint32(d.IntN(50))
			now += step
			run[thread] += step / 2
			x := action{thread: thread, cpu: run[thread], wall: now}
			if stack := open[thread]; len(stack) > 0 && d.IntN(5) < 2 {
				x.method, x.action = stack[len(stack)-1], uint32(1+d.IntN(2))
				open[thread] = stack[:len(stack)-1]
			} else {
				x.method = 4 * uint32(1+d.IntN(40))
				open[thread] = append(stack, x.method)
			}
			a.actions = append(a.actions, x)
		}
		file := a.bytes()
		s, _, err := readText(t, file)
		if err != nil {
			t.Fatal(err)
		}
		checkDump(t, a, s, dumped(t, tool, file))
	}
}

// checkDump compares a trace with its dump. A dump prints the thread's of two clocks.
func checkDump(t *testing.T, a artTrace, s *seen, dump []string) {
	t.Helper()
	type call struct {
		thread, name string
		start, end   int64
		depth        int
	}
	var want []call
	open := map[string][]int{}
	for _, line := range dump {
		f := strings.Fields(line)
		if len(f) < 5 || f[0] == "Trace" {
			continue
		}
		at, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			t.Fatalf("%q", line)
		}
		stack := open[f[0]]
		switch f[1] {
		case "ent":
			name := strings.TrimLeft(f[3], ".") + "(int, long)" // all draw the same signature
			open[f[0]] = append(stack, len(want))
			want = append(want, call{f[0], name, at * 1000, -1, len(stack)})
		case "xit", "unr":
			want[stack[len(stack)-1]].end = at * 1000
			open[f[0]] = stack[:len(stack)-1]
		default:
			t.Fatalf("%q", line)
		}
	}
	if len(want) < 900 {
		t.Fatalf("%d calls in the dump", len(want))
	}
	var got []call
	for i, one := range s.slices {
		c := call{one.Thread, one.Name, one.Start, one.End, one.Depth}
		if a.clock == "dual" {
			c.start, c.end = s.cpu[i][0], s.cpu[i][1]
		}
		if one.Unclosed {
			c.end = -1
		}
		got = append(got, c)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(call{})); diff != "" {
		t.Errorf("version %d, %s: (-dmtracedump +got)\n%s", a.version, a.clock, diff)
	}
}

// An error says where.
func TestARTBad(t *testing.T) {
	good := artTrace{version: 3, clock: "dual", threads: map[uint16]string{1: "main"}, methods: map[uint32]string{4: "a.B\tc\t()V\tB.java"}, actions: []action{{1, 4, 0, 1, 1}, {1, 4, 1, 2, 2}}}
	file := good.bytes()
	at := bytes.Index(file, []byte("SLOW"))
	change := func(at int, with ...byte) []byte {
		b := bytes.Clone(file)
		copy(b[at:], with)
		return b
	}
	for _, c := range []struct {
		what  string
		file  []byte
		error string
	}{
		{"no end of the keys", file[:at-5], "art: file+0xaf: corrupt input: want *end of the key section"},
		{"no header", file[:at+8], "art: file+0xbc: corrupt input: want the header of the records"},
		{"another magic", change(at, 'F'), "art: file+0xb4: corrupt input: want SLOW"},
		{"version 5", change(at+4, 5), "art: file+0xb8: unsupported: want version 1 to 3, streamed 2 or 3, or 4 or 5 without a key section, not 5"},
		{"an offset in the header", change(at+6, 8, 0), "art: file+0xba: corrupt input: want an offset of records behind the header"},
		{"an offset behind the file", change(at+6, 0, 0xff), "art: file+0xf0: corrupt input: want the rest of what was announced"},
		{"tiny records", change(at+16, 3), "art: file+0xc4: corrupt input: want a size of records from 10 to 256"},
		{"small records", change(at+16, 10), "art: file+0xc4: corrupt input: want records of 14 bytes, with two clocks"},
		{"a cut record", file[:len(file)-3], "art: file+0xed: corrupt input: want a whole record"},
	} {
		s, report, err := readText(t, c.file)
		if err == nil || err.Error() != c.error {
			t.Errorf("%s: %v\nwant %s", c.what, err, c.error)
		}
		if c.what == "a cut record" && (len(s.slices) != 1 || report.Unclosed != 1) {
			t.Errorf("%s: %v %+v", c.what, s.slices, report)
		}
	}
	streamed := artTrace{version: 0xf2, clock: "wall", threads: good.threads, methods: good.methods, actions: good.actions}
	b := streamed.bytes()
	b[32+2] = 9
	if _, _, err := readText(t, b); err == nil || err.Error() != "art: file+0x22: corrupt input: want a method, thread or summary, not 9" {
		t.Errorf("another code: %v", err)
	}
	b[4] = 2
	if _, _, err := readText(t, b); !formats.Rejects(err) {
		t.Errorf("not streamed, without keys: %v", err)
	}
	// A line of the tables that makes no sense is passed over, and said.
	text := strings.Replace(string(file), "1\tmain", "one\tmain", 1)
	s, report, err := readText(t, []byte(text))
	if err != nil || report.Bad != 1 || report.FirstBad.Error() != "art: keys+0x8a: corrupt input: want ID and name of a thread" || len(s.slices) != 1 {
		t.Errorf("%v %+v %v", err, report, report.FirstBad)
	}
	if trace.Sniff(file) != "art" || trace.Sniff(b) != "art" {
		t.Error("not recognized")
	}
}
