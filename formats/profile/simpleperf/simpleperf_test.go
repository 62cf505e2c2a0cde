package simpleperf_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/simpleperf"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

// writer writes a profile as simpleperf does.
type writer struct{ bytes.Buffer }

func begin() *writer {
	w := &writer{}
	w.WriteString("SIMPLEPERF\x01\x00")
	return w
}

func (w *writer) record(number uint32, message []byte) *writer {
	body := protobuf.AppendBytes(nil, number, message)
	_ = binary.Write(w, binary.LittleEndian, uint32(len(body)))
	w.Write(body)
	return w
}

func (w *writer) end() []byte {
	_ = binary.Write(w, binary.LittleEndian, uint32(0))
	return w.Bytes()
}

func number(to []byte, field uint32, v int64) []byte {
	return protobuf.AppendNumber(to, field, uint64(v))
}

func text(to []byte, field uint32, v string) []byte {
	return protobuf.AppendBytes(to, field, v)
}

// call is an entry of a chain.
type call struct {
	address      uint64
	file, symbol int64
}

func sample(time, thread int64, chain ...call) []byte {
	b := number(number(nil, 1, time), 2, thread)
	for i, c := range chain {
		e := number(number(number(nil, 1, int64(c.address)), 2, c.file), 3, c.symbol)
		if i == 0 {
			e = text(e, 15, "of a later version")
		}
		b = protobuf.AppendBytes(b, 3, e)
	}
	return number(number(b, 4, 250000), 5, 0)
}

func file(id int64, path string, symbols ...string) []byte {
	b := text(number(nil, 1, id), 2, path)
	for _, s := range symbols {
		b = text(b, 3, s)
	}
	for _, s := range symbols {
		b = text(b, 4, "_"+s)
	}
	return b
}

// shop is a profile with all kinds of records.
func shop() []byte {
	w := begin()
	w.record(5, text(text(text(nil, 1, "cpu-clock"), 1, "sched:sched_switch"), 2, "com.example.shop"))
	w.record(1, sample(1000, 7, call{0x1f3a, 0, -1}, call{0x2000, 0, 0}, call{0x10, 1, 0}, call{0xffffffff80001000, 2, -1}))
	w.record(6, number(number(nil, 1, 1), 2, 1500))
	w.record(1, sample(3000, 7, call{0x1f3a, 0, -1}, call{0x2f00, 0, 1}, call{0x10, 3, 0}))
	w.record(1, sample(4000, 8, call{0x9999, 0, -1}))
	w.record(2, number(number(nil, 1, 3), 2, 2))
	w.record(3, file(0, "/data/app/~~x==/base.apk!/lib/arm64-v8a/libcart.so", "checkout", "libcart.so[+2f00]"))
	w.record(3, file(1, "/data/app/~~x==/base.apk", "s.b.a", "void s.b.c(int)"))
	w.record(3, file(2, "[kernel.kallsyms]"))
	w.record(3, file(3, "/apex/com.android.art/javalib/core-oj.jar", "java.lang.Thread.run"))
	w.record(4, text(number(number(nil, 1, 7), 2, 7), 3, "com.example.shop"))
	w.record(4, text(number(number(nil, 1, 8), 2, 7), 3, "Render"))
	w.record(9, []byte{8, 1})
	return w.end()
}

// asked answers places of libcart.so, and methods of one class.
func asked(t *testing.T, questions *[]string) *profile.Options {
	return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			f := &frames[i]
			a := &symbol.Answer{Status: symbol.NoArtifact}
			switch {
			case f.Managed != nil:
				*questions = append(*questions, f.Managed.Class+"#"+f.Managed.Method)
				if f.Managed.Class == "s.b" {
					a = &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "com.example.shop.Checkout.pay"}}}
				}
			default:
				*questions = append(*questions, fmt.Sprintf("%s %s %v 0x%x", strings.Join(f.Image, ","), f.Kind, f.At.Space == symbol.Unslid, f.At.Value))
				if f.At.Value == 0x1f3a {
					a = &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "price(int)", Linkage: "_Z5pricei", File: "cart.cc", Line: 7}, {Function: "Cart::total()", Linkage: "_ZN4Cart5totalEv", File: "cart.cc", Line: 30}}}
				}
				if f.At.Value == 0x2f00 {
					a = &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "main", Linkage: "main"}}}
				}
			}
			answer(i, a)
		}
		return nil
	}}
}

