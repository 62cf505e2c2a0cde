package sourcemap

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// withScript is a map with the script that it belongs to beside it.
func withScript(text, script []byte, file string) *formats.Input {
	in := formattest.InputOf(file+".map", text, formats.Limits{})
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		if want.Name != file {
			return nil, formats.ErrNoCompanion
		}
		return formattest.InputOf(file, script, formats.Limits{}), nil
	}
	return in
}

// Names from the minified bundle are those of Metro's function map, which is made from the sources,
// but where Babel rewrote what Metro saw (an eighth of the positions): classes became functions of assigned properties, modules got
// wrappers that pass __d a function, and exports lost their names without the map saying so.
func TestNamesFromBundle(t *testing.T) {
	dir := formattest.Fixture(t, "rn-live")
	in := inputOf(t, filepath.Join(dir, "app.map.gz"))
	script := inputOf(t, filepath.Join(dir, "app.js.gz"))
	want := mustExplode(t, in)
	got := mustExplode(t, withScript(without(t, in.Mapped, "x_facebook_sources"), script.Mapped, "app.js"))
	same, plain := 0, 0
	for _, g := range want.ranges {
		f := got.at(g.Start)
		if len(f) == 0 || f[0].Linkage == "" {
			t.Fatalf("%#x: no function", g.Start)
		}
		if strings.Contains(f[0].File, "react-test-renderer") { // as it was published: Babel left it alone
			plain++
			if f[0].Linkage == g.frames[0].Linkage {
				same++
			}
		}
	}
	if t.Logf("%d of %d the same", same, plain); plain < 10000 || same*100 < plain*85 {
		t.Errorf("%d of %d have Metro's name", same, plain)
	}
}

// without is a JSON object without a member.
func without(t *testing.T, text []byte, key string) []byte {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, key)
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What a script that is no script costs is the names alone.
func TestBrokenScript(t *testing.T) {
	text := []byte(`{"version":3,"sources":["a.ts"],"names":["add"],"mappings":"AAAA,SAASA"}`)
	for _, script := range []string{"function a(){", "\x00\x01", "", "}}}}", "a`${", string(bytes.Repeat([]byte("(["), 1<<16)), string(bytes.Repeat([]byte("function(){"), 1<<14))} {
		x := mustExplode(t, withScript(text, []byte(script), "app.js"))
		if f := x.place(0, 9); len(f) != 1 || f[0].Linkage != "" || f[0].Name != "add" {
			t.Errorf("%.20q: %v", script, f)
		}
	}
}

// A small script that keeps the parser busy for minutes, with gigabytes, is not parsed.
func TestCostlyScript(t *testing.T) {
	var names strings.Builder
	for i := 0; names.Len() < 1<<20; i++ {
		fmt.Fprintf(&names, "b%d;", i)
	}
	list := "(" + strings.ReplaceAll(strings.TrimSuffix(names.String(), ";"), ";", "+") + ")"
	for _, script := range []string{
		strings.Repeat("{", 900) + names.String() + strings.Repeat("}", 900),
		strings.Repeat("()=>{", 450) + names.String() + strings.Repeat("}", 450),
		"a=" + strings.Repeat("()=>", 450) + list,
		"a=" + strings.Repeat("(", 450) + list + strings.Repeat(")", 450),
		"a={'" + strings.Repeat("b", 1<<10) + "':{" + strings.Repeat("c(){},", 1<<17) + "}}", // names longer than the script
	} {
		if start := cpu(t); functionsOf([]byte(script), 1<<20) != nil || cpu(t)-start > 3*time.Second {
			t.Errorf("%.20q: %v", script, cpu(t)-start)
		}
	}
	// Many functions side by side, and few deep ones, are of no consequence.
	for _, script := range []string{strings.Repeat("f(a=>b=>c,function(){return d});", 1<<14), strings.Repeat("function f(){", 400) + strings.Repeat("}", 400)} {
		if functionsOf([]byte(script), 1<<20) == nil {
			t.Errorf("%.20q: not parsed", script)
		}
	}
}

// cpu is what this process has used: other load on the machine does not count.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Each kind of function is found where it stands, and named as Metro names it.
func TestFunctions(t *testing.T) {
	const script = "function a(b){return b(c=>c?d:e,1)}\n" +
		"var f=x=>y=>x+y;\n" +
		"class K extends L{static s=()=>1;#p(){return/[)}]/g}get q(){return`${(()=>2)()}`}constructor(){super()}static{z()}}\n" +
		"const o={m(){},n:function(){},async*[g](){},'k':()=>({}),r:{t(){}}};\n" +
		"a.b.c=async function(){await 1};(function(){})();new P(()=>3)\n" +
		"let u=v=>w\nh(u)"
	all := functionsOf([]byte(script), 1000)
	if all == nil {
		t.Fatal("not parsed")
	}
	got := map[string]string{}
	for i := range all.list {
		f := &all.list[i]
		name := ""
		for k := f.from; k < f.to; k++ {
			name += string(all.textOf(k))
		}
		got[name] += script[f.start:f.end] + "|"
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
		if functionsOf(script, 1<<30) == nil {
			b.Fatal("not parsed")
		}
	}
}
