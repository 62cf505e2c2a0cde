package perfetto

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	profiletest.Run(t, Format,
		profiletest.Fixture{Name: "perf", Data: perfTrace(), Samples: 3, Places: 3, Again: true},
		profiletest.Fixture{Name: "heap", Data: heapTrace(), Samples: 3, Places: 3},
		profiletest.Fixture{Name: "other", Data: otherTrace(), Samples: 5, Places: 3, Again: true})
}

func FuzzPerfetto(f *testing.F) {
	f.Add([]byte(perfTrace()))
	f.Add([]byte(heapTrace()))
	f.Add([]byte(otherTrace()))
	f.Add([]byte(packed(perfTrace())))
	profiletest.Fuzz(f, Format)
}

// packed packs a trace into two packets.
func packed(t traced) traced {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(t[:len(perfTrace().cut(1))])
	w.Close()
	e, _ := zstd.NewWriter(nil)
	rest := e.EncodeAll(t[len(perfTrace().cut(1)):], nil)
	return traced(nil).packet(message(nil).str(packetCompressed, z.String())).packet(message(nil).str(packetZstd, string(rest)))
}

// cut returns the first packets of a trace.
func (t traced) cut(packets int) traced {
	rest := []byte(t)
	for range packets {
		size, n := protobuf.Uvarint(rest[1:])
		rest = rest[1+n+int(size):]
	}
	return t[:len(t)-len(rest)]
}

// lake answers questions of tests, and notes them.
type lake struct {
	asked   []report.Frame
	classes map[string]*profile.Class // by package and class
	mapped  []string                  // packages that have a mapping; nil: the caller's is asked
	images  []string                  // of classes
	options profile.Options
}

func (l *lake) answer(t *testing.T, trace []byte) (appended []byte, counts *profile.Counts) {
	t.Helper()
	o := &l.options
	o.Ask = func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i, f := range frames {
			l.asked = append(l.asked, f)
			answer(i, &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{
				{Function: fmt.Sprintf("inner_%x", f.Raw), File: "a.h", Line: 3}, {Function: fmt.Sprintf("outer_%x()", f.Raw), Linkage: "_Z", File: "a.cc", Line: 30}}})
		}
		return nil
	}
	o.Classes = func(_ context.Context, image, names []string, answer func(int, *profile.Class)) error {
		l.images = append(l.images, strings.Join(image, " "))
		for i, name := range names {
			answer(i, l.classes[name])
		}
		return nil
	}
	o.Mapped = func(_ context.Context, image []string) (bool, error) {
		return len(image) == 0 && l.mapped == nil || len(image) > 0 && slices.Contains(l.mapped, image[0]), nil
	}
	var out bytes.Buffer
	if err := profile.Answer(t.Context(), []*profile.Format{Format}, profile.Bytes("trace", trace), &out, o); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out.Bytes(), trace) {
		t.Fatal("the trace did not stay")
	}
	return out.Bytes()[len(trace):], &o.Counts
}

// show prints packets of answers, with the numbers of their fields.
func show(b []byte) string {
	var s strings.Builder
	for f := (protobuf.Read(b)); f.Next(); {
		for p := (protobuf.Read(f.Bytes)); p.Next(); {
			fmt.Fprintf(&s, "%d:", p.Number)
			shown(&s, p.Bytes, p.Number == packetSymbols, 0)
			s.WriteByte('\n')
		}
	}
	return s.String()
}

// shown prints a message: numbers, strings, and messages in braces.
func shown(s *strings.Builder, b []byte, symbols bool, depth int) {
	for f := (protobuf.Read(b)); f.Next(); {
		switch {
		case f.Wire == protobuf.Varint:
			fmt.Fprintf(s, " %#x", f.Value)
		case symbols && (depth == 0 && f.Number == symbolsAddress || depth == 1), !symbols && (depth == 0 && f.Number == renamedClass || depth == 1 && f.Number >= classField):
			s.WriteString(" {")
			shown(s, f.Bytes, symbols, depth+1)
			s.WriteString(" }")
		default:
			fmt.Fprintf(s, " %q", f.Bytes)
		}
	}
}

