package pprof

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
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

func FuzzPprof(f *testing.F) {
	f.Add(native())
	f.Add([]byte("2\x00"))
	var p builder
	p.put(profileFunction, 1, p.string("a.b"), 0, p.string("x.js")).with(profileLocation, lineOf(line{1, 1, 1}), 1).strings()
	f.Add(p.b)
	profiletest.Fuzz(f, Format)
}

// TestBegins: profiles are known by their first bytes, and nothing else is.
func TestBegins(t *testing.T) {
	t.Parallel()
	data := native()
	for n := range data {
		if n > 16 && !Format.Begins(data[:n]) {
			t.Errorf("the first %d bytes are not known", n)
		}
	}
	otlp := appendMessage(nil, 1, appendMessage(nil, 1, appendMessage(nil, 1, "service.name")))
	dictionary := appendMessage(nil, 2, appendMessage(appendMessage(nil, 1, ""), 5, "cart"))
	perfetto := appendMessage(nil, 1, appendNumber(appendMessage(nil, 1, "ftrace"), 8, 12))
	for _, other := range []string{"", "2", "2024-11-01 12:00:00 a b", "\n", "SIMPLEPERF", "{}", "a;b;c 12\n", "\x1f\x8b\x08\x00", "heap profile: 1: 2 [3: 4] @ heap/1\n",
		string(otlp), string(dictionary), string(perfetto), string(make([]byte, 100))} {
		if Format.Begins([]byte(other)) {
			t.Errorf("%.20q is taken for a profile", other)
		}
	}
}

// made answers all places with one function.
func made(o *profile.Options) *profile.Options {
	o.Ask = func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			answer(i, &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Linkage: "f", File: "f.c", Line: 1}}})
		}
		return nil
	}
	return o
}