// An answer adds symbols, and points entries there. Each place is asked for once.
func TestAnswer(t *testing.T) {
	t.Parallel()
	var questions []string
	o := asked(t, &questions)
	var out bytes.Buffer
	list := []*profile.Format{simpleperf.Format}
	if err := profile.Answer(t.Context(), list, profile.Bytes("shop.trace", shop()), &out, o); err != nil {
		t.Fatal(err)
	}
	want := []string{"libcart.so elf true 0x1f3a", "libcart.so elf true 0x2f00", "libcart.so elf true 0x9999", "s.b#a"}
	if !slices.Equal(questions, want) {
		t.Errorf("asked for %q, want %q", questions, want)
	}
	if c := &o.Counts; c.Samples != 3 || c.Places != 4 || c.Answered != 3 || c.Named != 1 || len(c.Kept) != 0 || len(c.Unanswered) != 1 {
		t.Errorf("%+v", *c)
	}
	var p samples.Profile
	if err := profile.Samples(t.Context(), list, profile.Bytes("shop.trace", out.Bytes()), &p); err != nil {
		t.Fatal(err)
	}
	wantStacks := []string{
		"[kernel.kallsyms]+0xffffffff80001000 > com.example.shop.Checkout.pay > checkout > Cart::total() > price(int)*",
		"java.lang.Thread.run > main > Cart::total() > price(int)*",
		"libcart.so+0x9999",
	}
	for i := range p.Samples {
		if got := stackOf(&p, p.Samples[i].Stack); got != wantStacks[i] {
			t.Errorf("sample %d: %s\nwant %s", i, got, wantStacks[i])
		}
	}
	if p.Name != "com.example.shop" || p.Lost != 2 || p.Duration != 3000 || len(p.Types) != 3 || p.Types[1] != (samples.Type{Name: "cpu-clock", Unit: "nanoseconds"}) || p.Value(0, 1) != 250000 || p.Value(0, 0) != 1 {
		t.Errorf("%+v", p.Types)
	}
	if at := p.Threads[p.Samples[2].Thread]; at.TID != 8 || at.PID != 7 || at.Name != "Render" || at.Process != "com.example.shop" {
		t.Errorf("%+v", at)
	}
	if got := bytes.Count(out.Bytes(), []byte("_ZN4Cart5totalEv")); got != 1 {
		t.Errorf("the linkage name stands %d times", got)
	}
	if bytes.Count(out.Bytes(), []byte("of a later version")) != 5 { // each inlined entry has it too
		t.Errorf("unknown fields are lost: %d", bytes.Count(out.Bytes(), []byte("of a later version")))
	}
}

