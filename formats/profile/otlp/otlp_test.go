package otlp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/all"
	"github.com/symlake/symlake/formats/profile/otlp"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

// builder builds profiles as OpenTelemetry's eBPF profiler does, by the collector's own types.
type builder struct {
	pprofile.Profiles
	d       pprofile.ProfilesDictionary
	strings map[string]int32
}

func build() *builder {
	b := &builder{Profiles: pprofile.NewProfiles(), strings: map[string]int32{}}
	b.d = b.Dictionary()
	b.string("")
	b.d.MappingTable().AppendEmpty()
	b.d.LocationTable().AppendEmpty()
	b.d.FunctionTable().AppendEmpty()
	b.d.LinkTable().AppendEmpty()
	b.d.AttributeTable().AppendEmpty()
	b.d.StackTable().AppendEmpty()
	return b
}

func (b *builder) string(s string) int32 {
	n, known := b.strings[s]
	if !known {
		n = int32(b.d.StringTable().Len())
		b.d.StringTable().Append(s)
		b.strings[s] = n
	}
	return n
}

func (b *builder) attribute(key, value string) int32 {
	a := b.d.AttributeTable().AppendEmpty()
	a.SetKeyStrindex(b.string(key))
	a.Value().SetStr(value)
	return int32(b.d.AttributeTable().Len() - 1)
}

func (b *builder) mapping(file, gnu string, start, limit, offset uint64) int32 {
	m := b.d.MappingTable().AppendEmpty()
	m.SetFilenameStrindex(b.string(file))
	m.SetMemoryStart(start)
	m.SetMemoryLimit(limit)
	m.SetFileOffset(offset)
	if gnu != "" {
		m.AttributeIndices().Append(b.attribute("process.executable.build_id.gnu", gnu), b.attribute("process.executable.build_id.htlhash", "0011223344556677"))
	}
	return int32(b.d.MappingTable().Len() - 1)
}

func (b *builder) location(kind string, mapping int32, address uint64) (pprofile.Location, int32) {
	l := b.d.LocationTable().AppendEmpty()
	l.SetMappingIndex(mapping)
	l.SetAddress(address)
	if kind != "" {
		l.AttributeIndices().Append(b.attribute("profile.frame.type", kind))
	}
	return l, int32(b.d.LocationTable().Len() - 1)
}

func (b *builder) line(l pprofile.Location, function, file string, line, column int64) {
	f := b.d.FunctionTable().AppendEmpty()
	f.SetNameStrindex(b.string(function))
	f.SetFilenameStrindex(b.string(file))
	n := l.Lines().AppendEmpty()
	n.SetFunctionIndex(int32(b.d.FunctionTable().Len() - 1))
	n.SetLine(line)
	n.SetColumn(column)
}

// profile adds a profile with samples, each a stack of locations, innermost first.
func (b *builder) profile(scope, kind string, stacks ...[]int32) pprofile.Profile {
	r := b.ResourceProfiles().AppendEmpty()
	r.Resource().Attributes().PutStr("service.name", "shop")
	r.Resource().Attributes().PutInt("process.pid", 4711)
	s := r.ScopeProfiles().AppendEmpty()
	s.Scope().SetName(scope)
	p := s.Profiles().AppendEmpty()
	p.SampleType().SetTypeStrindex(b.string(kind))
	p.SampleType().SetUnitStrindex(b.string("count"))
	p.SetTime(1_800_000_000_000_000_000)
	p.SetDurationNano(5_000_000_000)
	thread := b.attribute("thread.name", "main")
	for i, at := range stacks {
		stack := b.d.StackTable().AppendEmpty()
		stack.LocationIndices().Append(at...)
		sample := p.Samples().AppendEmpty()
		sample.SetStackIndex(int32(b.d.StackTable().Len() - 1))
		sample.AttributeIndices().Append(thread)
		sample.Values().Append(int64(i + 1))
		sample.TimestampsUnixNano().Append(uint64(1_800_000_000_000_000_000 + i))
	}
	return p
}