// TestHostile: parts that no profile may have are counted, and the rest is answered.
func TestHostile(t *testing.T) {
	t.Parallel()
	file := func(p *builder) *builder { return p.put(profileMapping, 1, 0, 0, 0, p.string("libcart.so")) }
	one := func(p *builder) *builder { return file(p).put(profileLocation, 2, 1, 5) }
	for _, c := range []struct {
		name     string
		data     *builder
		behind   []byte
		answered uint64
		kept     string
	}{
		{"a mapping that is not there", one(&builder{}).put(profileLocation, 1, 9, 5), nil, 1, "a mapping that the profile does not have"},
		{"two mappings with one id", file(one(&builder{})), nil, 1, "two mappings"},
		{"locations with one id", one(&builder{}).put(profileLocation, 2, 1, 6), nil, 2, ""},
		{"a string that is not there", (&builder{}).put(profileMapping, 1, 0, 0, 0, 1<<40).put(profileLocation, 1, 1, 5), nil, 0, ""},
		{"no empty string", one(&builder{table: []string{"x"}}), nil, 1, ""},
		{"no strings", (&builder{}).put(profileMapping, 1, 0, 0, 0, 0, 0).put(profileLocation, 1, 1, 5), nil, 0, ""},
		{"an address outside", one((&builder{}).put(profileMapping, 3, 4096, 8192, 0, 1)).put(profileLocation, 2, 3, 5000).put(profileLocation, 3, 3, 9000), nil, 2, "outside its mapping"},
		{"negative numbers", file(&builder{}).with(profileLocation, lineOf(line{1, -7, -3}), 2, 1).put(profileFunction, 1, 2, 0, 2).sample(math.MaxUint64, 2), nil, 0, ""},
		{"the last id of functions", one(&builder{}).put(profileFunction, math.MaxUint64).put(profileFunction, 1<<48), nil, 1, ""},
		{"a mapping of bytes that are no field", one(&builder{}), []byte{0x1a, 2, 0x08, 0xff}, 1, "no field"},
		{"a field that is cut off", one(&builder{}), []byte{0x32, 0x7f, 'x'}, 1, "cut off"},
		{"a length without end", one(&builder{}), []byte{0x32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 'x'}, 1, "cut off"},
		{"a long field that is cut off", one(&builder{}), []byte{0x32, 0xff, 0xff, 0xff, 0x7f, 'x'}, 1, "cut off"},
		{"a group", one(&builder{}), []byte{0x33, 0x7f, 'x', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1, "no field"},
		{"a long string", one(&builder{}), appendMessage(nil, profileString, strings.Repeat("x", maxMessage+1)), 1, "more than 16 MiB"},
	} {
		o := made(&profile.Options{})
		data := append(c.data.strings().b, c.behind...)
		var out bytes.Buffer
		if err := Format.Answer(t.Context(), profile.Bytes("x", data), &out, o); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		kept := ""
		for _, k := range o.Counts.Kept {
			kept += k.Why + ". "
		}
		if o.Counts.Answered != c.answered || !strings.Contains(kept, c.kept) || c.kept == "" && kept != "" {
			t.Errorf("%s: %d answered, kept: %q", c.name, o.Counts.Answered, kept)
		}
		if c.answered == 0 && !bytes.Equal(out.Bytes(), data) {
			t.Errorf("%s: other bytes come out", c.name)
		}
		if names := strings.Join(functions(t, out.Bytes()), " "); c.answered > 0 && !strings.Contains(names, "f=f(f.c)") {
			t.Errorf("%s: functions are %s", c.name, names)
		}
	}
}

// functions returns the functions that locations have.
func functions(t *testing.T, data []byte) (all []string) {
	var table []string
	each(t, data, func(r *reader) {
		if r.number == profileString {
			table = append(table, string(r.bytes()[:min(10, len(r.bytes()))]))
		}
	})
	known := map[uint64]string{}
	each(t, data, func(r *reader) {
		if f, ok := parseFunction(r.bytes()); r.message(profileFunction) && ok && f.file < uint64(len(table)) && f.name < uint64(len(table)) {
			known[f.id] = fmt.Sprintf("%s=%s(%s)", table[f.name], table[f.system], table[f.file])
		}
	})
	each(t, data, func(r *reader) {
		if !r.message(profileLocation) {
			return
		}
		protobuf.Each(r.bytes(), func(f *protobuf.Fields) {
			if l, ok := parseLine(f.Bytes); f.Number == locationLine && ok {
				all = append(all, known[l.function])
			}
		})
	})
	return all
}

// locations returns a profile of n locations of one file.
func locations(n int) []byte {
	var p builder
	p.put(profileType, p.string("samples"), p.string("count"))
	p.put(profileMapping, 1, 0x7f0000000000, 0x7f00ffffffff, 0, p.string("libcart.so"))
	for i := range n {
		p.put(profileLocation, uint64(i+1), 1, 0x7f0000000000+uint64(i)*0x9e3779b1%0xffffffff)
	}
	return p.strings().b
}

// TestWindows: answers of many locations wait in a file, and come back in their order.
func TestWindows(t *testing.T) {
	t.Parallel()
	n := windowPlaces + 5000
	data := locations(n)
	for _, room := range []int64{0, 1 << 20} {
		made := 0
		o := &profile.Options{Memory: room, Scratch: func() (profile.Scratch, error) { made++; return &file{}, nil }}
		o.Ask = func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
			for i := range frames {
				at := uint32(frames[i].At.Value)
				a := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Linkage: "f", Line: at}}}
				if at%7 == 0 {
					a = symbol.Answer{Status: symbol.Hole}
				}
				answer(i, &a)
			}
			return nil
		}
		var out bytes.Buffer
		if err := Format.Answer(t.Context(), profile.Bytes("x", data), &out, o); err != nil {
			t.Fatal(err)
		}
		if o.Counts.Places != uint64(n) || len(o.Counts.Kept) > 0 || (made > 0) != (room > 0) {
			t.Errorf("%d places, %d files, kept %+v", o.Counts.Places, made, o.Counts.Kept)
		}
		wrong := 0
		each(t, out.Bytes(), func(r *reader) {
			if !r.message(profileLocation) {
				return
			}
			l, _ := parseLocation(r.bytes())
			at, got := uint32(l.address), line{}
			protobuf.Each(r.bytes(), func(f *protobuf.Fields) {
				if f.Number == locationLine {
					got, _ = parseLine(f.Bytes)
				}
			})
			if at%7 == 0 && l.lines != 0 || at%7 != 0 && uint32(got.line) != at {
				wrong++
			}
		})
		if wrong > 0 {
			t.Errorf("%d of %d locations have other lines", wrong, n)
		}
	}
}