func stackOf(p *samples.Profile, at int32) string {
	var names []string
	for ; at != samples.None; at = p.Stacks[at].Caller {
		f := &p.Frames[p.Stacks[at].Frame]
		name := f.Function
		if f.Inlined {
			name += "*"
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	return strings.Join(names, " > ")
}

// Without symbols, a profile stays byte for byte, whole or cut.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	whole := append(shop(), "something behind the end"...)
	for n := headerLength; n <= len(whole); n++ {
		o := &profile.Options{Ask: nothing}
		var out bytes.Buffer
		if err := profile.Answer(t.Context(), []*profile.Format{simpleperf.Format}, profile.Bytes("x", whole[:n]), &out, o); err != nil || !bytes.Equal(out.Bytes(), whole[:n]) {
			t.Fatalf("%d of %d bytes: %v, %d bytes written", n, len(whole), err, out.Len())
		}
		if cut := n < len(shop()); cut != (len(o.Counts.Kept) > 0) {
			t.Errorf("%d of %d bytes: %+v", n, len(whole), o.Counts.Kept)
		}
		var p samples.Profile
		if err := profile.Samples(t.Context(), []*profile.Format{simpleperf.Format}, profile.Bytes("x", whole[:n]), &p); err != nil {
			t.Fatal(err)
		}
	}
}

const headerLength = 10

func nothing(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
	for i := range frames {
		answer(i, &symbol.Answer{Status: symbol.NoArtifact})
	}
	return nil
}

// Sizes that are not there take no memory, and names above the room are a limit.
func TestHostile(t *testing.T) {
	t.Parallel()
	list := []*profile.Format{simpleperf.Format}
	for name, raw := range map[string][]byte{
		"a record of 4 GB":        append([]byte("SIMPLEPERF\x01\x00"), 0xff, 0xff, 0xff, 0xff, 1),
		"a record of 60 MB":       append([]byte("SIMPLEPERF\x01\x00"), 0, 0, 0xc0, 3, 1),
		"a record that is none":   append([]byte("SIMPLEPERF\x01\x00"), 2, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0),
		"a sample that is none":   begin().record(1, []byte{0x1a, 0x7f}).end(),
		"files of one number":     begin().record(3, file(1, "/a.so")).record(3, file(1, "/b.so")).end(),
		"a symbol that is beyond": begin().record(1, sample(1, 1, call{1, 1, 1 << 30})).record(3, file(1, "/a.so", "f")).end(),
	} {
		o := &profile.Options{Ask: nothing}
		var out bytes.Buffer
		if err := profile.Answer(t.Context(), list, profile.Bytes("x", raw), &out, o); err != nil || !bytes.Equal(out.Bytes(), raw) {
			t.Errorf("%s: %v", name, err)
		}
		if len(o.Counts.Kept) == 0 && name != "a symbol that is beyond" {
			t.Errorf("%s is not counted", name)
		}
		var p samples.Profile
		if err := profile.Samples(t.Context(), list, profile.Bytes("x", raw), &p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := &profile.Options{Ask: nothing, Memory: 1 << 10}
	if err := profile.Answer(t.Context(), list, profile.Bytes("x", shop()), io.Discard, o); !errors.Is(err, formats.ErrLimit) {
		t.Errorf("names above the room: %v", err)
	}
}

// The cost grows with the records, not faster.
func TestLinear(t *testing.T) {
	cost := func(n int) float64 {
		w := begin()
		for i := range n {
			w.record(1, sample(int64(i), 1, call{uint64(i), 0, -1}, call{uint64(i % 7), 0, -1}))
		}
		raw := w.record(3, file(0, "/data/libcart.so")).end()
		return testing.AllocsPerRun(1, func() {
			if err := profile.Answer(t.Context(), []*profile.Format{simpleperf.Format}, profile.Bytes("x", raw), io.Discard, &profile.Options{Ask: nothing}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, large := cost(2000), cost(16000); large > 16*small {
		t.Errorf("%v allocations for 2,000 samples, %v for 16,000", small, large)
	}
}

func FuzzSimpleperf(f *testing.F) {
	f.Add(shop())
	f.Add([]byte("SIMPLEPERF\x01\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list := []*profile.Format{simpleperf.Format}
		raw = append([]byte("SIMPLEPERF"), bytes.TrimPrefix(raw, []byte("SIMPLEPERF"))...)
		var out bytes.Buffer
		if err := profile.Answer(t.Context(), list, profile.Bytes("x", raw), &out, &profile.Options{Ask: nothing}); err != nil || !bytes.Equal(out.Bytes(), raw) {
			t.Fatalf("%v: %d bytes became %d", err, len(raw), out.Len())
		}
		var questions []string
		out.Reset()
		if err := profile.Answer(t.Context(), list, profile.Bytes("x", raw), &out, asked(t, &questions)); err != nil {
			t.Fatal(err)
		}
		var p samples.Profile
		if err := profile.Samples(t.Context(), list, profile.Bytes("x", out.Bytes()), &p); err != nil {
			t.Fatal(err)
		}
	})
}

// A chain of millions of entries makes a stack of the innermost ones.
func TestLongChain(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	sample := bytes.Repeat([]byte{3<<3 | 2, 0}, 3*most)
	record := append(binary.AppendUvarint([]byte{1<<3 | 2}, uint64(len(sample))), sample...)
	file := append([]byte("SIMPLEPERF\x01\x00"), binary.LittleEndian.AppendUint32(nil, uint32(len(record)))...)
	file = append(append(file, record...), 0, 0, 0, 0)
	var p samples.Profile
	if err := simpleperf.Format.Samples(t.Context(), profile.Bytes("x", file), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Samples) != 1 || len(p.Stacks) != most {
		t.Errorf("%d samples, %d stacks", len(p.Samples), len(p.Stacks))
	}
}