// proto returns the message in protobuf, with a field in it that no version knows.
func (b *builder) proto(t testing.TB) []byte {
	out, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(b.Profiles)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *builder) json(t testing.TB) []byte {
	out, err := (&pprofile.JSONMarshaler{}).MarshalProfiles(b.Profiles)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// native is a profile of machine code: a shared library with run-time addresses, a program with addresses of its file.
func native() *builder {
	b := build()
	lib := b.mapping("/usr/lib/libgame.so", "00112233445566778899aabbccddeeff00112233", 0x7f0000001000, 0x7f0000009000, 0x1000)
	app := b.mapping("/usr/bin/app", "", 0, 0, 0)
	var all []int32
	for i := range uint64(3) {
		_, n := b.location("native", lib, 0x7f0000001000+16*i)
		_, m := b.location("", app, 0x4000+16*i)
		all = append(all, n, m)
	}
	_, again := b.location("native", lib, 0x7f0000001010)
	named, n := b.location("native", app, 0x9000)
	b.line(named, "main", "main.c", 7, 0)
	_, kernel := b.location("kernel", 0, 0xffffffff81000000)
	b.profile("some.profiler", "samples", all[:4], all[4:], []int32{again, n, kernel}, all[1:5])
	return b
}

// scripts is a profile of Java and JavaScript.
func scripts() *builder {
	b := build()
	java, one := b.location("jvm", 0, 12)
	b.line(java, "int a.b.c(java.lang.String, a.d)", "SourceFile", 3, 0)
	slashes, two := b.location("jvm", 0, 0)
	b.line(slashes, "a/b.d", "", 0, 0)
	js, three := b.location("v8js", 0, 0)
	b.line(js, "r", "https://shop.example/app.js", 1, 421)
	python, four := b.location("cpython", 0, 0)
	b.line(python, "main", "main.py", 4, 0)
	b.profile("some.profiler", "samples", []int32{one, two, four}, []int32{three, four})
	return b
}

// old is a profile of version 1.4, with tables of its own.
func old() []byte {
	bytesField := func(to []byte, n protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, n, protowire.BytesType), v)
	}
	number := func(to []byte, n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, n, protowire.VarintType), v)
	}
	var p []byte
	p = bytesField(p, 1, number(number(nil, 1, 1), 2, 2))
	p = bytesField(p, 2, bytesField(number(number(nil, 1, 0), 2, 2), 3, []byte{5}))
	p = bytesField(p, 2, bytesField(number(number(nil, 1, 1), 2, 2), 3, []byte{7}))
	p = bytesField(p, 3, bytesField(number(number(number(nil, 1, 0x1000), 2, 0x9000), 4, 3), 5, []byte{0}))
	for i := range uint64(3) {
		p = bytesField(p, 4, number(number(nil, 1, 0), 2, 0x1000+8*i))
	}
	p = bytesField(p, 5, []byte{0, 1, 2})
	p = bytesField(p, 7, bytesField(bytesField(nil, 1, []byte("process.executable.build_id.gnu")), 2, bytesField(nil, 1, []byte("aabbccddeeff00112233445566778899"))))
	for _, s := range []string{"", "cpu", "nanoseconds", "/bin/old"} {
		p = bytesField(p, 10, []byte(s))
	}
	p = number(p, 11, 1_700_000_000_000_000_000)
	p = bytesField(p, 63, []byte("from the future"))
	return bytesField(nil, 1, bytesField(nil, 2, bytesField(nil, 2, p)))
}

func lengths(each func(int) []byte, messages ...[]byte) (out []byte) {
	for _, m := range messages {
		out = append(append(out, each(len(m))...), m...)
	}
	return out
}

