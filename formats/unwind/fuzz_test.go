package unwind

import (
	"context"
	"testing"
)

// fuzzed gives one coded set of rules for every other place.
type fuzzed struct{ rules string }

func (f fuzzed) Rules(_ context.Context, at []Place, out []Found) error {
	for i := range at {
		if at[i].Offset&2 == 0 {
			out[i] = Found{Rules: f.rules, Start: at[i].Offset}
		}
	}
	return nil
}

func (f fuzzed) Functions(_ context.Context, at []Place, out []Known) error {
	for i := range at {
		out[i] = Known(at[i].Offset % 3)
	}
	return nil
}

// FuzzWalk walks any stack by any rules: it ends, within its bounds, and no frame's stack pointer lies below its callee's.
func FuzzWalk(f *testing.F) {
	for i, arch := range []*Arch{x86, x86_64, arm, arm64, riscv64} {
		var r Rules
		r.CFA = Rule{How: Register, Reg: arch.SP, Offset: int64(arch.Word)}
		r.RA = Rule{How: Saved, Offset: -int64(arch.Word)}
		f.Add(uint8(i), uint8(i), string(r.Append(nil)), stack(arch.Word, codeAt+0x101, stackAt+16, codeAt+0x205, 0))
	}
	w := Rules{Windows: &Windows{Params: 4, Saved: 8, Program: "$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 8 @ .undef ="}}
	f.Add(uint8(0), uint8(1), string(w.Append(nil)), stack(4, 1, 2, codeAt+0x101, codeAt+0x105, 5))
	f.Fuzz(func(t *testing.T, which, system uint8, rules string, memory []byte) {
		if len(rules) > MaxBytes || len(memory) > 1<<12 {
			return
		}
		arch := []*Arch{x86, x86_64, arm, arm64, riscv64}[which%5]
		p := world(arch, nil, map[string]uint64{arch.Names[arch.PC]: codeAt + 0x100, arch.Names[arch.SP]: stackAt, arch.Names[arch.FP]: stackAt + 8})
		p.System = System(system % 3)
		p.Threads[0].Stack.Bytes = memory
		p.Memory = Sorted([]Piece{{stackAt, memory}})
		all, err := Walk(context.Background(), p, fuzzed{rules})
		if err != nil || len(all[0]) > MaxFrames {
			t.Fatalf("%d frames, %v", len(all[0]), err)
		}
		for i := 1; i < len(all[0]); i++ {
			if all[0][i].SP < all[0][i-1].SP {
				t.Fatalf("frame %d: %+v behind %+v", i, all[0][i], all[0][i-1])
			}
		}
	})
}
