package unwind

import (
	"encoding/binary"
	"testing"
)

// memory is a stack that begins at an address.
func memory(at uint64, words ...uint64) Read {
	return func(addr uint64, size int) (uint64, bool) {
		i := (addr - at) / 8
		if addr < at || i >= uint64(len(words)) || (addr-at)%8 != 0 || size > 8 {
			return 0, false
		}
		b := binary.LittleEndian.AppendUint64(nil, words[i])
		return binary.LittleEndian.Uint64(append(b[:size:size], make([]byte, 8-size)...)), true
	}
}

// Rules survive their coded form and their text.
func TestForms(t *testing.T) {
	for _, text := range []string{
		".cfa: $rsp 8 + .ra: .cfa -8 + ^",
		".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbx: .cfa -40 + ^ $rbp: .cfa -16 + ^ $rsp: .cfa 0 +",
		".cfa: $rsp 8 + .ra: .undef",
		".cfa: $rbp ^ 16 + -16 & .ra: $rbp 8 + ^ $rax: $rbx $rcx <",
	} {
		var r Rules
		if err := r.Merge(x86_64, text); err != nil {
			t.Fatal(err)
		}
		coded := string(r.Append(nil))
		back, err := Decode(coded)
		if err != nil || back != r {
			t.Errorf("%s: %x gives %+v, %v", text, coded, back, err)
		}
		var again Rules
		if err := again.Merge(x86_64, back.Text(x86_64)); err != nil || string(again.Append(nil)) != coded {
			t.Errorf("%s came back as %s: %v", text, back.Text(x86_64), err)
		}
	}
}

func TestStep(t *testing.T) {
	var r Rules
	if err := r.Merge(x86_64, ".cfa: $rsp 24 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^ $r12: $rbp $r13 +"); err != nil {
		t.Fatal(err)
	}
	var callee Registers
	callee.Set(x86_64.SP, 0x1000)
	callee.Set(x86_64.FP, 0x30)
	callee.Set(13, 0x12)
	callee.Set(0, 1) // rax: lost in the caller
	caller, _, ok := r.Step(x86_64, &callee, memory(0x1000, 1, 0x2000, 0x4711))
	want := map[uint8]uint64{x86_64.PC: 0x4711, x86_64.SP: 0x1018, x86_64.FP: 0x2000, 12: 0x42, 13: 0x12}
	for n := range uint8(MaxRegisters) {
		v, known := caller.Get(n)
		if w, wanted := want[n]; known != wanted || v != w {
			t.Errorf("register %d is %#x, %v, want %#x, %v", n, v, known, w, wanted)
		}
	}
	if !ok {
		t.Error("no step")
	}
	if _, _, ok := r.Step(x86_64, &callee, memory(0x1000, 1)); ok {
		t.Error("a step without memory")
	}
}

// Text and coded rules that are none are errors.
func TestRefused(t *testing.T) {
	var r Rules
	for _, text := range []string{"rsp", ".cfa:", "$nix: 1", ".cfa: $nix 8 +", ".ra: foo"} {
		if err := r.Merge(x86_64, text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	for _, coded := range []string{"\x03", "\x01\x40", "\x01\x40\x09", "\x01\x50\x01", "\x01\x40\x07\x7f"} {
		if _, err := Decode(coded); err == nil {
			t.Errorf("%x is taken", coded)
		}
	}
}

// No coded rules make a step go wrong.
func FuzzRules(f *testing.F) {
	var r Rules
	if err := r.Merge(x86_64, ".cfa: $rbp ^ 16 + -16 & .ra: $rbp 8 + ^ $rbx: .cfa -40 + ^"); err != nil {
		f.Fatal(err)
	}
	f.Add(string(r.Append(nil)))
	f.Add(string((&Rules{Windows: &Windows{Params: 8, Program: "$T0 $ebp ="}}).Append(nil)))
	f.Fuzz(func(t *testing.T, coded string) {
		r, err := Decode(coded)
		if err != nil {
			return
		}
		if again, err := Decode(string(r.Append(nil))); err != nil || again.Windows == nil && again != r {
			t.Fatalf("%+v came back as %+v, %v", r, again, err)
		}
		var callee Registers
		callee.Set(x86_64.SP, 0x1000)
		r.Step(x86_64, &callee, memory(0x1000, 1, 2, 3))
		r.Text(x86_64)
	})
}