func fourBytes(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
func aVarint(n int) []byte   { return binary.AppendUvarint(nil, uint64(n)) }
func grpcFrame(n int) []byte { return binary.BigEndian.AppendUint32([]byte{0}, uint32(n)) }

// tiny is a profile with one place.
func tiny() *builder {
	b := build()
	app := b.mapping("app", "", 0, 0, 0)
	_, n := b.location("", app, 0x1234)
	b.profile("p", "samples", []int32{n})
	return b
}

func TestConformance(t *testing.T) {
	t.Parallel()
	one, js := native().proto(t), native().json(t)
	other := scripts().proto(t)
	lines := append(append(append(tiny().json(t), '\n'), scripts().json(t)...), '\n')
	pretty := []byte(strings.NewReplacer(`{`, "{\n  ", `[{`, "[\n {", `"dictionary"`, `"later": {"x": 1e5}, "dictionary"`).Replace(string(tiny().json(t))))
	small := tiny().proto(t)
	const places = 6 // of native
	profiletest.Run(t, otlp.Format,
		profiletest.Fixture{Name: "proto", Data: one, Samples: 4, Places: places},
		profiletest.Fixture{Name: "delimited", Data: lengths(aVarint, small, small), Samples: 2, Places: 1},
		profiletest.Fixture{Name: "lengths", Data: lengths(fourBytes, small), Samples: 1, Places: 1},
		profiletest.Fixture{Name: "frames", Data: lengths(grpcFrame, other, small), Samples: 3, Places: 4, Again: true},
		profiletest.Fixture{Name: "json", Data: js, Samples: 4, Places: places},
		profiletest.Fixture{Name: "pretty", Data: pretty, Samples: 1, Places: 1, Keeps: [][]byte{[]byte(`"later": {`), []byte("1e5")}},
		profiletest.Fixture{Name: "lines", Data: lines, Samples: 3, Places: 4, Again: true},
		profiletest.Fixture{Name: "old", Data: old(), Samples: 2, Places: 3, Keeps: [][]byte{[]byte("from the future")}},
	)
}

func FuzzAnswer(f *testing.F) {
	f.Add(native().proto(f))
	f.Add(lengths(fourBytes, scripts().proto(f)))
	f.Add(scripts().json(f))
	f.Add(old())
	profiletest.Fuzz(f, otlp.Format)
}

// ask answers frames by a function.
func ask(of func(f *report.Frame) symbol.Answer) *profile.Options {
	return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			a := of(&frames[i])
			answer(i, &a)
		}
		return nil
	}}
}

// answer answers a message, and reads it by the collector's own code.
func answer(t *testing.T, data []byte, o *profile.Options) pprofile.Profiles {
	t.Helper()
	var out bytes.Buffer
	if err := profile.Answer(context.Background(), []*profile.Format{otlp.Format}, profile.Bytes("test", data), &out, o); err != nil {
		t.Fatal(err)
	}
	var u pprofile.Unmarshaler = &pprofile.ProtoUnmarshaler{}
	if data[0] == '{' {
		u = &pprofile.JSONUnmarshaler{}
	}
	p, err := u.UnmarshalProfiles(out.Bytes())
	if err != nil {
		t.Fatalf("%v: %q", err, out.Bytes())
	}
	return p
}

func count(all []string, s string) (n int) {
	for _, one := range all {
		if one == s {
			n++
		}
	}
	return n
}

// show prints the lines of a location.
func show(d pprofile.ProfilesDictionary, l pprofile.Location) string {
	var b strings.Builder
	for i := range l.Lines().Len() {
		n := l.Lines().At(i)
		f := d.FunctionTable().At(int(n.FunctionIndex()))
		s := d.StringTable()
		fmt.Fprintf(&b, "%s|%s|%s:%d:%d\n", s.At(int(f.NameStrindex())), s.At(int(f.SystemNameStrindex())), s.At(int(f.FilenameStrindex())), n.Line(), n.Column())
	}
	return b.String()
}

