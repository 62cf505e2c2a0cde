package unwind

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// toy is a source of rules by module and offset, and of functions.
type toy struct {
	rules   map[Place]string // STACK CFI text, or Windows' rules as Append writes them
	arch    *Arch
	known   map[Place]Known
	symbols bool // modules have symbols: a place that known does not have is no function
	calls   int
}

func (s *toy) Rules(_ context.Context, at []Place, out []Found) error {
	s.calls++
	for i, p := range at {
		text, ok := s.rules[p]
		if !ok {
			continue
		}
		out[i].Start = p.Offset
		if text[0] == formWindows {
			out[i].Rules = text
			continue
		}
		var r Rules
		if err := r.Merge(s.arch, text); err != nil {
			return err
		}
		out[i].Rules = string(r.Append(nil))
	}
	return nil
}

func (s *toy) Functions(_ context.Context, at []Place, out []Known) error {
	for i, p := range at {
		k, ok := s.known[p]
		if !ok && s.symbols {
			k = NoFunction
		}
		out[i] = k
	}
	return nil
}

// The world of the tests: one module of code, and a stack.
const (
	codeAt  = 0x40000000
	stackAt = 0x80000000
)

// stack is memory from stackAt on, in words.
func stack(word int, values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		if word == 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		} else {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	return b
}

func world(arch *Arch, values []uint64, regs map[string]uint64) *Process {
	t := Thread{ID: 1, Stack: Piece{stackAt, stack(arch.Word, values...)}}
	for name, v := range regs {
		t.Registers.Set(arch.Register(name), v)
	}
	return &Process{Arch: arch, Modules: []Module{{Base: codeAt, Size: 0x10000}}, Threads: []Thread{t}, Memory: Pieces{t.Stack}}
}

