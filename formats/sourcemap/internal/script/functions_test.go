package script

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
)

// Each kind of function is found where it stands, and named as Metro names it.
func TestFunctions(t *testing.T) {
	const script = "function a(b){return b(c=>c?d:e,1)}\n" +
		"var f=x=>y=>x+y;\n" +
		"class K extends L{static s=()=>1;#p(){return/[)}]/g}get q(){return`${(()=>2)()}`}constructor(){super()}static{z()}}\n" +
		"const o={m(){},n:function(){},async*[g](){},'k':()=>({}),r:{t(){}}};\n" +
		"a.b.c=async function(){await 1};(function(){})();new P(()=>3)\n" +
		"let u=v=>w\nh(u)"
	all := Functions([]byte(script), 1000)
	if all == nil {
		t.Fatal("not parsed")
	}
	got := map[string]string{}
	for i := range all.Placed {
		f := &all.Placed[i]
		name := ""
		for k := f.From; k < f.To; k++ {
			name += string(all.TextOf(k))
		}
		got[name] += script[f.Start:f.End] + "|"
	}
	for name, want := range map[string]string{
		"a": "(b){return b(c=>c?d:e,1)}|", "b$argument_0": "c=>c?d:e|", "f": "x=>y=>x+y|", "K.s": "()=>1|", "K##p": "(){return/[)}]/g}|", "K#get__q": "(){return`${(()=>2)()}`}|",
		"K#constructor": "(){super()}|", "o.m": "(){}|", "o.n": "(){}|", "o.k": "()=>({})|", "o.r.t": "(){}|", "a.b.c": "(){await 1}|", "P$argument_0": "()=>3|", "u": "v=>w|",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}

func BenchmarkFunctionsOf(b *testing.B) {
	path := os.Getenv("SYMLAKE_SCRIPT")
	if path == "" {
		b.Skip("SYMLAKE_SCRIPT names no script")
	}
	script, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(script)))
	for b.Loop() {
		if Functions(script, 1<<30) == nil {
			b.Fatal("not parsed")
		}
	}
}

// FuzzScript: a script gives functions or none; their extents lie in it.
func FuzzScript(f *testing.F) {
	f.Add("function a(b){return b(c=>c?d:e,1)}var f=x=>y=>x+y;class K{#p(){return/[)}]/g}get q(){return`${(()=>2)()}`}}")
	f.Add("a.b=async function*(){};({m(){},n:1})\nlet u=v=>w\nh(u)")
	f.Add("function a(b){" + strings.Repeat("c/d;", leastBody/4) + "e.f=async(...g)=>{for await(h of`${/[}]/}`);" + strings.Repeat("i();", leastBody/4) + "}}")
	f.Fuzz(func(t *testing.T, script string) {
		var all *List
		err := formats.Guard("script", func() error {
			all = Functions([]byte(script), 1<<16)
			return nil
		})
		if err != nil || all == nil {
			return // the library's panic costs the names
		}
		for _, g := range all.Placed {
			if g.Start < 0 || int(g.End) > len(script) || g.End != 0 && g.End < g.Start {
				t.Fatalf("[%d, %d) of %d", g.Start, g.End, len(script))
			}
		}
		whole, pieces := functionsOfWhole([]byte(script), 1<<16), functionsInPieces([]byte(script), 1, 1<<16)
		if whole == nil || pieces == nil {
			return
		}
		whole.sort()
		pieces.sort()
		extents := func(l *List) (list []extent) {
			for _, f := range l.Placed {
				list = append(list, extent{int(f.Start), int(f.End)})
			}
			return list
		}
		if w, p := extents(whole), extents(pieces); !slices.Equal(w, p) {
			t.Fatalf("%v as a whole, %v in pieces", w, p)
		}
	})
}