// Frames are asked for as their kind is, and lines say what the answers say.
func TestAnswers(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	answers := func(f *report.Frame) symbol.Answer {
		found := func(frames ...symbol.Frame) symbol.Answer {
			return symbol.Answer{Status: symbol.Found, Frames: frames}
		}
		switch {
		case f.Managed != nil && f.Managed.Method == "c":
			if f.Managed.Class != "a.b" || f.Managed.Line != 3 || len(f.Managed.Types) != 3 || f.Managed.Types[1].Name != "a.d" {
				t.Errorf("asked for %+v", f.Managed)
			}
			f.Managed.Types[1].Original = "com.shop.Item"
			return found(symbol.Frame{Function: "com.shop.Item.price", File: "Item.kt", Line: 9}, symbol.Frame{Function: "com.shop.Cart.add", File: "Cart.kt", Line: 42})
		case f.Managed != nil:
			return found(symbol.Frame{Function: "com.shop.Cart.total", File: "Cart.kt"})
		case f.Script != nil:
			if f.At.Value != 420 || f.Image[0] != "app.js" {
				t.Errorf("asked for %+v", f)
			}
			return found(symbol.Frame{Function: "total", Linkage: "total", File: "src/cart.ts", Line: 17, Column: 4})
		}
		asked[fmt.Sprintf("%s %d %#x", f.Image[0], f.At.Space, f.At.Value)]++
		return found(symbol.Frame{Function: "game::add(int)", Linkage: "_ZN4game3addEi", File: "src/add.h", Line: 3, Column: 7}, symbol.Frame{Function: "game::run()", Linkage: "_ZN4game3runEv", File: "src/run.cpp", Line: 21})
	}
	for name, data := range map[string][]byte{"proto": scripts().proto(t), "json": scripts().json(t)} {
		p := answer(t, data, ask(answers))
		d := p.Dictionary()
		for i, want := range []string{"",
			"com.shop.Item.price||Item.kt:9:0\nint com.shop.Cart.add(java.lang.String, com.shop.Item)||Cart.kt:42:0\n",
			"com/shop/Cart.total||Cart.kt:0:0\n", "total||src/cart.ts:17:5\n", "main||main.py:4:0\n"} {
			if got := show(d, d.LocationTable().At(i)); got != want {
				t.Errorf("%s: location %d is %q, want %q", name, i, got, want)
			}
		}
	}
	for name, data := range map[string][]byte{"proto": native().proto(t), "json": native().json(t)} {
		clear(asked)
		p := answer(t, data, ask(answers))
		d := p.Dictionary()
		const lines = "game::add(int)|_ZN4game3addEi|src/add.h:3:7\ngame::run()|_ZN4game3runEv|src/run.cpp:21:0\n"
		for i := 1; i <= 7; i++ {
			if got := show(d, d.LocationTable().At(i)); got != lines {
				t.Errorf("%s: location %d is %q", name, i, got)
			}
		}
		if asked[fmt.Sprintf("00112233445566778899aabbccddeeff00112233 %d 0x1010", symbol.FileOffset)] != 1 || asked[fmt.Sprintf("app %d 0x4010", symbol.Unslid)] != 1 || len(asked) != 6 {
			t.Errorf("%s: asked for %v", name, asked)
		}
		if d.FunctionTable().Len() != 4 || count(d.StringTable().AsRaw(), "src/run.cpp") != 1 {
			t.Errorf("%s: %d functions and %d texts: new ones are not kept once", name, d.FunctionTable().Len(), d.StringTable().Len())
		}
	}
}

// The eBPF profiler gives addresses of the file and columns from 0.
func TestAgent(t *testing.T) {
	t.Parallel()
	b := build()
	lib := b.mapping("/usr/lib/libgame.so", "00112233445566778899aabbccddeeff00112233", 0x2000, 0x9000, 0x1000)
	b.location("native", lib, 0x2345)
	l, n := b.location("v8js", 0, 0)
	b.line(l, "run", "/srv/app.js", 2, 30)
	b.profile("go.opentelemetry.io/ebpf-profiler", "samples", []int32{1, n})
	var got []symbol.Where
	answer(t, b.proto(t), ask(func(f *report.Frame) symbol.Answer {
		got = append(got, f.At)
		return symbol.Answer{Status: symbol.Hole}
	}))
	if len(got) != 2 || got[0].Space != symbol.Position || got[0].Value != 1<<32|30 || got[1].Space != symbol.Unslid || got[1].Value != 0x2345 {
		t.Errorf("asked for %+v", got)
	}
}

