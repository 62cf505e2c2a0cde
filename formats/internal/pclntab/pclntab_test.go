package pclntab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

var places = []native.Span{{Start: tableAt, End: tableAt + 1<<16}}

// explode prints the runs of all parts of a program.
func explode(t testing.TB, m *native.Memory, lim *formats.Limits) (string, symbol.Quality, error) {
	t.Helper()
	table, err := Find(context.Background(), m, places, nil)
	if err != nil || table == nil {
		return "", symbol.Quality{}, err
	}
	img := &native.Image{Base: 0x400000, Code: []native.Span{{Start: codeAt, End: codeAt + 0x60}}}
	var out strings.Builder
	var sum symbol.Quality
	for i := range table.Parts() {
		q, err := table.Explode(context.Background(), img, lim, i, func(r *symbol.Run) error {
			for k, g := range r.Ranges {
				if g.Start >= g.End || k > 0 && r.Ranges[k-1].End != g.Start {
					t.Fatalf("range %d of %v", k, r.Ranges)
				}
				fmt.Fprintf(&out, "%x %x", g.Start, g.End)
				for _, f := range r.Chain(k, nil) {
					fmt.Fprintf(&out, " %s %s:%d", f.Linkage, f.File, f.Line)
				}
				out.WriteByte('\n')
			}
			return nil
		})
		if err != nil {
			return "", q, err
		}
		sum.Add(q)
	}
	return out.String(), sum, nil
}

const usualText = `1000 1008 main.main a.go:10
1008 1010 main.main a.go:11
1010 1020 main.outer b.go:21 main.main a.go:11
1020 1030 main.inner[...] b.go:31 main.outer b.go:21 main.main a.go:11
1030 1040 main.main a.go:12
1040 105c main.leaf b.go:5
`

func defaults() *formats.Limits {
	lim := formats.Limits{}.WithDefaults()
	return &lim
}

// TestTables reads one program as each version of Go, on each sort of machine, lays it out.
func TestTables(t *testing.T) {
	for v := range magics {
		for _, size := range []int{4, 8} {
			for _, big := range []bool{false, true} {
				for _, moved := range []bool{false, true} {
					p := usual(version(v))
					p.size, p.big, p.moved, p.quantum = size, big, moved, 4
					p.funcs = p.funcs[:2]
					got, q, err := explode(t, p.memory(defaults()), defaults())
					if err != nil || got != usualText || q.Units != 2 || q.UnitsBroken != 0 {
						t.Errorf("version %d, %d bytes, big endian %v, moved %v: %v, %+v\n%s", v, size, big, moved, err, q, got)
					}
				}
			}
		}
	}
}

// TestWithoutModule reads programs without moduledata.
func TestWithoutModule(t *testing.T) {
	for v, want := range []string{
		go116: usualText,
		go118: strings.ReplaceAll(strings.ReplaceAll(usualText, "main.outer b.go:21 main.main a.go:11\n1020", "main.main b.go:21\n1020"), "main.inner[...] b.go:31 main.outer b.go:21 main.main a.go:11", "main.main b.go:31"),
	} {
		p := usual(version(v))
		p.lost = true
		p.funcs = p.funcs[:2]
		if got, _, err := explode(t, p.memory(defaults()), defaults()); err != nil || got != want {
			t.Errorf("version %d: %v\n%s", v, err, got)
		}
	}
}

// TestSearch finds a table that linkers merged into another section, behind bytes that look like one.
func TestSearch(t *testing.T) {
	for _, big := range []bool{false, true} {
		p := usual(go120)
		p.big = big
		m := p.memory(defaults())
		span := []native.Span{{Start: tableAt, End: tableAt + uint64(m.Blocks[0].In.Size)}}
		for _, junk := range []int{0, 16} {
			m.Blocks[0].Addr = tableAt - uint64(junk)
			b := append(append([]byte{}, m.Blocks[0].In.Mapped[:junk]...), m.Blocks[0].In.Mapped...)
			m.Blocks[0].In.Mapped, m.Blocks[0].In.Size = b, int64(len(b))
			span[0].Start = tableAt - uint64(junk)
			if table, err := Find(context.Background(), m, nil, span); err != nil || table == nil || table.addr != tableAt {
				t.Errorf("big endian %v, %d bytes before it: %v, %v", big, junk, table, err)
			}
		}
	}
}

// TestHidden finds nothing where there is nothing: such files are no fault.
func TestHidden(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"another magic number": func(b []byte) { b[0] = 0xa5 },
		"no functions":         func(b []byte) { clear(b[8:16]) },
		"too many functions":   func(b []byte) { b[11] = 1 },
		"tables out of order":  func(b []byte) { copy(b[32:40], b[40:48]) },
		"a table outside":      func(b []byte) { b[71] = 1 },
	} {
		m := usual(go120).memory(defaults())
		change(m.Blocks[0].In.Mapped)
		if table, err := Find(context.Background(), m, places, nil); err != nil || table != nil {
			t.Errorf("%s: %v, %v", name, table, err)
		}
	}
}