// The packets equal those of Perfetto's tools.
func TestAppended(t *testing.T) {
	t.Parallel()
	l := &lake{classes: map[string]*profile.Class{"a.b": {Original: "com.example.Cart", Fields: []profile.Member{{Name: "d", Original: "count"}},
		Lines: []profile.MethodLine{
			{Member: profile.Member{Name: "c", Original: "com.example.Price.of"}, Ranged: true, First: 1, Last: 3, Sourced: true, From: 10, To: 12},
			{Member: profile.Member{Name: "c", Original: "total"}, Ranged: true, First: 1, Last: 3, Sourced: true, From: 40, To: 40}}}}}
	got, counts := l.answer(t, perfTrace())
	want := `61: "/usr/lib/libm.so" "0123456789ABCDEF0123456789ABCDEF0" { 0x40 { "inner_40" "a.h" 0x3 } { "outer_40()" "a.cc" 0x1e } }
61: "/data/app/com.example.cart-x==/base.apk!libcart.so" "\x01#Eg\x89\xab\xcd\xef\x01#Eg\x89\xab\xcd\xef\x01#Eg" { 0x1100 { "inner_1100" "a.h" 0x3 } { "outer_1100()" "a.cc" 0x1e } } { 0x1200 { "inner_1200" "a.h" 0x3 } { "outer_1200()" "a.cc" 0x1e } }
64: "com.example.cart" 0x2a { "a.b" "com.example.Cart" { "d" "count" } { "c" "com.example.Price.of" 0x1 0x3 0xa 0xc } { "c" "com.example.Cart.total" 0x1 0x3 0x28 0x28 } }
`
	sorted := func(s string) []string {
		lines := strings.Split(s, "\n")
		slices.Sort(lines)
		return lines
	}
	if d := cmp.Diff(sorted(want), sorted(show(got))); d != "" {
		t.Error(d)
	}
	if counts.Places != 3 || counts.Samples != 3 || len(counts.Kept) > 0 {
		t.Errorf("%+v", counts)
	}

	// The answered trace has its names, and is not asked for again.
	again := &lake{}
	if more, counts := again.answer(t, append(perfTrace(), got...)); len(more) > 0 || counts.Places != 0 || counts.Named != 4 {
		t.Errorf("%d bytes, %+v", len(more), counts)
	}
	var to samples.Profile
	if err := samplesOf(t.Context(), profile.Bytes("trace", append(perfTrace(), got...)), &to); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{
		"inner_1200 < outer_1200() < com.example.Cart.total | com.example.Price.of < java.lang.Thread.run",
		"inner_40 < outer_40() < inner_1100 < outer_1100() < java.lang.Thread.run",
		"inner_1200 < outer_1200() < com.example.Cart.total | com.example.Price.of < java.lang.Thread.run"}, stacksOf(&to)); d != "" || to.Samples[2].Time != 2000 {
		t.Error(d)
	}
}

// Questions say where code lies: at an address of the file, or at an offset where the recorder got the bias wrong.
func TestQuestions(t *testing.T) {
	t.Parallel()
	l := &lake{}
	l.answer(t, perfTrace())
	for _, f := range l.asked {
		switch f.Raw {
		case 0x1200:
			if f.Image[0] != "0123456789abcdef0123456789abcdef01234567" || f.Image[1] != "libcart.so" || f.Container == "" ||
				f.At.Space != symbol.FileOffset || f.At.Value != 0x200 || *f.At.Mapped != (symbol.Mapping{Offset: 0x1000, Size: 0x2000}) || f.Or[0] != (symbol.Where{Space: symbol.Unslid, Value: 0x1200}) {
				t.Errorf("%+v %+v", f, f.At.Mapped)
			}
		case 0x40:
			if f.Image[0] != "0123456789abcdef0123456789abcdef0" || f.At != (symbol.Where{Space: symbol.Unslid, Value: 0x40}) {
				t.Errorf("%+v", f)
			}
		}
	}
}

