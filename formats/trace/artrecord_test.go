package trace_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/trace"
)

// Methods left in any order, entered or not, by names that the trace has or not, are as a plain stack has them.
func TestARTExits(t *testing.T) {
	d := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		a := artTrace{version: []uint16{1, 2, 3, 0xf2}[d.IntN(4)], clock: "wall", threads: map[uint16]string{1: "main"}, methods: map[uint32]string{}}
		methods, wild := 1+d.IntN(40), 1+d.IntN(30)
		for m := range methods / 2 {
			a.methods[uint32(4*(m+1))] = fmt.Sprintf("a.C\tm%d\t()V\tC.java", m)
		}
		name := func(m uint32) string {
			if a.methods[m] != "" {
				return fmt.Sprintf("a.C.m%d()", m/4-1)
			}
			return fmt.Sprintf("method %#x", m)
		}
		var open []int // of want
		var of []uint32
		var want []slice
		var report trace.Report
		now := uint32(0)
		pop := func(unclosed bool) {
			top := len(open) - 1
			want[open[top]].End, want[open[top]].Unclosed = int64(now)*1000, unclosed
			open, of = open[:top], of[:top]
		}
		for range 500 {
			now += uint32(d.IntN(3))
			m := uint32(4 * (1 + d.IntN(methods)))
			if len(open) == 0 && d.IntN(4) > 0 || d.IntN(2) == 0 {
				a.actions = append(a.actions, action{1, m, 0, 0, now})
				want = append(want, slice{Thread: "1", Name: name(m), Start: int64(now) * 1000, Depth: len(open)})
				open, of = append(open, len(want)-1), append(of, m)
				continue
			}
			if len(of) > 0 && d.IntN(wild) > 0 {
				m = of[len(of)-1]
			}
			a.actions = append(a.actions, action{1, m, 1 + uint32(d.IntN(2)), 0, now})
			if !slices.Contains(of, m) {
				report.Orphans++
				continue
			}
			for of[len(of)-1] != m {
				report.Lost++
				pop(true)
			}
			pop(false)
		}
		for len(open) > 0 {
			report.Unclosed++
			pop(true)
		}
		s, got, err := readText(t, a.bytes())
		if err != nil || got.Orphans != report.Orphans || got.Lost != report.Lost || got.Unclosed != report.Unclosed {
			t.Fatalf("%v: %+v, want %+v", err, got, report)
		}
		if diff := cmp.Diff(want, s.slices); diff != "" {
			t.Fatalf("version %#x: %s", a.version, diff)
		}
	}
}
