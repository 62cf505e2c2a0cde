package all

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// tombstoneSchema is as much of debuggerd's schema as the tests use: "number name type", lists
// with a *, and the entries of the map of threads.
var tombstoneSchema = map[string]string{
	"Tombstone":      "1 arch u32,2 build_fingerprint s,3 revision s,4 timestamp s,5 pid u32,6 tid u32,7 uid u32,8 selinux_label s,9 command_line *s,20 process_uptime u32,10 signal_info Signal,14 abort_message s,15 causes *Cause,16 threads *ThreadEntry,17 memory_mappings *MemoryMapping,18 log_buffers *LogBuffer,22 page_size u32",
	"Signal":         "1 number i32,2 name s,3 code i32,4 code_name s,8 has_fault_address b,9 fault_address u64",
	"Cause":          "1 human_readable s,2 memory_error MemoryError",
	"MemoryError":    "3 heap HeapObject",
	"HeapObject":     "1 address u64,3 allocation_tid u64,4 allocation_backtrace *BacktraceFrame,5 deallocation_tid u64,6 deallocation_backtrace *BacktraceFrame",
	"ThreadEntry":    "1 key u32,2 value Thread",
	"Thread":         "1 id i32,2 name s,3 registers *Register,4 current_backtrace *BacktraceFrame,5 memory_dump *MemoryDump,6 tagged_addr_ctrl i64,7 backtrace_note *s",
	"Register":       "1 name s,2 u64 u64",
	"BacktraceFrame": "1 rel_pc u64,2 pc u64,3 sp u64,4 function_name s,5 function_offset u64,6 file_name s,7 file_map_offset u64,8 build_id s",
	"MemoryDump":     "1 register_name s,3 begin_address u64,4 memory y",
	"MemoryMapping":  "1 begin_address u64,2 end_address u64,3 offset u64,4 read b,6 execute b,7 mapping_name s,8 build_id s,9 load_bias u64",
	"LogBuffer":      "1 name s,2 logs *LogMessage",
	"LogMessage":     "1 timestamp s,2 pid u32,3 tid u32,4 priority u32,5 tag s,6 message s",
}