// Classes are asked for in the mapping of their package, and words of slices only if there is one.
func TestPackages(t *testing.T) {
	t.Parallel()
	graph := message(nil).num(heapPID, 90).msg(heapField, text(1, "int a.b.c")).msg(heapType, message(nil).str(typeClassName, "java.lang.Class<x.y[]>")).
		msg(heapType, message(nil).str(typeClassName, "java.lang.String"))
	buf := func(s string) message {
		return message(nil).msg(bundleEvent, message(nil).num(1, 5).msg(ftracePrint, message(nil).str(printText, s)))
	}
	trace := traced(nil).
		packet(message(nil).msg(packetPackages, message(nil).msg(packagesPackage, message(nil).str(packageName, "com.shop").num(packageUID, 10007).num(packageVersion, 8)))).
		packet(message(nil).msg(packetProcessTree, message(nil).msg(treeProcess, message(nil).num(processPID, 90).str(processCommand, "com.shop:web").num(processUID, 1010007)))).
		packet(on(1).msg(packetHeapGraph, graph)).
		packet(on(2).msg(packetFtrace, buf("B|90|inflate p.q.r\n"))).packet(on(2).msg(packetFtrace, buf("C|90|s.t.size|5")))
	class := func(name string) *profile.Class {
		return &profile.Class{Original: name, Methods: []profile.Member{{Name: "m", Original: "run"}}}
	}
	l := &lake{mapped: []string{"com.shop@8"}, classes: map[string]*profile.Class{"a.b": class("Cart"), "x.y": class("Item"), "p.q.r": class("View"), "s.t": class("Pool")}}
	got, _ := l.answer(t, trace)
	want := `64: "com.shop" 0x8 { "a.b" "Cart" { "m" "Cart.run" } } { "p.q.r" "View" { "m" "View.run" } } { "s.t" "Pool" { "m" "Pool.run" } } { "x.y" "Item" { "m" "Item.run" } }` + "\n"
	if d := cmp.Diff(want, show(got)); d != "" {
		t.Error(d)
	}
	none := &lake{mapped: []string{"other"}, classes: l.classes}
	got, _ = none.answer(t, trace)
	if want := `64: "com.shop" 0x8 { "a.b" "Cart" { "m" "Cart.run" } } { "x.y" "Item" { "m" "Item.run" } }` + "\n"; show(got) != want || none.images[0] != "" {
		t.Errorf("%s %q", show(got), none.images)
	}
}