// Indexes that lead nowhere are counted, and all other locations are answered.
func TestIndexes(t *testing.T) {
	t.Parallel()
	b := build()
	app := b.mapping("app", "", 0, 0, 0)
	b.location("native", app, 0x1000)
	b.location("native", 99, 0x1000)
	l, _ := b.location("native", app, 0x1000)
	l.Lines().AppendEmpty().SetFunctionIndex(77)
	minus, _ := b.location("native", -1, 0x1000)
	minus.AttributeIndices().Append(-5, 1<<30)
	b.profile("p", "samples", []int32{1, 2, 3, 4, 9999})
	o := ask(func(*report.Frame) symbol.Answer {
		return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "f"}}}
	})
	d := answer(t, b.proto(t), o).Dictionary()
	if got := show(d, d.LocationTable().At(1)); got != "f||:0:0\n" {
		t.Errorf("location 1 is %q", got)
	}
	if len(o.Counts.Kept) != 2 || o.Counts.Kept[0].Parts != 2 || o.Counts.Places != 1 {
		t.Errorf("counted %+v", o.Counts)
	}
}

// A profile of another form in a profile is answered by that form.
func TestPayload(t *testing.T) {
	t.Parallel()
	inner := &profile.Format{Name: "inner", Begins: func(head []byte) bool { return bytes.HasPrefix(head, []byte("INNER")) }}
	inner.Answer = func(ctx context.Context, _ *profile.Input, out io.Writer, o *profile.Options) error {
		if err := o.Look(ctx, []report.Frame{{Image: []string{"x"}}}, func(int, *symbol.Answer) {}); err != nil {
			return err
		}
		_, err := out.Write([]byte("INNER with a longer name"))
		return err
	}
	for _, json := range []bool{false, true} {
		b := build()
		p := b.profile("p", "samples")
		p.SetOriginalPayloadFormat("pprof")
		p.OriginalPayload().FromRaw([]byte("INNER"))
		data := b.proto(t)
		want := []byte("INNER with a longer name")
		if json {
			data, want = b.json(t), []byte(base64.StdEncoding.EncodeToString(want))
		}
		var out bytes.Buffer
		o := ask(func(*report.Frame) symbol.Answer { return symbol.Answer{Status: symbol.Found} })
		if err := profile.Answer(context.Background(), []*profile.Format{inner, otlp.Format}, profile.Bytes("test", data), &out, o); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(out.Bytes(), want) || o.Counts.Answered != 1 || o.Counts.Format != "otlp" {
			t.Errorf("%q, counts %+v", out.Bytes(), o.Counts)
		}
		got := answer(t, out.Bytes(), ask(nil)).ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
		if string(got.OriginalPayload().AsRaw()) != "INNER with a longer name" {
			t.Errorf("the payload is %q", got.OriginalPayload().AsRaw())
		}
	}
}

// Samples have the types, times and threads of all profiles.
func TestSamples(t *testing.T) {
	t.Parallel()
	b := native()
	b.profile("p", "allocations", []int32{1})
	for name, data := range map[string][]byte{"proto": b.proto(t), "json": b.json(t)} {
		var p samples.Profile
		if err := profile.Samples(context.Background(), []*profile.Format{otlp.Format}, profile.Bytes(name, data), &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Types) != 2 || len(p.Samples) != 5 || p.Value(3, 0) != 4 || p.Value(4, 1) != 1 || p.Value(4, 0) != 0 || p.Samples[2].Time != 2 || p.Duration != 5e9 || p.Name != "shop" {
			t.Errorf("%s: %+v", name, p)
		}
		if len(p.Threads) != 1 || p.Threads[0].PID != 4711 || p.Threads[0].Name != "main" {
			t.Errorf("%s: threads %+v", name, p.Threads)
		}
		s := p.Stacks[p.Samples[2].Stack]
		if f := p.Frames[s.Frame]; f.Function != "libgame.so+0x7f0000001010" || s.Caller < 0 || p.Frames[p.Stacks[s.Caller].Frame].Function != "main" {
			t.Errorf("%s: the innermost frame is %+v", name, f)
		}
	}
	var p samples.Profile
	if err := profile.Samples(context.Background(), []*profile.Format{otlp.Format}, profile.Bytes("old", old()), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Samples) != 2 || p.Value(1, 0) != 7 || p.Types[0].Name != "cpu" || p.Frames[p.Stacks[p.Samples[0].Stack].Frame].Address != 0x1000 {
		t.Errorf("old: %+v", p)
	}
}

