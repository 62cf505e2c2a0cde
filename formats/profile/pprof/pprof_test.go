package pprof

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

// builder builds profiles.
type builder struct {
	b     []byte
	table []string
}

func (p *builder) string(s string) uint64 {
	if len(p.table) == 0 {
		p.table = []string{""}
	}
	i := slices.Index(p.table, s)
	if i < 0 {
		i = len(p.table)
		p.table = append(p.table, s)
	}
	return uint64(i)
}

// put appends a message of numbers, which stand at their fields.
func (p *builder) put(field uint32, values ...uint64) *builder {
	return p.with(field, nil, values...)
}

// with appends a message of numbers, and of more fields behind them.
func (p *builder) with(field uint32, more []byte, values ...uint64) *builder {
	var m []byte
	for i, v := range values {
		m = appendNumber(m, uint32(i+1), v)
	}
	p.b = appendMessage(p.b, field, append(m, more...))
	return p
}

func (p *builder) sample(value uint64, locations ...uint64) *builder {
	var packed []byte
	for _, id := range locations {
		packed = binary.AppendUvarint(packed, id)
	}
	m := appendMessage(nil, sampleLocation, packed)
	return p.with(profileSample, appendMessage(m, sampleValue, binary.AppendUvarint(nil, value)))
}

func (p *builder) strings() *builder {
	for _, s := range p.table {
		p.b = appendMessage(p.b, profileString, s)
	}
	return p
}

func lineOf(l line) []byte { return appendLine(nil, l, nil) }

const buildID = "6c2ae52a5f15eff394b28c8d2be7cd1a622f2754"

// native is a profile of two files. One has names.
func native() []byte {
	var p builder
	p.put(profileType, p.string("samples"), p.string("count"))
	p.sample(3, 1, 2, 3).sample(4, 2, 3).sample(1, 4, 3).sample(2)
	p.put(profileMapping, 1, 0x7f0000001000, 0x7f0000005000, 0x1000, p.string("/usr/lib/libcart.so"), p.string(buildID))
	p.put(profileMapping, 2, 0x400000, 0x500000, 0, p.string("/usr/bin/shop"), p.string("aa"+buildID[2:]), 1)
	unknown := appendMessage(nil, 77, "kept as it came")
	p.put(profileLocation, 1, 1, 0x7f0000001010).with(profileLocation, unknown, 2, 1, 0x7f0000002020)
	p.with(profileLocation, lineOf(line{7, 42, 3}), 3, 2, 0x400100)
	p.put(profileLocation, 4, 2, 0x400200)
	p.put(profileFunction, 7, p.string("main"), p.string("main"), p.string("main.cpp"))
	p.b = appendMessage(p.b, 99, "a field of later versions")
	return p.strings().b
}

func TestConformance(t *testing.T) {
	t.Parallel()
	var scripts builder
	scripts.put(profileType, scripts.string("cpu"), scripts.string("ns"))
	scripts.put(profileFunction, 1, scripts.string("t"), 0, scripts.string("file:///app/dist/bundle.js"))
	scripts.put(profileFunction, 2, scripts.string("a.b.c"), 0, scripts.string("r8-map-id-0123abc"))
	scripts.put(profileFunction, 3, scripts.string("void a.b.c(int)"), 0, scripts.string("r8-map-id-0123abc"))
	scripts.put(profileFunction, 4, scripts.string("readSync"), 0, scripts.string("node:fs"))
	scripts.with(profileLocation, lineOf(line{1, 1, 421}), 1).with(profileLocation, lineOf(line{1, 1, 12}), 2)
	scripts.with(profileLocation, lineOf(line{2, 0, 0}), 3).with(profileLocation, lineOf(line{3, 0, 0}), 4).with(profileLocation, lineOf(line{4, 7, 0}), 5)
	scripts.sample(1, 1, 2, 5).sample(1, 3, 4).strings()

	ordered := builder{}
	ordered.string("libcart.so")
	ordered.strings().put(profileLocation, 9, 5, 0x1234).put(profileLocation, 1<<63, 5, 0x1236).put(profileMapping, 5, 0, 0, 0, 1)
	ordered.with(profileFunction, nil, 1<<64-1).sample(1, 9, 1<<63)
	profiletest.Run(t, Format,
		profiletest.Fixture{Name: "native", Data: native(), Samples: 4, Places: 3, Keeps: [][]byte{[]byte("kept as it came"), []byte("a field of later versions")}},
		profiletest.Fixture{Name: "scripts", Data: scripts.b, Samples: 2, Places: 3, Again: true},
		profiletest.Fixture{Name: "strings first", Data: ordered.b, Samples: 1, Places: 2},
	)
}