// Faults of a trace are counted by reason, and ids mean what they meant last.
func TestFaults(t *testing.T) {
	t.Parallel()
	named := func(path string, address uint64) message {
		return message(nil).msg(internedBuildIDs, text(1, idA)).msg(internedPaths, text(1, path)).msg(internedMappings, mapped(1, 1, 0, 0, 0, 1)).
			msg(internedFrames, framed(1, 0, 1, address)).msg(internedStacks, stacked(1, 1))
	}
	perf := func(p message, stack uint64) message { return p.msg(packetPerfSample, sampled(1, 1, stack)) }
	for _, x := range []struct {
		name   string
		trace  traced
		places int
		kept   []string
	}{
		{"ids begin anew", traced(nil).packet(perf(first(1).msg(packetInterned, named("a", 16)), 1)).packet(perf(first(1).msg(packetInterned, named("b", 32)), 1)), 2, nil},
		{"ids of sequences", traced(nil).packet(first(1).msg(packetInterned, named("a", 16))).packet(perf(first(2), 1)), 1, []string{"a sample refers to a stack that was never sent"}},
		{"cleared without new ones", traced(nil).packet(first(1).msg(packetInterned, named("a", 16))).packet(perf(first(1), 1)), 1, []string{"a sample refers to a stack that was never sent"}},
		{"two traces", append(traced(nil).packet(perf(first(1).msg(packetInterned, named("a", 16)), 1)), traced(nil).packet(perf(first(1).msg(packetInterned, named("a", 48)), 1))...), 2, nil},
		{"lost packets", traced(nil).packet(perf(first(1).msg(packetInterned, named("a", 16)), 1)).packet(perf(next(1).num(packetDropped, 1), 9)).packet(perf(first(1).msg(packetInterned, named("b", 32)), 1)), 2, nil},
		{"missing mapping", traced(nil).packet(first(1).msg(packetInterned, message(nil).msg(internedFrames, framed(1, 0, 4, 5)).msg(internedStacks, stacked(2, 9)))), 0,
			[]string{"a stack refers to a frame that was never sent", "a frame refers to a mapping that was never sent"}},
		{"missing build-id", traced(nil).packet(first(1).msg(packetInterned, message(nil).msg(internedMappings, mapped(1, 6, 0, 0, 0, 7)).msg(internedFrames, framed(1, 3, 1, 5)))), 0,
			[]string{"a frame refers to a name that was never sent", "a mapping refers to a build-id that was never sent"}},
		{"mapping after its frame", traced(nil).packet(first(1).msg(packetInterned, message(nil).msg(internedFrames, framed(1, 0, 1, 5)))).
			packet(next(1).msg(packetInterned, message(nil).msg(internedPaths, text(1, "lib.so")).msg(internedMappings, mapped(1, 0, 0, 0, 0, 1)))), 1, nil},
		{"packed damage", traced(nil).packet(first(1).msg(packetInterned, named("a", 16))).packet(message(nil).str(packetCompressed, "\x78\x9cnonsense")), 1, []string{"packed packets are damaged"}},
		{"cut", append(traced(nil).packet(first(1).msg(packetInterned, named("a", 16))), 0x0a, 0x85), 1, []string{"the trace ends within a packet"}},
		{"cut long", append(traced(nil).packet(first(1).msg(packetInterned, named("a", 16))), 0x0a, 0x20, 0x50, 0x01), 1, []string{"the trace ends within a packet"}},
		{"no packet", append(traced(nil).packet(first(1).msg(packetInterned, named("a", 16))), 0x0b, 0x20), 1, []string{"bytes are no packet, and the rest of the trace is not read"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			l := &lake{}
			got, counts := l.answer(t, x.trace)
			var kept []string
			for _, k := range counts.Kept {
				kept = append(kept, k.Why)
			}
			if d := cmp.Diff(x.kept, kept); d != "" || len(l.asked) != x.places {
				t.Errorf("%d places %s", len(l.asked), d)
			}
			if x.places == 0 || x.name == "no packet" {
				return
			}
			found := 0 // answers can be read behind a trace that was cut
			_, err := trace(t.Context(), bytes.NewReader(append(slices.Clone(x.trace), got...)), 1<<20, &profile.Counts{}, func(p *packet) error {
				if p.kind == packetSymbols {
					found++
				}
				return nil
			})
			if err != nil || found == 0 {
				t.Error(found, err)
			}
		})
	}
}

// Traces are told from other messages that begin with the same byte.
func TestBegins(t *testing.T) {
	t.Parallel()
	long := traced(nil).packet(first(1).str(900, strings.Repeat("x", 100000)))
	for i, head := range [][]byte{perfTrace(), heapTrace(), otherTrace(), long[:60000], traced(nil).packet(message(nil).msg(packetFtrace, message(nil).num(1, 2)))} {
		if !begins(head) {
			t.Error(i)
		}
	}
	value := message(nil).num(1, 1).num(2, 2)
	resource := message(nil).msg(1, message(nil).msg(1, message(nil).str(1, "service.name"))).msg(2, message(nil).msg(2, nil))
	for i, head := range [][]byte{nil, {0x0a}, {0x0a, 0}, []byte("\n*** *** ***\nbacktrace:\n"), message(nil).msg(1, value).msg(2, nil), message(nil).msg(1, resource), message(nil).msg(1, resource).msg(2, resource),
		message(nil).msg(1, message(nil).msg(2, nil)).msg(2, resource)} {
		if begins(head) {
			t.Error(i)
		}
	}
}

// Allocations are the last dump's, of each process.
func TestHeaps(t *testing.T) {
	t.Parallel()
	var to samples.Profile
	if err := samplesOf(t.Context(), profile.Bytes("trace", heapTrace()), &to); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{2, 100, 1, 60, 3, 30, 2, 20}, to.Values); d != "" || to.Types[to.Default].Name != "inuse_space" {
		t.Error(d, to.Types)
	}
}

