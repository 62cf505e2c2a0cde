package mapfile

import (
	"testing"

	"github.com/symlake/symlake/formats"
)

func FuzzFunctionMap(f *testing.F) {
	f.Add("AAA;ACA,CDA")
	f.Add("AAA,gggggggC")
	f.Fuzz(func(t *testing.T, mappings string) {
		var m FunctionMap
		n := numbers{b: mappings, section: "x"}
		lim := formats.Limits{}.WithDefaults()
		if err := m.decode(&n, []uint32{1, 2, 3}, &lim); err != nil {
			if !formats.Rejects(err) {
				t.Fatal(err)
			}
			return
		}
		hint := 0
		for i, p := range m.places {
			if got := m.At(p.line, p.column, &hint); got < 1 || got > 3 {
				t.Fatalf("place %d is in %d", i, got)
			}
		}
	})
}

func FuzzScopes(f *testing.F) {
	f.Add("BHAAAE,BFCABC,CAB,CAB,EGAA,EDCB,IAAA,FE,FC")
	f.Add("A,BAAA,CAA,EAA,FA")
	f.Fuzz(func(t *testing.T, items string) {
		r := scopeReader{numbers: numbers{b: items, section: "scopes"}, most: 1 << 12, depth: 64,
			names:  func(i int64) (uint32, bool) { return uint32(i) + 1, i >= 0 && i < 9 },
			source: func(i uint64) (uint32, bool) { return uint32(i), i < 3 }}
		if err := r.read(1); err != nil {
			if !formats.Rejects(err) {
				t.Fatal(err)
			}
			return
		}
		for i, n := range r.nodes {
			if n.Parent >= int32(i)+1 {
				t.Fatalf("node %d below %d", i+1, n.Parent)
			}
		}
		for i := 1; i < len(r.borders); i++ {
			if r.borders[i].At <= r.borders[i-1].At {
				t.Fatalf("border %#x after %#x", r.borders[i].At, r.borders[i-1].At)
			}
		}
	})
}