// answered answers a profile with made-up functions.
func answered(t *testing.T, data []byte, o *profile.Options, ask func(f *report.Frame) symbol.Answer) []byte {
	t.Helper()
	if o == nil {
		o = &profile.Options{}
	}
	o.Ask = func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			a := ask(&frames[i])
			answer(i, &a)
		}
		return nil
	}
	var out bytes.Buffer
	if err := profile.Answer(t.Context(), []*profile.Format{Format}, profile.Bytes("x", data), &out, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// stacks returns the stacks of a profile, each frame with all that is known of it.
func stacks(t *testing.T, data []byte) (all []string) {
	t.Helper()
	var p samples.Profile
	if err := profile.Samples(t.Context(), []*profile.Format{Format}, profile.Bytes("x", data), &p); err != nil {
		t.Fatal(err)
	}
	profiletest.Check(t, &p)
	for i, s := range p.Samples {
		var names []string
		for at := s.Stack; at >= 0; at = p.Stacks[at].Caller {
			f := p.Frames[p.Stacks[at].Frame]
			name := f.Function
			if f.Linkage != "" {
				name += "=" + f.Linkage
			}
			if f.File != "" {
				name += fmt.Sprintf("(%s:%d:%d)", f.File, f.Line, f.Column)
			}
			if f.Inlined {
				name += "*"
			}
			names = append(names, name)
		}
		all = append(all, fmt.Sprintf("%s %d", strings.Join(names, "<"), p.Value(i, 0)))
	}
	return all
}

// TestAnswer: locations get lines, inlined calls and functions with short names; mappings are marked.
func TestAnswer(t *testing.T) {
	t.Parallel()
	var asked []string
	out := answered(t, native(), nil, func(f *report.Frame) symbol.Answer {
		asked = append(asked, fmt.Sprintf("%v %s %d %#x", f.Image, f.File, f.At.Space, f.At.Value))
		if f.At.Value == 0x200 {
			return symbol.Answer{Status: symbol.Hole}
		}
		return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{
			{Function: "shop::add<int>(int)", Linkage: "_ZN4shop3addIiEEiT_", File: "add.h", Line: 5},
			{Function: "total", Linkage: "total", File: "cart.c", Line: uint32(f.At.Value), Column: 2}}}
	})
	want := []string{
		"[" + buildID + " libcart.so] /usr/lib/libcart.so 4 0x1010",
		"[" + buildID + " libcart.so] /usr/lib/libcart.so 4 0x2020",
		"[aa" + buildID[2:] + " shop] /usr/bin/shop 4 0x200",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
	got := stacks(t, out)
	if want := []string{
		"shop::add=_ZN4shop3addIiEEiT_(add.h:5:0)*<total(cart.c:4112:2)<shop::add=_ZN4shop3addIiEEiT_(add.h:5:0)*<total(cart.c:8224:2)<main(main.cpp:42:3) 3",
		"shop::add=_ZN4shop3addIiEEiT_(add.h:5:0)*<total(cart.c:8224:2)<main(main.cpp:42:3) 4",
		"shop+0x200<main(main.cpp:42:3) 1",
	}; !slices.Equal(got, want) {
		t.Errorf("stacks are\n%s", strings.Join(got, "\n"))
	}
	var flags []string
	each(t, out, func(r *reader) {
		if r.message(profileMapping) {
			said := ""
			protobuf.Each(r.bytes(), func(f *protobuf.Fields) {
				if f.Number >= mappingFunctions {
					said += fmt.Sprintf(" %d=%d", f.Number, f.Value)
				}
			})
			flags = append(flags, said)
		}
	})
	if want := []string{" 7=1 8=1 9=1 10=1", " 7=1"}; !slices.Equal(flags, want) {
		t.Errorf("mappings have %q, want %q", flags, want)
	}
}

func each(t *testing.T, data []byte, visit func(r *reader)) {
	t.Helper()
	r, err := newReader(section{profile.Bytes("x", data), 0, -1})
	if err != nil {
		t.Fatal(err)
	}
	for {
		more, err := r.field()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
		visit(r)
	}
}

// TestPlaces: addresses of a mapping are asked for as its kind has them.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, build          string
		start, limit, offset uint64
		address              uint64
		want                 string // "": it is not asked for
	}{
		{"/usr/lib/libcart.so", "", 0x7f0000001000, 0x7f0000005000, 0x1000, 0x7f0000001010, "[libcart.so] libcart.so 4 0x1010 &{4096 16384 false} []"},
		{"/usr/lib/libcart.so (deleted)", "ABCDEF0123456789", 0x7f0000001000, 0x7f0000005000, 0, 0x7f0000001010, "[abcdef0123456789 libcart.so] libcart.so 4 0x10 &{0 16384 false} [{2 16 0  <nil>}]"},
		{"/usr/lib/libcart.so", "", 0, 0, 0, 0x1010, "[libcart.so] libcart.so 1 0x1010 <nil> []"},
		{"/usr/lib/libcart.so", "", 0, ^uint64(0), 0, 0x1010, "[libcart.so] libcart.so 1 0x1010 <nil> []"},
		{"/usr/lib/libcart.so", "", 0x7f0000001000, 0x7f0000005000, 0x1000, 0x1010, "[libcart.so] libcart.so 1 0x1010 <nil> []"},
		{"/data/app/shop/base.apk!lib/arm64-v8a/libcart.so", "", 0x7f0000001000, 0x7f0000005000, 0x9000, 0x7f0000001010, "[libcart.so] libcart.so 4 0x9010 &{36864 16384 true} []"},
		{"/data/app/shop/base.apk", buildID, 0x7f0000001000, 0x7f0000005000, 0x9000, 0x7f0000001010, "[" + buildID + "] base.apk 4 0x9010 &{36864 16384 true} []"},
		{"/data/app/shop/base.apk", "", 0x7f0000001000, 0x7f0000005000, 0x9000, 0x7f0000001010, ""},
		{"[kernel.kallsyms]_text", "", 0xffffffff81000000, 0xffffffffc0000000, 0xffffffff81000000, 0xffffffff81001234, "[vmlinux] [kernel.kallsyms]_text 2 0x1234 <nil> []"},
		{"[kernel.kallsyms]_stext", buildID, 0xffff800080010000, 0xffff8000ffff0000, 0, 0xffff800080011234, "[" + buildID + " vmlinux] [kernel.kallsyms]_stext 3 0x1234 <nil> []"},
		{"[nvme_core]", "", 0xffffffffc0100000, 0xffffffffc0140000, 0, 0xffffffffc0100010, "[nvme_core.ko] [nvme_core] 3 0x10 <nil> []"},
		{"[vdso]", "", 0x7ffd00001000, 0x7ffd00003000, 0, 0x7ffd00001010, "[] [vdso] 4 0x10 &{0 8192 false} [{2 16 0  <nil>}]"},
		{`C:\shop\shop.exe`, "", 0x140000000, 0x140100000, 0, 0x140001010, `[shop.exe] shop.exe 2 0x1010 <nil> []`},
		{"", "", 0x7ffd00001000, 0x7ffd00003000, 0, 0x7ffd00001010, ""},
	} {
		var p builder
		p.put(profileMapping, 1, c.start, c.limit, c.offset, p.string(c.file), p.string(c.build))
		p.put(profileLocation, 1, 1, c.address).strings()
		got := ""
		answered(t, p.b, nil, func(f *report.Frame) symbol.Answer {
			got = fmt.Sprintf("%v %s %d %#x %v %v", f.Image, baseOf(f.File), f.At.Space, f.At.Value, f.At.Mapped, f.Or)
			return symbol.Answer{Status: symbol.Hole}
		})
		if got != c.want {
			t.Errorf("%s: asked for %q, want %q", c.file, got, c.want)
		}
	}
}

