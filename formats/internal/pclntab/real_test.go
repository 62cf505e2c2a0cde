package pclntab_test

import (
	"context"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/elffile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pclntab"
	"github.com/symlake/symlake/formats/symbol"
)

// printed is a function's name as the runtime prints it: without the types of a generic function.
func printed(name string) string {
	from, to := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if from < 0 || to < from {
		return name
	}
	return name[:from] + "[...]" + name[to+1:]
}

// TestRuntime holds the answers for this very program against the runtime's own: the innermost frame of 10,000 places.
func TestRuntime(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in := formattest.Input(t, path)
	head, err := in.View(0, 4)
	if err != nil || string(head) != "\x7fELF" {
		t.Skip("the program is no ELF file")
	}
	file, err := elffile.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mem, err := file.Loaded(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	own, merged := file.GoTables()
	table, err := pclntab.Find(context.Background(), mem, own, merged)
	if err != nil || table == nil {
		t.Fatalf("%v, %v", table, err)
	}
	code, err := file.Code()
	if err != nil {
		t.Fatal(err)
	}

	slide := int64(0)
	type answer struct {
		start, end uint64
		frame      symbol.Frame
	}
	var all []answer
	img := &native.Image{Code: code}
	lim := formats.Limits{}.WithDefaults()
	for i := range table.Parts() {
		q, err := table.Explode(context.Background(), img, &lim, i, func(r *symbol.Run) error {
			var chain []symbol.Frame
			for k, g := range r.Ranges {
				chain = r.Chain(k, chain[:0])
				f := chain[0]
				all = append(all, answer{g.Start, g.End, f})
				if outer := chain[len(chain)-1].Linkage; k == 0 && outer == "github.com/symlake/symlake/formats/internal/pclntab_test.TestRuntime" {
					slide = int64(reflect.ValueOf(TestRuntime).Pointer()) - int64(g.Start)
				}
			}
			return nil
		})
		if err != nil || q.UnitsBroken > 0 {
			t.Fatalf("part %d: %+v, %v", i, q, err)
		}
	}
	const n = 10000
	rng := rand.New(rand.NewPCG(1, 2))
	bad := 0
	for range n {
		a := all[rng.IntN(len(all))]
		if a.end-a.start < 2 { // behind the last byte of a function the runtime sees the next one
			continue
		}
		at := a.start + rng.Uint64N(a.end-a.start-1)
		want, _ := runtime.CallersFrames([]uintptr{uintptr(int64(at)+slide) + 1}).Next()
		if want.Function == printed(a.frame.Linkage) && want.File == a.frame.File && want.Line == int(a.frame.Line) || want.File == "?" && a.frame.File == "" && a.frame.Line == 0 {
			continue
		}
		if bad++; bad <= 10 {
			t.Errorf("%#x: %s %s:%d, want %s %s:%d", at, a.frame.Linkage, a.frame.File, a.frame.Line, want.Function, want.File, want.Line)
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d places differ", bad, n)
	}
}
