package source

import (
	"bytes"
	"testing"
)

// FuzzSource: any source has a table. Its borders ascend, and each function has a name or is unknown.
func FuzzSource(f *testing.F) {
	for _, s := range []string{
		"class A<T> extends B { #x = () => 1; static { f() } get [a]() {} }\nexport default async (x?: number): Promise<void> => { y`a${b}c` }",
		"const C = <T,>(p: P) => <a b={() => {}}>it's {c}</a>\ntype F = (a: string) => void",
		"f(/re'/); a ? (b) : c => d; label: for (;;) {}\nenum E { A = 1 } declare module 'x' { }",
		"function f() { b c } function g() {}",
	} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, name uint8) {
		names := []string{"a.ts", "a.jsx", "a.vue", "a.astro"}
		table := New(names[int(name)%len(names)], []byte(text), 1<<10, true)
		if table == nil {
			return
		}
		hint := 0
		for i, b := range table.borders {
			if i > 0 && b.at <= table.borders[i-1].at {
				t.Fatalf("border %d at %#x, behind %#x", i, b.at, table.borders[i-1].at)
			}
			got := table.At(uint32(b.at>>32), uint32(b.at), &hint)
			if got != b.function || got != Unknown && len(table.Name(got)) == 0 && !bytes.Contains([]byte(text), []byte(`\`)) && !bytes.ContainsAny([]byte(text), `'"`) {
				t.Fatalf("border %d: function %d, want %d", i, got, b.function)
			}
		}
		for _, h := range table.heads {
			if f := table.HeadAt(uint32(h.at>>32), uint32(h.at)); f <= Outside || int(f) >= len(table.names) {
				t.Fatalf("a head of function %d of %d", f, len(table.names))
			}
		}
	})
}