// Samples of other profilers have their threads, times and weights.
func TestOther(t *testing.T) {
	t.Parallel()
	var to samples.Profile
	if err := samplesOf(t.Context(), profile.Bytes("trace", otherTrace()), &to); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, s := range to.Samples {
		who := samples.Thread{}
		if s.Thread >= 0 {
			who = to.Threads[s.Thread]
		}
		got = append(got, fmt.Sprint(s.Time, " ", who.PID, "/", who.TID, " ", who.Name, " ", to.Frames[to.Stacks[s.Stack].Frame].Function, " ", to.Values[3*i:3*i+3]))
	}
	if d := cmp.Diff([]string{"0 8/9 CrRendererMain chrome+0x1400 [1 0 0]", "20000 8/9 CrRendererMain chrome+0x1500 [1 0 0]", "2990000 8/9 CrRendererMain chrome+0x1500 [1 70 0]",
		"3990000 8/0  main [1 0 0]", "4990000 8/9 CrRendererMain chrome+0x1400 [0 0 1]"}, got); d != "" {
		t.Error(d)
	}
}

// Packets may be packed, in two ways.
func TestPacked(t *testing.T) {
	t.Parallel()
	l := &lake{}
	if _, counts := l.answer(t, packed(perfTrace())); len(l.asked) != 3 || counts.Samples != 3 || len(counts.Kept) > 0 {
		t.Errorf("%d places, %+v", len(l.asked), counts)
	}
	if err := profiletest.Sound(Format, packed(perfTrace())); err != nil {
		t.Error(err)
	}
	bomb := bytes.Buffer{}
	w := zlib.NewWriter(&bomb)
	w.Write(make([]byte, 4<<20))
	w.Close()
	small := &lake{options: profile.Options{Memory: 1 << 20}}
	if _, counts := small.answer(t, perfTrace().packet(message(nil).str(packetCompressed, bomb.String()))); len(counts.Kept) != 1 || counts.Places != 3 {
		t.Errorf("%+v", counts)
	}
}

// Each packet, frame and stack costs the same, however many there are.
func TestLinear(t *testing.T) {
	cost := func(n int) float64 {
		var made traced
		for i := range uint64(n) {
			interned := message(nil).msg(internedFrames, framed(i+1, 0, 1, i*16)).msg(internedStacks, stacked(i+1, i+1))
			if i == 0 {
				interned = interned.msg(internedPaths, text(1, "lib.so")).msg(internedMappings, mapped(1, 0, 0, 0, 0, 1)).msg(internedFrames, framed(1<<40, 0, 99, 1))
			}
			made = made.packet(next(1).msg(packetInterned, interned).msg(packetPerfSample, sampled(1, 1, i+1)))
		}
		o := &profile.Options{Ask: func(context.Context, []report.Frame, func(int, *symbol.Answer)) error { return nil }}
		return testing.AllocsPerRun(1, func() {
			if err := profile.Answer(t.Context(), []*profile.Format{Format}, profile.Bytes("trace", made), io.Discard, o); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, large := cost(2000), cost(16000); large > 16*small {
		t.Errorf("%v allocations for 2,000 packets, %v for 16,000", small, large)
	}
}

// A trace with more places than memory holds asks for each once.
func TestManyPlaces(t *testing.T) {
	t.Parallel()
	made := traced(nil).packet(first(1).msg(packetInterned, message(nil).msg(internedPaths, text(1, "lib.so")).msg(internedMappings, mapped(1, 0, 0, 0, 0, 1))))
	for i := range uint64(60) {
		interned := message(nil)
		for k := range uint64(1000) {
			interned = interned.msg(internedFrames, framed(k+1, 0, 1, (i*600+k)*16))
		}
		made = made.packet(next(1).msg(packetInterned, interned))
	}
	l := &lake{options: profile.Options{Memory: 1 << 20, Scratch: func() (profile.Scratch, error) { return &memory{}, nil }}}
	if _, counts := l.answer(t, made); counts.Places != 36400 || len(counts.Kept) > 0 {
		t.Errorf("%+v", counts)
	}
}

// memory is a scratch file.
type memory struct{ b []byte }

func (m *memory) ReadAt(p []byte, at int64) (int, error) { return copy(p, m.b[at:]), nil }

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	m.b = append(m.b[:at], p...)
	return len(p), nil
}

func (m *memory) Close() error { return nil }