// encodeTombstone makes a message of its JSON with protobuf's own library.
func encodeTombstone(t testing.TB, text string) []byte {
	t.Helper()
	kinds := map[string]descriptorpb.FieldDescriptorProto_Type{"s": descriptorpb.FieldDescriptorProto_TYPE_STRING, "b": descriptorpb.FieldDescriptorProto_TYPE_BOOL,
		"y": descriptorpb.FieldDescriptorProto_TYPE_BYTES, "u32": descriptorpb.FieldDescriptorProto_TYPE_UINT32, "u64": descriptorpb.FieldDescriptorProto_TYPE_UINT64,
		"i32": descriptorpb.FieldDescriptorProto_TYPE_INT32, "i64": descriptorpb.FieldDescriptorProto_TYPE_INT64}
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("t.proto"), Syntax: proto.String("proto3")}
	for name, fields := range tombstoneSchema {
		m := &descriptorpb.DescriptorProto{Name: proto.String(name)}
		for f := range strings.SplitSeq(fields, ",") {
			w := strings.Fields(f)
			n, err := strconv.Atoi(w[0])
			if err != nil {
				t.Fatal(err)
			}
			d := &descriptorpb.FieldDescriptorProto{Name: proto.String(w[1]), Number: proto.Int32(int32(n)), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
			kind, list := strings.CutPrefix(w[2], "*")
			if list {
				d.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			}
			if scalar, ok := kinds[kind]; ok {
				d.Type = scalar.Enum()
			} else {
				d.Type, d.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String("."+kind)
			}
			m.Field = append(m.Field, d)
		}
		file.MessageType = append(file.MessageType, m)
	}
	made, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	message := dynamicpb.NewMessage(made.Messages().ByName("Tombstone"))
	if err := (protojson.UnmarshalOptions{}).Unmarshal([]byte(text), message); err != nil {
		t.Fatal(err)
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// splitBinary collects the stacks of an input that is no text, and its printed form.
func splitBinary(t testing.TB, input []byte) ([]*report.Report, string) {
	t.Helper()
	var all []*report.Report
	var out bytes.Buffer
	err := report.Split(t.Context(), bytes.NewReader(input), Dialects, report.Options{}, func(s *report.Report) error {
		all = append(all, s)
		return report.Print(&out, s, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, out.String()
}

// TestTombstoneMessage encodes the crash that a fixture has as text: what comes out of the message
// is that text, line by line, frames included, and both ask for the same places.
func TestTombstoneMessage(t *testing.T) {
	b, err := os.ReadFile(formattest.Fixture(t, "own-native/stacks/tombstone-arm64.txt"))
	if err != nil {
		t.Fatal(err)
	}
	frame := regexp.MustCompile(`#\d+ pc ([0-9a-f]+)  (\S+)(?: \(offset 0x([0-9a-f]+)\))?(?: \((.*)\+(\d+)\))? \(BuildId: ([0-9a-f]+)\)`)
	type pb struct {
		RelPC    string `json:"rel_pc"`
		File     string `json:"file_name"`
		Offset   string `json:"file_map_offset,omitempty"`
		Function string `json:"function_name,omitempty"`
		Past     string `json:"function_offset,omitempty"`
		Build    string `json:"build_id"`
	}
	var frames []pb
	for _, m := range frame.FindAllStringSubmatch(string(b), -1) {
		dec := func(hex string) string {
			v, _ := strconv.ParseUint(hex, 16, 64)
			return strconv.FormatUint(v, 10)
		}
		f := pb{RelPC: dec(m[1]), File: m[2], Function: m[4], Past: m[5], Build: m[6]}
		if m[3] != "" {
			f.Offset = dec(m[3])
		}
		frames = append(frames, f)
	}
	list, err := json.Marshal(frames)
	if err != nil {
		t.Fatal(err)
	}
	message := encodeTombstone(t, fmt.Sprintf(`{"arch":1,"build_fingerprint":"google/husky/husky:14/UD1A.230803.041/10808477:user/release-keys","revision":"MP1.0","timestamp":"2025-02-03 10:11:12.123456789+0100",
		"pid":4242,"tid":4270,"uid":10321,"process_uptime":4,"command_line":["com.example.game"],"page_size":16384,
		"signal_info":{"number":11,"name":"SIGSEGV","code":1,"code_name":"SEGV_MAPERR","has_fault_address":true},"causes":[{"human_readable":"null pointer dereference"}],
		"threads":[{"key":4242,"value":{"id":4242,"name":"main","current_backtrace":[{"rel_pc":"4660","file_name":"/system/lib64/libc.so","build_id":"59db7ab09b8b2a3b7d1e1b6f3a9a5b1c"}]}},
			{"key":4270,"value":{"id":4270,"name":"GameThread","tagged_addr_ctrl":"1","registers":[{"name":"x0","u64":"1"},{"name":"pc","u64":"512"}],"current_backtrace":%s,"memory_dump":[{"register_name":"x0","begin_address":"16","memory":"AAAA"}]}}],
		"memory_mappings":[{"begin_address":"4096","end_address":"8192","read":true,"execute":true,"mapping_name":"/a/libgame.so","build_id":"ab","load_bias":"4096"}],
		"log_buffers":[{"name":"main","logs":[{"timestamp":"02-03 10:11:12.000","pid":1,"tid":2,"priority":6,"tag":"x","message":"y"}]}]}`, list))
	all, out := splitBinary(t, message)
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(out, line) {
			t.Errorf("missing: %s", line)
		}
	}
	for _, line := range []string{"No memory maps found"} {
		if strings.Contains(out, line) {
			t.Errorf("printed: %s", line)
		}
	}
	got, want := framed(all), framed(split(t, string(b), report.Options{}))
	if len(got) != 1 || len(got[0].Threads) != 2 || got[0].Threads[1].Name != "main" || got[0].Threads[0].ID != 4270 || got[0].Arch != "arm64" {
		t.Fatalf("%s\n%s", dump(got), out)
	}
	for i, f := range want[0].Threads[0].Frames {
		g := got[0].Threads[0].Frames[i]
		if g.At != f.At || !cmp.Equal(g.Image, f.Image) || g.Offset != f.Offset || g.Container != f.Container {
			t.Errorf("frame %d: %+v, want %+v", i, g, f)
		}
	}
	heap := encodeTombstone(t, `{"build_fingerprint":"x","pid":1,"tid":1,"threads":[{"key":1,"value":{"name":"a","current_backtrace":[{"rel_pc":"18","file_name":"a.so"}]}}],
		"causes":[{"human_readable":"use after free","memory_error":{"heap":{"allocation_tid":"7","allocation_backtrace":[{"rel_pc":"32","file_name":"b.so"}],"deallocation_tid":"8","deallocation_backtrace":[{"rel_pc":"48","file_name":"c.so"}]}}}]}`)
	all, out = splitBinary(t, heap)
	if got := framed(all); len(got) != 1 || len(got[0].Threads) != 3 || got[0].Arch != "arm" || !strings.Contains(out, "deallocated by thread 8:\n      #00 pc 00000030  c.so\n\nallocated by thread 7:") {
		t.Errorf("%s\n%s", dump(got), out)
	}
	// What only begins like a message is text, whole.
	for _, b := range [][]byte{{0x08}, {0x12, 0x03, 'a'}, message[:len(message)/2], append([]byte{0x08, 1, 0x10}, "text\n#00 pc 0010 a.so\n"...)} {
		if _, out := splitBinary(t, b); out != string(b) {
			t.Errorf("%q became %q", b, out)
		}
	}
}

// dumpFile builds a minidump.
type dumpFile struct {
	b       []byte
	streams [][3]uint32 // kind, size, offset
}

func (d *dumpFile) put(b []byte) (at uint32) {
	for len(d.b)%8 != 0 {
		d.b = append(d.b, 0)
	}
	at = uint32(len(d.b))
	d.b = append(d.b, b...)
	return at
}

func (d *dumpFile) text(s string) uint32 {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return d.put(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...))
}

func (d *dumpFile) stream(kind uint32, b []byte) {
	d.streams = append(d.streams, [3]uint32{kind, uint32(len(b)), d.put(b)})
}

func words(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func padded(b []byte, n int) []byte { return append(b, make([]byte, n-len(b))...) }

// crashDump is a dump of arm64 Android: one crashed thread with two frames on its stack, and one waiting thread.
// crashDump writes the streams of Breakpad by their numbers: 3 threads, 4 modules, 6 the exception, 7 the system, 24 names.
func crashDump() []byte {
	d := &dumpFile{b: make([]byte, 32)}
	id := []byte{0x56, 0x4b, 0xb6, 0xc8, 0xbe, 0x48, 0xee, 0xa9, 0xd9, 0xdb, 0x62, 0x2b, 0x86, 0x89, 0x80, 0x6e, 0xea, 0x5a, 0xf3, 0xc7}
	build := d.put(append([]byte("LEpB"), id...))
	uuid := d.put(append(append([]byte("RSDS"), 0xb0, 0x7a, 0xdb, 0x59, 0x8b, 0x9b, 0x3b, 0x2a, 1, 2, 3, 4, 5, 6, 7, 8), words(uint32(0), []byte("libc.so\x00"))...))
	context := func(pc, fp uint64) []byte {
		b := make([]byte, 400)
		binary.LittleEndian.PutUint64(b[264:], pc)
		binary.LittleEndian.PutUint64(b[240:], fp)
		return b
	}
	const stackAt, game, libc = 0x7f0000, 0x7b00000000, 0x7c00000000
	memory := words(uint64(0), uint64(0), uint64(stackAt+0x30), uint64(game+0x47a4), uint64(1), uint64(2), uint64(0), uint64(libc+0x100))
	stack := d.put(memory)
	crash := d.put(context(game+0x47d4, stackAt+0x10))
	stale := d.put(context(1, 0))
	waits := d.put(context(libc+0x40, 0))
	thread := func(id uint32, context uint32) []byte {
		return words(id, uint32(0), uint32(0), uint32(0), uint64(0), uint64(stackAt), uint32(len(memory)), stack, uint32(400), context)
	}
	module := func(base uint64, size, name, record, n uint32) []byte {
		return padded(append(padded(words(base, size, uint32(0), uint32(0), name), 76), words(n, record)...), 108)
	}
	d.stream(7, padded(words(uint16(12), uint16(0), uint16(0), uint8(8), uint8(0), uint32(14), uint32(0), uint32(0), uint32(0x8203)), 56))
	d.stream(4, append(words(uint32(2)), append(module(libc, 0x10000, d.text("/apex/lib64/libc.so"), uuid, 32), module(game, 0x10000, d.text("/data/app/base.apk!libgame.so"), build, 24)...)...))
	d.stream(3, append(words(uint32(2)), append(thread(8, waits), thread(7, stale)...)...))
	d.stream(24, append(words(uint32(1)), words(uint32(7), uint64(d.text("GameThread")))...))
	d.stream(6, words(uint32(7), uint32(0), make([]byte, 152), uint32(400), crash))
	at := d.put(nil)
	for _, s := range d.streams {
		d.b = append(d.b, words(s)...)
	}
	copy(d.b, append([]byte("MDMP"), words(uint32(0xa793), uint32(len(d.streams)), at)...))
	return d.b
}

func TestMinidump(t *testing.T) {
	all, out := splitBinary(t, crashDump())
	if len(all) != 1 || all[0].Format() != "minidump" || all[0].Arch != "arm64" || len(all[0].Threads) != 2 {
		t.Fatalf("%s\n%s", dump(all), out)
	}
	type frame struct {
		image []string
		at    symbol.Where
	}
	var got [][]frame
	for _, th := range all[0].Threads {
		var frames []frame
		for _, f := range th.Frames {
			frames = append(frames, frame{f.Image, f.At})
		}
		got = append(got, frames)
	}
	in := func(base, at uint64) symbol.Where {
		return symbol.Where{Space: symbol.Loaded, Value: base + at, Load: base}
	}
	game := []string{"564bb6c8be48eea9d9db622b8689806eea5af3c7", "564bb6c8be48eea9d9db622b8689806e", "base.apk!libgame.so"}
	libc := []string{"59db7ab0-9b8b-2a3b-0102-030405060708", "libc.so"}
	want := [][]frame{{{game, in(0x7b00000000, 0x47d4)}, {game, in(0x7b00000000, 0x47a0)}, {libc, in(0x7c00000000, 0xfc)}}, {{libc, in(0x7c00000000, 0x40)}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(frame{})); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(out, "Thread 7 GameThread (crashed)\n 0  base.apk!libgame.so + 0x47d4 (context)\n 1  base.apk!libgame.so + 0x47a4 (fp)\n 2  libc.so + 0x100 (fp)\n\nThread 8\n 0  libc.so + 0x40 (context)\n") {
		t.Error(out)
	}
	whole := crashDump()
	// Tests of commands and of pages read the same dump as a file.
	name := filepath.Join(formattest.Root(), "testdata", "stacks", "crash.dmp")
	if *update {
		if err := os.WriteFile(name, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(name); err != nil || !bytes.Equal(kept, whole) {
		t.Errorf("%s is not this dump (%v): run this test with -update", name, err)
	}
	for n := range len(whole) {
		splitBinary(t, whole[:n])
	}
}

func TestStackwalk(t *testing.T) {
	const in = `{"crash_info":{"crashing_thread":0,"type":"SIGSEGV"},"system_info":{"os":"Android","cpu_arch":"arm64"},
"modules":[{"base_addr":"0x7b00000000","code_id":"564bb6c8be48eea9d9db622b8689806eea5af3c7","debug_file":"libgame.so","debug_id":"C8B64B5648BEA9EED9DB622B8689806E0","end_addr":"0x7b00010000","filename":"libgame.so","version":""}],
"threads":[{"frame_count":2,"thread_id":7,"thread_name":"GameThread","frames":[
  {"frame":0,"file":null,"function":null,"function_offset":null,"inlines":null,"line":null,"missing_symbols":true,"module":"libgame.so","module_offset":"0x00000000000047d4","offset":"0x0000007b000047d4","trust":"context"},
  {"frame":1,"file":null,"function":null,"inlines":null,"line":null,"module":null,"module_offset":null,"offset":"0x0000000000001234","trust":"scan"}]}]}
`
	all := framed(split(t, in, report.Options{}))
	if len(all) != 1 || all[0].Format() != "stackwalk" || len(all[0].Threads) != 1 || len(all[0].Threads[0].Frames) != 2 {
		t.Fatal(dump(all))
	}
	f := all[0].Threads[0].Frames[0]
	if f.At != (symbol.Where{Space: symbol.Position, Value: 0x47d4}) || f.Image[0] != "564bb6c8be48eea9d9db622b8689806eea5af3c7" || f.Kind != symbol.ELF || f.Arch != "arm64" {
		t.Errorf("%+v", f)
	}
	var out bytes.Buffer
	chain := []symbol.Frame{{Function: "in", File: "a.h", Line: 3}, {Function: "mid"}, {Function: "f<int>", File: "/src/a.cpp", Line: 9}}
	if err := report.Print(&out, all[0], [][]symbol.Answer{{{Status: symbol.Found, Frames: chain}, {Status: symbol.NoArtifact}}}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(in, `{"frame":0,"file":null,"function":null,"function_offset":null,"inlines":null,"line":null,"missing_symbols":true,"module":"libgame.so","module_offset":"0x00000000000047d4","offset":"0x0000007b000047d4","trust":"context"}`,
		`{"frame":0, "module":"libgame.so", "module_offset":"0x00000000000047d4", "offset":"0x0000007b000047d4", "trust":"context", "function": "f<int>", "file": "/src/a.cpp", "line": 9, "inlines": [{"function": "in", "file": "a.h", "line": 3}, {"function": "mid", "file": null, "line": null}], "missing_symbols": false}`, 1)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("no JSON")
	}
}

// FuzzContainer: for any bytes, spans lie in the text, and anything but a container comes out unchanged.
func FuzzContainer(f *testing.F) {
	f.Add(crashDump())
	f.Add(encodeTombstone(f, `{"arch":1,"build_fingerprint":"x","pid":1,"tid":1,"threads":[{"key":1,"value":{"name":"a","current_backtrace":[{"rel_pc":"18","file_name":"a.so","build_id":"ab"}]}}]}`))
	f.Add([]byte{0x12, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte("MDMP"))
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		rendered := false
		err := report.Split(t.Context(), bytes.NewReader(input), Dialects, report.Options{}, func(s *report.Report) error {
			rendered = rendered || len(s.Threads) > 0
			for _, th := range s.Threads {
				for _, fr := range th.Frames {
					if fr.Span[0] < 0 || fr.Span[1] < fr.Span[0] || fr.Span[1] > len(s.Text) {
						t.Fatalf("span %v of %d", fr.Span, len(s.Text))
					}
				}
			}
			return report.Print(&out, s, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		contained := isFile(input)
		if changes := rendered || isDecoded(input); !contained && !changes && out.String() != string(input) {
			t.Fatalf("%q became %q", input, out.String())
		}
		if out.Len() > 64*len(input)+1<<20 {
			t.Fatalf("%d bytes of %d", out.Len(), len(input))
		}
	})
}