// TestFrame0: callers are stepped back into their calls on demand.
func TestFrame0(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		frame0 report.Frame0
		want   string
	}{{report.AsFormat, "4112 8224 512"}, {report.Stepped, "4112 8224 512"}, {report.Return, "4110 8222 510"}, {report.Exact, "4112 8222 512"}} {
		var got []string
		answered(t, native(), &profile.Options{Frame0: c.frame0}, func(f *report.Frame) symbol.Answer {
			got = append(got, fmt.Sprint(f.At.Value))
			return symbol.Answer{Status: symbol.Hole}
		})
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v: %s, want %s", c.frame0, text, c.want)
		}
	}
}

// TestRenamed: functions of scripts and of renamed Java are answered by their places, others stay.
func TestRenamed(t *testing.T) {
	t.Parallel()
	var p builder
	p.put(profileType, p.string("cpu"), p.string("ns"))
	p.put(profileFunction, 1, p.string("t"), p.string("t"), p.string("/app/dist/bundle.js"))
	p.put(profileFunction, 2, p.string("void a.b.c(int)"), 0)
	p.put(profileFunction, 3, p.string("main.main"), 0, p.string("main.go"))
	p.put(profileMapping, 1, 0, 0, 0, p.string("/data/app/x/base.apk"))
	more := append(lineOf(line{3, 8, 0}), appendLine(nil, line{1, 1, 421}, appendMessage(nil, 50, "kept"))...)
	p.with(profileLocation, more, 1).with(profileLocation, lineOf(line{2, 0, 0}), 2, 1)
	p.with(profileLocation, lineOf(line{2, 3, 0}), 3).sample(1, 1).sample(2, 2).sample(3, 3).strings()
	var asked []string
	out := answered(t, p.b, nil, func(f *report.Frame) symbol.Answer {
		if f.Managed != nil {
			asked = append(asked, fmt.Sprintf("%s.%s:%d", f.Managed.Class, f.Managed.Method, f.Managed.Line))
			if f.Managed.Line > 0 {
				return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "shop.Inner.in", File: "Inner.kt", Line: 2}, {Function: "shop.Cart.add", File: "Cart.kt", Line: 9}}}
			}
			return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "shop.Cart.add"}}, Or: [][]symbol.Frame{{{Function: "shop.Cart.remove"}}}}
		}
		asked = append(asked, fmt.Sprintf("%s %#x", f.File, f.At.Value))
		return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "total", File: "cart.ts", Line: 3, Column: 4}}}
	})
	if want := []string{"/app/dist/bundle.js 0x1a4", "a.b.c:-1", "a.b.c:3"}; !slices.Equal(slices.Sorted(slices.Values(asked)), slices.Sorted(slices.Values(want))) {
		t.Errorf("asked for %q", asked)
	}
	want := []string{
		"main.main(main.go:8:0)*<total(cart.ts:3:5) 1",
		"void shop.Cart.c(int) 2",
		"shop.Inner.in(Inner.kt:2:0)*<void shop.Cart.add(int)(Cart.kt:9:0) 3",
	}
	if got := stacks(t, out); !slices.Equal(got, want) {
		t.Errorf("stacks are\n%s", strings.Join(got, "\n"))
	}
	if !bytes.Contains(out, []byte("kept")) {
		t.Error("a field of a line is lost")
	}
}