// TestHostile reads functions that contradict themselves.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *program)
		want   string // a part of the text
		broken uint32
	}{
		{"a function outside of the code", func(*program) {}, "main.leaf", 1},
		{"calls in a circle", func(p *program) {
			p.funcs[0].calls = []call{{parent: 1, name: "main.a", from: 0x20}, {parent: 0, name: "main.b", from: 0x10}}
		}, "main.a b.go:21 main.b ", 1},
		{"a call that is its own caller", func(p *program) {
			p.funcs[0].calls = []call{{parent: 0, name: "main.a", from: 0x10}}
		}, "main.a b.go:21 main.main ", 1},
		{"a call that is not there", func(p *program) { p.funcs[0].inlined = values{{0x40, 1 << 30}} }, "1020 1030 main.main b.go:31", 1},
		{"a call outside of its function", func(p *program) { p.funcs[0].calls[0].from, p.funcs[0].calls[0].parent = 0x1000, 7 }, "main.main", 1},
		{"functions backward", func(p *program) { p.funcs[0].entry = 0x50 }, "main.leaf", 2},
		{"a mark of the linker's", func(p *program) { p.funcs[1] = fn{entry: 0x40, name: "go:mark"} }, "1040 main.main a.go:12\n", 1},
		{"a file that is not there", func(p *program) { p.funcs[1].file = values{{0x1c, 1 << 20}} }, "main.leaf :5", 1},
	} {
		for v := range magics {
			p := usual(version(v))
			c.change(p)
			got, q, err := explode(t, p.memory(defaults()), defaults())
			if err != nil || q.UnitsBroken != c.broken || !strings.Contains(got, c.want) || strings.Contains(got, "go:mark") {
				t.Errorf("%s, version %d: %v, %d broken\n%s", c.name, v, err, q.UnitsBroken, got)
			}
		}
	}
}

// TestLimits cuts chains and runs that are too long.
func TestLimits(t *testing.T) {
	lim := *defaults()
	lim.InlineDepth, lim.RunRanges = 2, 2
	got, _, err := explode(t, usual(go120).memory(&lim), &lim)
	if want := "1020 1030 main.outer b.go:31 main.main a.go:11\n"; err != nil || !strings.Contains(got, want) {
		t.Errorf("%v\n%s", err, got)
	}
}

// Values that all functions share are read so often and no more.
func TestShared(t *testing.T) {
	p := &program{version: go120, size: 8, quantum: 1, end: 0x60, files: []string{"a.go"}}
	var long values
	for i := range 60 {
		long = append(long, step{uint64(i + 1), int32(i)})
	}
	p.funcs = []fn{{name: "main.a", line: long}}
	m := p.memory(defaults())
	table, err := Find(context.Background(), m, places, nil)
	if err != nil || table == nil {
		t.Fatal(table, err)
	}
	x := part{t: table, left: 10}
	x.f.size = 0x60
	if _, err := x.steps(1, nil); !errors.Is(err, formats.ErrLimit) {
		t.Errorf("error %v", err)
	}
}

// Errors of the caller come back.
func TestErrors(t *testing.T) {
	table, err := Find(context.Background(), usual(go120).memory(defaults()), places, nil)
	if err != nil {
		t.Fatal(err)
	}
	img := &native.Image{Base: 0x400000, Code: []native.Span{{Start: codeAt, End: codeAt + 0x60}}}
	stop := errors.New("stop")
	if _, err := table.Explode(context.Background(), img, defaults(), 0, func(*symbol.Run) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := table.Explode(ctx, img, defaults(), 0, func(*symbol.Run) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := table.Explode(context.Background(), img, defaults(), 1, nil); err == nil {
		t.Error("no error of a part that is not there")
	}
}

func FuzzTable(f *testing.F) {
	for v := range magics {
		for _, size := range []int{4, 8} {
			p := usual(version(v))
			p.size, p.big = size, size == 4
			m := p.memory(defaults())
			f.Add(m.Blocks[0].In.Mapped, m.Blocks[1].In.Mapped, m.Blocks[2].In.Mapped, p.big, size == 8)
		}
	}
	lim := formats.Limits{NameBytes: 4 << 10, RunRanges: 1 << 10, InlineDepth: 16}.WithDefaults()
	f.Fuzz(func(t *testing.T, table, trees, data []byte, big, wide bool) {
		m := &native.Memory{Order: native.ByteOrder(big), AddrSize: 4}
		if wide {
			m.AddrSize = 8
		}
		for i, b := range [][]byte{table, trees, data} {
			addr := []uint64{tableAt, treesAt, dataAt}[i]
			m.Blocks = append(m.Blocks, native.Block{Addr: addr, Written: i == 2, In: &formats.Input{Size: int64(len(b)), Limits: &lim, Mapped: b}})
		}
		m.Sort()
		if _, _, err := explode(t, m, &lim); err != nil && !formats.Rejects(err) {
			t.Fatal(err)
		}
	})
}