func walked(t *testing.T, p *Process, s Source) string {
	t.Helper()
	all, err := Walk(context.Background(), p, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range all[0] {
		out = append(out, fmt.Sprintf("%s %#x @%#x sp %#x", f.Trust, f.PC, f.At, f.SP))
	}
	return strings.Join(out, "\n")
}

func TestWalk(t *testing.T) {
	windows := func(w Windows) string { return string((&Rules{Windows: &w}).Append(nil)) }
	const s, c = stackAt, codeAt
	for _, test := range []struct {
		name   string
		arch   *Arch
		system System
		regs   map[string]uint64
		stack  []uint64
		rules  map[uint64]string
		known  map[uint64]Known
		want   string
	}{
		{name: "x86-64 by rules, then by pointer, then by scan", arch: x86_64, regs: map[string]uint64{"rip": c + 0x100, "rsp": s, "rbp": s + 0x18},
			stack: []uint64{7, c + 0x201, 9, s + 0x30, c + 0x301, 0, c + 0x501, 1, 2},
			rules: map[uint64]string{0x100: ".cfa: $rsp 16 + .ra: .cfa -8 + ^"},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
cfi 0x40000201 @0x40000200 sp 0x80000010
fp 0x40000301 @0x40000300 sp 0x80000028
scan 0x40000501 @0x40000500 sp 0x80000038`},
		{name: "x86-64: a pointer that leads back is none", arch: x86_64, regs: map[string]uint64{"rip": c + 0x100, "rsp": s + 8, "rbp": s + 0x10},
			stack: []uint64{1, 2, s + 8, c + 0x301, 3},
			want: `context 0x40000100 @0x40000100 sp 0x80000008
scan 0x40000301 @0x40000300 sp 0x80000020`},
		{name: "x86-64: a record that leads nowhere is none", arch: x86_64, regs: map[string]uint64{"rip": c + 0x100, "rsp": s, "rbp": s + 0x10},
			stack: []uint64{c + 0x701, 2, 0, c + 0x301},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
scan 0x40000701 @0x40000700 sp 0x80000008
scan 0x40000301 @0x40000300 sp 0x80000020`},
		{name: "x86-64 of Windows: the pointer stands below the record", arch: x86_64, system: MSWindows, regs: map[string]uint64{"rip": c + 0x100, "rsp": s, "rbp": s + 0x10},
			stack: []uint64{0, 0, 3, 4, s + 0x30, c + 0x301, 0, 0},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
fp 0x40000301 @0x40000300 sp 0x80000030`},
		{name: "x86-64: rules that lead to the first page end the stack", arch: x86_64, regs: map[string]uint64{"rip": c + 0x100, "rsp": s, "rbp": 0},
			stack: []uint64{0, c + 0x301, 0}, rules: map[uint64]string{0x100: ".cfa: $rsp 8 + .ra: .cfa -8 + ^"},
			want: `context 0x40000100 @0x40000100 sp 0x80000000`},
		{name: "x86-64: the outermost function is not scanned", arch: x86_64, regs: map[string]uint64{"rip": c + 0x100, "rsp": s, "rbp": 0},
			stack: []uint64{c + 0x301, 0}, rules: map[uint64]string{0x100: ".cfa: $rsp 8 + .ra: .undef"},
			want: `context 0x40000100 @0x40000100 sp 0x80000000`},
		{name: "scan: a word without a function is passed over", arch: x86_64, regs: map[string]uint64{"rip": c + 0x100, "rsp": s, "rbp": 1},
			stack: []uint64{c + 0x201, c + 0x301, 5}, known: map[uint64]Known{0x300: Function},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
scan 0x40000301 @0x40000300 sp 0x80000010`},
		{name: "scan: it ends after 40 words behind a scan", arch: x86_64, regs: map[string]uint64{"rip": c + 0x100, "rsp": s},
			stack: append(append(make([]uint64, 150), c+0x201), append(make([]uint64, 40), c+0x301)...),
			want: `context 0x40000100 @0x40000100 sp 0x80000000
scan 0x40000201 @0x40000200 sp 0x800004b8`},
		{name: "x86 by rules and by pointer", arch: x86, regs: map[string]uint64{"eip": c + 0x100, "esp": s, "ebp": s + 8},
			stack: []uint64{c + 0x201, 9, s + 20, c + 0x301, 0, 0, c + 0x401},
			rules: map[uint64]string{0x100: ".cfa: $esp 4 + .ra: .cfa 4 - ^"},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
cfi 0x40000201 @0x40000200 sp 0x80000004
fp 0x40000301 @0x40000300 sp 0x80000010
fp 0x40000401 @0x40000400 sp 0x8000001c`},
		{name: "x86: frame data of Windows, with parameters of the callee", arch: x86, system: MSWindows, regs: map[string]uint64{"eip": c + 0x100, "esp": s, "ebp": s + 4},
			stack: []uint64{7, s + 0x40, c + 0x201, 1, 2, 3, c + 0x301, 5},
			rules: map[uint64]string{
				0x100: windows(Windows{Params: 4, Program: "$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + ="}),
				0x200: windows(Windows{Locals: 4, Saved: 4, Program: "$T0 .raSearch = $eip $T0 ^ =$esp $T0 4 + ="})},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
cfi 0x40000201 @0x40000200 sp 0x8000000c
cfi 0x40000301 @0x40000300 sp 0x8000001c`},
		{name: "x86: FPO, and an address that a system call left behind", arch: x86, system: MSWindows, regs: map[string]uint64{"eip": c + 0x100, "esp": s, "ebp": 77, "ebx": 5},
			stack: []uint64{c + 0x100, c + 0x201, 1, 99, c + 0x301, 0, 0},
			rules: map[uint64]string{0x100: windows(Windows{}), 0x200: windows(Windows{Saved: 8, UsesBase: true})},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
cfi 0x40000201 @0x40000200 sp 0x80000008
cfi 0x40000301 @0x40000300 sp 0x80000014`},
		{name: "arm64: a leaf by rules, signed records", arch: arm64, regs: map[string]uint64{"pc": c + 0x100, "sp": s, "x29": s + 0x10, "x30": 0x2a<<56 | c + 0x204},
			stack: []uint64{1, 2, 0x3b<<50 | s + 0x20, 0x1c<<48 | c + 0x304, 0, c + 0x404, 5, 6},
			rules: map[uint64]string{0x100: ".cfa: sp 0 + .ra: x30"},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
cfi 0x40000204 @0x40000200 sp 0x80000000
fp 0x40000304 @0x40000300 sp 0x80000020
fp 0x40000404 @0x40000400 sp 0x80000030`},
		{name: "arm64: rules that never advance", arch: arm64, regs: map[string]uint64{"pc": c + 0x100, "sp": s, "x30": c + 0x104},
			rules: map[uint64]string{0x100: ".cfa: sp 0 + .ra: x30 x30: x30"}, stack: []uint64{0},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
cfi 0x40000104 @0x40000100 sp 0x80000000`},
		{name: "arm64 by scan", arch: arm64, regs: map[string]uint64{"pc": c + 0x100, "sp": s}, stack: []uint64{1, 2, c + 0x204, 8},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
scan 0x40000204 @0x40000200 sp 0x80000018`},
		{name: "arm64: behind a pointer, the link register counts where the function begins only", arch: arm64, regs: map[string]uint64{"pc": c + 0x100, "sp": s, "x29": s},
			stack: []uint64{s + 0x20, c + 0x204, 0, 0, 0, c + 0x304, 0},
			rules: map[uint64]string{0x200: ".cfa: sp 0 + .ra: x30"},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
fp 0x40000204 @0x40000200 sp 0x80000010
cfi 0x40000304 @0x40000300 sp 0x80000010
fp 0x40000304 @0x40000300 sp 0x80000030`},
		{name: "arm: Thumb by rules, then by scan", arch: arm, regs: map[string]uint64{"pc": c + 0x100, "sp": s, "lr": c + 0x205},
			stack: []uint64{1, c + 0x305, 3},
			rules: map[uint64]string{0x100: ".cfa: sp 0 + .ra: lr"},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
cfi 0x40000205 @0x40000202 sp 0x80000000
scan 0x40000305 @0x40000302 sp 0x80000008`},
		{name: "arm of Apple: by r7", arch: arm, system: Apple, regs: map[string]uint64{"pc": c + 0x100, "sp": s, "r7": s + 8},
			stack: []uint64{1, 2, s + 16, c + 0x205, 0, c + 0x305},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
fp 0x40000205 @0x40000202 sp 0x80000010
fp 0x40000305 @0x40000302 sp 0x80000018`},
		{name: "riscv64: by pointer", arch: riscv64, regs: map[string]uint64{"pc": c + 0x100, "sp": s, "s0": s + 16},
			stack: []uint64{s + 32, c + 0x204, 0, c + 0x304, 0},
			want: `context 0x40000100 @0x40000100 sp 0x80000000
fp 0x40000204 @0x40000202 sp 0x80000010
fp 0x40000304 @0x40000302 sp 0x80000020`},
		{name: "no stack pointer", arch: x86_64, regs: map[string]uint64{"rip": c + 0x100}, stack: []uint64{c + 0x100},
			want: `context 0x40000100 @0x40000100 sp 0x0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := world(test.arch, test.stack, test.regs)
			p.System = test.system
			source := &toy{arch: test.arch, rules: map[Place]string{}, known: map[Place]Known{}, symbols: test.known != nil}
			for at, text := range test.rules {
				source.rules[Place{0, at}] = text
			}
			for at, k := range test.known {
				source.known[Place{0, at}] = k
			}
			if got := walked(t, p, source); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestLevels: all threads advance together, so a source is asked once a level.
func TestLevels(t *testing.T) {
	p := world(x86_64, nil, map[string]uint64{"rip": codeAt + 0x100, "rsp": stackAt})
	one := p.Threads[0]
	p.Threads = nil
	const threads, deep = 60, 20
	for i := range uint64(threads) {
		var words []uint64
		for range deep {
			words = append(words, codeAt+0x101)
		}
		t := one
		t.Stack = Piece{stackAt + i<<16, stack(8, append(words, 0)...)}
		t.Registers.Set(x86_64.SP, t.Stack.Start)
		p.Threads = append(p.Threads, t)
	}
	source := &toy{arch: x86_64, rules: map[Place]string{{0, 0x100}: ".cfa: $rsp 8 + .ra: .cfa -8 + ^"}}
	all, err := Walk(context.Background(), p, source)
	if err != nil || source.calls != deep+1 {
		t.Errorf("%d calls, %v", source.calls, err)
	}
	for _, frames := range all {
		if len(frames) != deep+1 {
			t.Errorf("%d frames", len(frames))
		}
	}
}

// TestHostile: memory that leads in circles ends a walk.
func TestHostile(t *testing.T) {
	for _, arch := range []*Arch{x86, x86_64, arm, arm64, riscv64} {
		for _, text := range []string{"", ".cfa: 0x80000000 .ra: 0x40000101", ".cfa: $SP .ra: 0x40000101", ".cfa: $SP 1 + .ra: 0x40000105"} {
			words := make([]uint64, 1<<12)
			for i := range words {
				words[i] = []uint64{stackAt, stackAt + 8, codeAt + 0x105, ^uint64(0)}[i%4]
			}
			p := world(arch, words, map[string]uint64{arch.Names[arch.PC]: codeAt + 0x100, arch.Names[arch.SP]: stackAt, arch.Names[arch.FP]: stackAt})
			source := &toy{arch: arch, rules: map[Place]string{}}
			for i := range uint64(0x200) {
				if text != "" {
					source.rules[Place{0, i}] = strings.ReplaceAll(text, "$SP", arch.Names[arch.SP])
				}
			}
			all, err := Walk(context.Background(), p, source)
			if err != nil || len(all[0]) > MaxFrames {
				t.Errorf("%s %q: %d frames, %v", arch.Name, text, len(all[0]), err)
			}
		}
	}
}

func TestPieces(t *testing.T) {
	m := Sorted([]Piece{{^uint64(0) - 1, []byte{1, 2, 3}}, {0x20, []byte{5, 6}}, {0x10, []byte{1, 2, 3, 4}}, {0x12, []byte{9}}, {0x30, nil}})
	if len(m) != 3 {
		t.Fatal(m)
	}
	for _, test := range []struct {
		at   uint64
		size int
		want uint64
		ok   bool
	}{{0x10, 4, 0x04030201, true}, {0x11, 4, 0, false}, {0x12, 2, 0x0403, true}, {0x20, 1, 5, true}, {0x22, 1, 0, false}, {0, 1, 0, false}, {0x10, 3, 0, false}} {
		if v, ok := m.Read(test.at, test.size); v != test.want || ok != test.ok {
			t.Errorf("%#x: %#x, %v", test.at, v, ok)
		}
	}
	if !slices.IsSortedFunc(m, func(a, b Piece) int { return int(a.Start) - int(b.Start) }) {
		t.Error(m)
	}
}