// TestLines: a line of a script without a column takes the answer of its first column that the map knows.
func TestLines(t *testing.T) {
	t.Parallel()
	var p builder
	p.put(profileType, p.string("cpu"), p.string("ns"))
	p.put(profileFunction, 1, p.string("t"), p.string("t"), p.string("bundle.js"))
	for i := range uint64(3) {
		p.with(profileLocation, lineOf(line{1, int64(i + 5), 0}), i+1).sample(1, i+1)
	}
	o := &profile.Options{}
	out := answered(t, p.strings().b, o, func(f *report.Frame) symbol.Answer {
		line, column := f.At.Value>>32+1, f.At.Value&0xff
		if line == 5 && column < 4 || line == 7 {
			return symbol.Answer{Status: symbol.Hole}
		}
		return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "total", File: "cart.ts", Line: uint32(line), Column: uint32(column)}}}
	})
	want := []string{"total(cart.ts:5:5) 1", "total(cart.ts:6:1) 1", "t(bundle.js:7:0) 1"}
	if got := stacks(t, out); !slices.Equal(got, want) || o.Counts.Places != 3 || o.Counts.Answered != 2 {
		t.Errorf("stacks are %q; %+v", got, o.Counts)
	}
}

// TestSeveral: profiles that stand behind each other are answered each by its own tables.
func TestSeveral(t *testing.T) {
	t.Parallel()
	var other builder
	other.put(profileType, other.string("samples"), other.string("count"))
	other.put(profileMapping, 1, 0, 0, 0, other.string("libpay.so")).put(profileLocation, 1, 1, 0x99).sample(5, 1).strings()
	data := slices.Concat(native(), other.b, native())
	o := &profile.Options{}
	out := answered(t, data, o, func(f *report.Frame) symbol.Answer { return profiletest.Of(f) })
	one := answered(t, native(), nil, func(f *report.Frame) symbol.Answer { return profiletest.Of(f) })
	if !bytes.HasPrefix(out, one) || !bytes.HasSuffix(out, one) || o.Counts.Samples != 9 || o.Counts.Places != 7 || len(o.Counts.Kept) > 0 {
		t.Errorf("three profiles give %d bytes, one gives %d; %+v", len(out), len(one), o.Counts)
	}
	if got := stacks(t, out); len(got) != 7 || !strings.HasSuffix(got[3], " 5") {
		t.Errorf("stacks are\n%s", strings.Join(got, "\n"))
	}
	many := bytes.Repeat(native(), maxProfiles+1)
	if out := answered(t, many, o, func(*report.Frame) symbol.Answer { return symbol.Answer{Status: symbol.Hole} }); !bytes.Equal(out, many) || len(o.Counts.Kept) != 1 {
		t.Errorf("%d bytes of many profiles are %d; %+v", len(many), len(out), o.Counts.Kept)
	}
}

// TestWithoutMapping: a location without a mapping belongs to the mapping that holds its address.
func TestWithoutMapping(t *testing.T) {
	t.Parallel()
	var p builder
	p.put(profileMapping, 1, 0x5000, 0x6000, 0, p.string("a.so")).put(profileMapping, 2, 0x1000, 0x2000, 0, p.string("b.so"))
	for i, address := range []uint64{0x1800, 0x5000, 0x2000, 0x10, 0x6000} {
		p.put(profileLocation, uint64(i+1), 0, address)
	}
	var asked []string
	answered(t, p.strings().b, nil, func(f *report.Frame) symbol.Answer {
		asked = append(asked, fmt.Sprintf("%s %#x", f.File, f.At.Value))
		return symbol.Answer{Status: symbol.Hole}
	})
	if want := []string{"a.so 0x0", "b.so 0x800"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
}