// The cost of a message grows with its size, not with its square.
func TestLinear(t *testing.T) {
	cost := func(n int) float64 {
		b := build()
		app := b.mapping("app", "", 0, 0, 0)
		var stack []int32
		for i := range n {
			_, at := b.location("", app, uint64(16*i))
			stack = append(stack, at)
		}
		b.profile("p", "samples", stack)
		data := b.proto(t)
		return testing.AllocsPerRun(1, func() {
			o := ask(func(f *report.Frame) symbol.Answer {
				return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: fmt.Sprint("f", f.At.Value), File: "f.c", Line: 1}}}
			})
			if err := otlp.Format.Answer(context.Background(), profile.Bytes("", data), io.Discard, o); err != nil || o.Counts.Answered != uint64(n) {
				t.Fatal(err, o.Counts)
			}
		})
	}
	if one, four := cost(2000), cost(8000); four > 6*one {
		t.Errorf("4 times as much takes %.0f allocations, %.0f before", four, one)
	}
}

// A message that takes too much memory, or that is not whole, stays as it came, and the others are answered.
func TestBounds(t *testing.T) {
	t.Parallel()
	small := tiny().proto(t)
	large := build()
	large.profile(strings.Repeat("x", 5<<18), "samples")
	many := build()
	app := many.mapping("app", "", 0, 0, 0)
	for i := range 8000 {
		many.location("", app, uint64(i))
	}
	for name, data := range map[string][]byte{
		"large": lengths(fourBytes, small, large.proto(t), small), "large JSON": []byte(string(tiny().json(t)) + string(large.json(t)) + string(tiny().json(t))),
		"many": lengths(fourBytes, small, many.proto(t), small), "cut": lengths(fourBytes, small, small, small)[:3*len(small)],
		"huge length": append(lengths(fourBytes, small, small), "\x7f\xff\xff\xff\x0a"...), "no length": append(lengths(aVarint, small, small), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"...),
	} {
		o := ask(func(*report.Frame) symbol.Answer { return symbol.Answer{Status: symbol.Hole} })
		o.Memory = 1 << 20
		var out bytes.Buffer
		if err := profile.Answer(context.Background(), []*profile.Format{otlp.Format}, profile.Bytes(name, data), &out, o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(out.Bytes(), data) || len(o.Counts.Kept) != 1 || o.Counts.Samples != 2 || o.Counts.Places != 1 {
			t.Errorf("%s: %d bytes became %d, counts %+v", name, len(data), out.Len(), o.Counts)
		}
	}
}

// The first bytes tell the form, in any order of fields, and other forms do not claim it.
func TestBegins(t *testing.T) {
	t.Parallel()
	stacks := build()
	for range 40_000 {
		stacks.d.StackTable().AppendEmpty().LocationIndices().Append(1, 2, 3)
	}
	for name, data := range map[string][]byte{"native": native().proto(t), "old": old(), "stacks": stacks.proto(t), "json": tiny().json(t), "lengths": lengths(fourBytes, tiny().proto(t))} {
		head := data[:min(len(data), profile.HeadBytes)]
		if f := profile.Find(all.Formats, head); f != otlp.Format {
			t.Errorf("%s goes to another form: %+v", name, f)
		}
	}
	for _, other := range []string{"", "{}", `{"resourceSpans":[]}`, `{"nodes":[]}`, "\x0a\x04\x08\x01\x10\x02", "\x12\x05\x0a\x01\x01\x12\x00", "\x0a\x00"} {
		if otlp.Format.Begins([]byte(other)) {
			t.Errorf("%q begins a message", other)
		}
	}
}
