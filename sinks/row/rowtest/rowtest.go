// Package rowtest makes content for tests of stored forms.
package rowtest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// Synthetic makes functions like a big C++ program's: long names that
// share namespaces, a few hundred inlined helpers that recur everywhere, each
// walking through the same lines.
func Synthetic(functions, rangesEach int) (strs []string, runs []*symbol.Run) {
	rnd := rand.New(rand.NewPCG(7, 7))
	index := map[string]uint32{"": 0}
	strs = []string{""}
	id := func(s string) uint32 {
		i, ok := index[s]
		if !ok {
			i = uint32(len(strs))
			index[s], strs = i, append(strs, s)
		}
		return i
	}
	type helper struct {
		function, file uint32
		lines          []uint32
	}
	var helpers []helper
	for i := range 600 {
		h := helper{
			function: id(fmt.Sprintf("_ZNSt%d_Rb_tree_implIN4ceph6buffer15v14_2_0%d4listESt4pairIKS%d_S3_ESt10_Select1stIS%d_E%sE", i%37, i%11, i, i%5, strings.Repeat("St4lessIS3_E", 1+i%8))),
			file:     id(fmt.Sprintf("/usr/include/c++/10/bits/stl_%d.h", i%60)),
		}
		for j := range 4 + i%9 {
			h.lines = append(h.lines, uint32(100+i*3+j))
		}
		helpers = append(helpers, h)
	}
	at := uint64(0x1000)
	for f := range functions {
		r := &symbol.Run{Rank: symbol.RankDWARF}
		file := id(fmt.Sprintf("/build/ceph-16.2.15/src/osd/Module%d.cc", f/12))
		r.Scopes = append(r.Scopes, symbol.Scope{Parent: -1, Function: id(fmt.Sprintf("_ZN4ceph3osd6Module%d7handle_%dERKNS_6bufferE%s", f/12, f, strings.Repeat("RKSs", f%7)))})
		line := uint32(50 + f%12*80)
		for n := 0; n < rangesEach; {
			// A stretch of the function itself, then a chain of helpers.
			scope := int32(0)
			emit := func(s int32, at2 symbol.Site) {
				end := at + 1 + uint64(rnd.IntN(14))
				r.Ranges = append(r.Ranges, symbol.Range{Start: at, End: end, Scope: s, At: at2})
				at = end
				n++
			}
			line += uint32(rnd.IntN(3))
			emit(0, symbol.Site{File: file, Line: line, Column: uint32(3 + rnd.IntN(20))})
			call := symbol.Site{File: file, Line: line, Column: 9}
			k := rnd.IntN(len(helpers))
			for range 1 + rnd.IntN(5) {
				h := helpers[k]
				r.Scopes = append(r.Scopes, symbol.Scope{Parent: scope, Function: h.function, Call: call})
				scope = int32(len(r.Scopes) - 1)
				for j := range 1 + rnd.IntN(3) {
					emit(scope, symbol.Site{File: h.file, Line: h.lines[j], Column: uint32(7 + j)})
				}
				call = symbol.Site{File: h.file, Line: h.lines[0], Column: 11}
				k = (k*7 + 1) % len(helpers)
			}
		}
		runs = append(runs, r)
		at = (at + 15) &^ 15
	}
	for _, r := range runs {
		r.Strings = strs
	}
	return strs, runs
}

// Classes makes n classes that use all that a class can hold, and the facts of a mapping.
func Classes(r *rand.Rand, n int) []*symbol.Class {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	lines := func() symbol.Lines {
		l := symbol.Lines{Count: uint8(r.IntN(3))}
		if l.Count > 0 {
			l.First = uint32(r.IntN(1 << r.IntN(32)))
			l.Last = l.First
		}
		if l.Count > 1 {
			l.Last = uint32(int(l.First) + r.IntN(5) - min(2, int(l.First)))
		}
		return l
	}
	all := []*symbol.Class{{Facts: &symbol.Facts{Version: "2.2", Packages: []string{"", "a", "b.c"}}}}
	for i := range n {
		c := &symbol.Class{Name: fmt.Sprintf("n%d", i), Original: pick("x.Y", "x.Y$1", "Z", "", "x.$A", "kotlin.TextKt") + pick("", fmt.Sprint(i)), Synthesized: r.IntN(9) == 0}
		c.File = pick("", "Y.java", "Y.kt", "Text.kt", "Z.java", "\xff.kt", ".java", "SourceFile")
		for range r.IntN(1 << r.IntN(7)) {
			m := symbol.Member{Name: pick("a", "b", "c", "z", "<init>", "ab", "\xf0", ""), Method: &symbol.Method{Class: pick("", "", "o.P", "o.Q$R", c.Original+"x"), Original: pick("run", "<init>", "a", "m"+fmt.Sprint(r.IntN(9))), Type: pick("void", "int[]", "")}, Lines: lines(), From: lines()}
			if m.Field = r.IntN(5) == 0; !m.Field {
				m.Params = pick("", "int", "int,x.Y", ",,", strings.Repeat("long,", r.IntN(20)))
			}
			for range r.IntN(5) * r.IntN(2) {
				rule := symbol.Rule{Kind: symbol.RuleKind(1 + r.IntN(5)), Undeclared: r.IntN(2) == 0, Text: pick("", "La;", "(I)V")}
				if rule.Kind == symbol.RewriteFrame {
					rule.Conditions, rule.Actions = []string{"throws(La;)"}, []string{"removeInnerFrames(1)", "x"}
				}
				if rule.Kind == symbol.OutlineCallsite {
					rule.Positions = []symbol.OutlinePosition{{Outline: 1, Line: uint32(r.IntN(1 << 20))}, {Outline: 1<<32 - 1, Line: 0}}
				}
				m.Rules = append(m.Rules, rule)
			}
			c.Members = append(c.Members, m)
		}
		slices.SortStableFunc(c.Members, func(a, b symbol.Member) int { return cmp.Compare(a.Name, b.Name) })
		seen := map[string]bool{"": true}
		for _, m := range c.Members {
			if f := pick("", "P.kt", "Q.java", "other"); f != "" && !seen[m.Class] {
				c.Files = append(c.Files, symbol.ClassFile{Class: m.Class, File: f})
			}
			seen[m.Class] = true
		}
		slices.SortFunc(c.Files, func(a, b symbol.ClassFile) int { return strings.Compare(a.Class, b.Class) })
		all = append(all, c)
	}
	return all
}

// Example returns the hexadecimal digits that the package doc of sinks/row shows, one line behind the
// other, without its remarks.
func Example() (string, error) {
	doc, err := os.ReadFile(formattest.Root() + "/sinks/row/doc.go")
	var digits strings.Builder
	for line := range strings.Lines(string(doc)) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "//"), "  ; ")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	return digits.String(), err
}