// file is scratch in memory.
type file struct{ b []byte }

func (f *file) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(f.b).ReadAt(p, at) }

func (f *file) WriteAt(p []byte, at int64) (int, error) {
	f.b = append(f.b[:at], p...)
	return len(p), nil
}

func (f *file) Close() error { return nil }

// TestLinear: eight times the locations allocate at most sixteen times.
func TestLinear(t *testing.T) {
	cost := func(n int) float64 {
		data := locations(n)
		return testing.AllocsPerRun(1, func() {
			if err := Format.Answer(t.Context(), profile.Bytes("x", data), io.Discard, made(&profile.Options{})); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, large := cost(4000), cost(32000); large > 16*small {
		t.Errorf("%v allocations for 4,000 locations, %v for 32,000", small, large)
	}
}

// TestWrite: samples that are written come back as they were.
func TestWrite(t *testing.T) {
	t.Parallel()
	out := answered(t, native(), nil, func(f *report.Frame) symbol.Answer { return profiletest.Of(f) })
	var from samples.Profile
	if err := profile.Samples(t.Context(), []*profile.Format{Format}, profile.Bytes("x", out), &from); err != nil {
		t.Fatal(err)
	}
	from.Threads = []samples.Thread{{PID: 1, TID: 2, Name: "main", Process: "shop"}}
	from.Samples[0].Thread = 0
	from.Samples = append(from.Samples, from.Samples[0], from.Samples[1])
	from.Values = append(from.Values, 10, math.MaxInt64)
	from.Duration, from.Start = 5, 6
	var b bytes.Buffer
	if err := Format.Write(&b, &from); err != nil {
		t.Fatal(err)
	}
	var to samples.Profile
	if err := profile.Samples(t.Context(), []*profile.Format{Format}, profile.Bytes("x", b.Bytes()), &to); err != nil {
		t.Fatal(err)
	}
	profiletest.Check(t, &to)
	if !slices.Equal(to.Types, from.Types) || !slices.Equal(to.Threads, from.Threads) || to.Duration != 5 || to.Start != 6 {
		t.Errorf("got %+v", to)
	}
	slices.Sort(to.Values)
	if got := fmt.Sprint(to.Values); got != fmt.Sprint([]int64{1, 13, math.MaxInt64}) {
		t.Errorf("values are %s", got)
	}
	sorted := func(all []string) []string {
		for i, s := range all {
			all[i], _, _ = strings.Cut(s, " ")
		}
		slices.Sort(all)
		return all
	}
	if got, want := sorted(stacks(t, b.Bytes())), sorted(stacks(t, out)); !slices.Equal(got, want) {
		t.Errorf("stacks\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var other samples.Profile
	stack := int32(samples.None)
	for _, f := range []samples.Frame{{Function: "f", Module: "/lib/ld-linux.so.2"}, {Function: "g", Module: "/lib/libc.so.6"}, {Function: "shop::add(int)", Linkage: "_ZN4shop3addEi", Module: "/usr/bin/shop"}} {
		n, _ := other.Frame(f)
		stack, _ = other.Push(stack, n)
	}
	if err := other.Add(samples.Sample{Stack: stack, Thread: samples.None}); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	to = samples.Profile{}
	if err := Format.Write(&b, &other); err != nil {
		t.Fatal(err)
	}
	if err := profile.Samples(t.Context(), []*profile.Format{Format}, profile.Bytes("x", b.Bytes()), &to); err != nil || to.Name != "shop" {
		t.Errorf("the main program is %q, %v", to.Name, err)
	}
	if got := stacks(t, b.Bytes()); got[0] != "shop::add=_ZN4shop3addEi<g<f 1" {
		t.Errorf("stacks are %q", got)
	}
	var empty bytes.Buffer
	if err := Format.Write(&empty, &samples.Profile{}); err != nil {
		t.Fatal(err)
	}
	if _, head, _, err := profile.Unpack(profile.Bytes("x", empty.Bytes())); err != nil || !Format.Begins(head) {
		t.Error("a profile without samples is not known", err)
	}
}
