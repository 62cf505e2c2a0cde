package script

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// samePieces checks that a script parsed in the smallest pieces gives the functions that it gives as a whole.
func samePieces(t *testing.T, script []byte) {
	t.Helper()
	whole, pieces := functionsOfWhole(script, 1<<20), functionsInPieces(script, 1, 1<<20)
	if whole == nil || pieces == nil {
		t.Fatalf("%.60s: parsed as a whole: %v, in pieces: %v", script, whole != nil, pieces != nil)
	}
	whole.sort()
	pieces.sort()
	if len(whole.Placed) != len(pieces.Placed) {
		t.Fatalf("%d functions as a whole, %d in pieces", len(whole.Placed), len(pieces.Placed))
	}
	for i := range whole.Placed {
		w, p := &whole.Placed[i], &pieces.Placed[i]
		if w.Start != p.Start || w.End != p.End {
			t.Fatalf("function %d: [%d, %d) as a whole, [%d, %d) in pieces", i, w.Start, w.End, p.Start, p.End)
		}
		if got, want := nameAt(script, pieces, p), nameAt(script, whole, w); got != want {
			t.Errorf("%s: %s as a whole, %s in pieces", script[w.Start:min(w.End, w.Start+40)], want, got)
		}
	}
}

// nameAt is a function's name, with the offset of each identifier.
func nameAt(script []byte, l *List, f *Placed) string {
	var b strings.Builder
	for i := f.From; i < f.To; i++ {
		b.Write(l.TextOf(i))
		if at := l.Parts[i].At; at >= 0 {
			b.WriteString("@" + string(script[at:wordEnd(script, int(at))]) + "@")
			for n := at; n > 0; n /= 10 {
				b.WriteByte(byte('0' + n%10))
			}
		}
	}
	return b.String()
}

// Functions are the same ones, with names that come from the same identifiers, however the script is cut.
func TestPieces(t *testing.T) {
	long := strings.Repeat("x();", leastBody/4)
	for _, script := range []string{
		// Identifiers that a piece does not declare: of the code around it, before and behind it, in blocks, of no code.
		"function outer(p){let q;function a(){p.b=function(){" + long + "q.c=function(){" + long + "}}}var late;function d(){late.e=()=>{" + long + "}}K.f=()=>{" + long + "}}class K{m(){" + long + "}}",
		"function a(){{let e;f(()=>{e.g=function(){" + long + "};" + long + "})}{let e;f(()=>{e.g=function(){" + long + "};" + long + "})}try{}catch(h){(()=>{h.i=()=>{" + long + "};" + long + "})()}}",
		"function a(e){" + long + "for(var e=0;;)e.b=function(){" + long + "}}var c=d=>{d.e=()=>{" + long + "};" + long + "};c((f=>{" + long + "f.g=(h,f)=>{" + long + "f.i=h=>{" + long + "}}}))",
		"function a({b,c:[d]},e=()=>{" + long + "},...f){b.x=d.y=e.z=f.w=function(){" + long + "}}",
		// Each kind of function.
		"async function*a(){await b;yield c;" + long + "}var d=async()=>{for await(e of f){" + long + "}},g={async h(){await i;" + long + "},*j(){yield/k/;" + long + "},get l(){return await1;" + long + "}}",
		"class A extends b(c){static d=e=>{" + long + "};#f(){" + long + "}static{g(()=>{" + long + "})}static async*[h](){yield await i;" + long + "}if(){" + long + "}class(){" + long + "}}",
		// Brackets that are none, and slashes.
		"function a(){if(b)/[}/]\\/}/.c(d);e=f/g/h;i=j++/k;l=[]/m;n=(o)/p;return/}/.test(q)}" + "function r(){'}';\"}\\\"\";`}${s({t:`${u=>{" + long + "}}}`})}`;v=1./w;" + long + "}",
		"function a(){/*}*/" + long + "//}\n}b={c:{}/d,e:function(){" + long + "}};if(f){}/}/.g();h=x?{}/1:{};[...i/1]",
		"a.return/b;c.class={class:1,d(){" + long + "}};e?.if(f);for(g of[])h(()=>{" + long + "});do{}while(i)/j/.k()",
		"#!/usr/bin/node }\n'use strict';function a(){" + long + "}\n<!-- }\nb(function(){" + long + "})",
	} {
		samePieces(t, []byte(script))
	}
	samePieces(t, readScript(t, filepath.Join(formattest.Fixture(t, "web-live"), "app.min.js")))
	samePieces(t, readScript(t, filepath.Join(formattest.Fixture(t, "rn-live"), "app.js.gz")))
}

// readScript reads a file, compressed or not.
func readScript(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil && filepath.Ext(path) == ".gz" {
		var r io.Reader
		if r, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			b, err = io.ReadAll(r)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A script of many functions, side by side or deep in each other, is parsed in pieces that are small beside it.
func TestPiecesAreSmall(t *testing.T) {
	flat := "!function(){" + strings.Repeat("function f(a){if(a){return a.b(function(){return a.c(1,2,3,4,5,6,7)})}}\n", 1<<15) + "}()"
	deep := strings.Repeat("!function(){"+strings.Repeat("abcdefg();", 1<<10), 200) + strings.Repeat("}()", 200)
	for _, script := range []string{flat, deep} {
		largest := 0
		_, err := cut([]byte(script), pieceBytes, func(p *piece) ([]int, error) {
			largest = max(largest, len(p.text))
			return nil, nil
		})
		if err != nil || largest > len(script)/3 {
			t.Errorf("%.30s: %d of %d bytes at once, %v", script, largest, len(script), err)
		}
	}
}
