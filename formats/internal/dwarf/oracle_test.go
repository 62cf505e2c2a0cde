package dwarf

import (
	"bytes"
	"cmp"
	"context"
	stdlib "debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/native"
)

// sectionsOf reads the debug sections of an ELF file with the standard
// library; nil if there are none.
func sectionsOf(t testing.TB, f *elf.File, mapped bool) *Sections {
	t.Helper()
	lim := formats.Limits{}.WithDefaults()
	section := func(name string) *formats.Input {
		s := f.Section(name)
		if s == nil || s.Type == elf.SHT_NOBITS {
			return nil
		}
		b, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		return input(name, b, &lim, mapped)
	}
	if f.Section(".debug_info") == nil {
		return nil
	}
	return &Sections{
		Info: section(".debug_info"), Types: section(".debug_types"), Abbrev: section(".debug_abbrev"),
		Line: section(".debug_line"), LineStr: section(".debug_line_str"),
		Str: section(".debug_str"), StrOffsets: section(".debug_str_offsets"), Addr: section(".debug_addr"),
		Ranges: section(".debug_ranges"), Rnglists: section(".debug_rnglists"),
		BigEndian: f.Data == elf.ELFDATA2MSB, AddrSize: map[elf.Class]int{elf.ELFCLASS32: 4, elf.ELFCLASS64: 8}[f.Class], Format: "elf",
	}
}

func input(name string, b []byte, lim *formats.Limits, mapped bool) *formats.Input {
	in := &formats.Input{Name: name, Size: int64(len(b)), Limits: lim, Bytes: bytes.NewReader(b)}
	if mapped {
		in.Mapped = b
	}
	return in
}

// objects are the files that both readers read.
func objects(t *testing.T) []string {
	var list []string
	add := func(root string) {
		_ = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				if f, err := elf.Open(path); err == nil {
					// The standard library relocates where our caller does.
					if f.Section(".debug_info") != nil && f.Type != elf.ET_REL {
						list = append(list, path)
					}
					f.Close()
				}
			}
			return nil
		})
	}
	add(filepath.Join(formattest.GOROOT(t), "src", "debug", "dwarf", "testdata"))
	add(filepath.Join(formattest.GOROOT(t), "src", "debug", "elf", "testdata"))
	add(filepath.Join(filepath.Dir(formattest.Fixture(t, "README.md")), "elf"))
	add(filepath.Join(filepath.Dir(formattest.Fixture(t, "README.md")), "own-native", "elf"))
	return append(list, goProgram(t))
}

// goProgram builds a program of the Go distribution with plain DWARF.
func goProgram(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command(filepath.Join(formattest.GOROOT(t), "bin", "go"), "build", "-ldflags=-compressdwarf=false", "-o", out, "cmd/test2json")
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return out
}

// TestStandardLibrary compares the ranges of every function and inlined
// function, and every line row, with what the standard library reads.
func TestStandardLibrary(t *testing.T) {
	var entries, rows int
	for _, path := range objects(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			std, err := f.DWARF()
			if err != nil {
				t.Skipf("the standard library cannot read it: %v", err)
			}
			s := sectionsOf(t, f, true)
			lim := formats.Limits{}.WithDefaults()
			d, err := Open(context.Background(), *s, &lim)
			if err != nil {
				t.Fatal(err)
			}
			want, units := stdTree(t, std)
			got := ourTree(t, d)
			entries += len(got)
			for off, w := range want {
				if !slices.Equal(got[off], w) {
					t.Errorf("%#x: got %x want %x", off, got[off], w)
				}
			}
			for off := range got {
				if _, ok := want[off]; !ok {
					t.Errorf("%#x: %x, which the standard library does not have", off, got[off])
				}
			}
			rows += lines(t, std, d, units)
		})
	}
	t.Logf("%d entries, %d rows", entries, rows)
}

// stdTree is all functions and inlined functions with code, by offset.
func stdTree(t *testing.T, d *stdlib.Data) (map[stdlib.Offset][]native.Span, []*stdlib.Entry) {
	all := map[stdlib.Offset][]native.Span{}
	var units []*stdlib.Entry
	var unit *stdlib.Entry
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.Skipf("the standard library stops: %v", err)
		}
		if e == nil {
			return all, units
		}
		switch e.Tag {
		case stdlib.TagCompileUnit, stdlib.TagPartialUnit, stdlib.TagSkeletonUnit:
			unit = e
			units = append(units, e)
		case stdlib.TagTypeUnit:
			unit = nil
		case stdlib.TagSubprogram, stdlib.TagInlinedSubroutine:
			if unit == nil || e.Val(stdlib.AttrLowpc) == nil && e.Val(stdlib.AttrRanges) == nil {
				continue
			}
			ranges, err := d.Ranges(e)
			if err != nil {
				t.Fatal(err)
			}
			spans := []native.Span{}
			for _, r := range ranges {
				if r[0] < r[1] {
					spans = append(spans, native.Span{Start: r[0], End: r[1]})
				}
			}
			all[e.Offset] = spans
		}
	}
}

func ourTree(t *testing.T, d *Data) map[stdlib.Offset][]native.Span {
	all := map[stdlib.Offset][]native.Span{}
	r := d.Reader()
	defer r.Close()
	for i := range d.Units() {
		if _, err := r.Open(i); err != nil {
			t.Fatal(err)
		}
		var e Entry
		depth := 0
		for {
			kind, err := r.Next(&e)
			if err != nil {
				t.Fatal(err)
			}
			if kind == End {
				break
			}
			if kind == Leave {
				depth--
				continue
			}
			if !e.Leaf {
				depth++
			}
			all[stdlib.Offset(e.Ref)] = append([]native.Span{}, e.Ranges...)
		}
		if depth != 0 {
			t.Errorf("unit %d: %d functions were not left", i, depth)
		}
		if r.Damage() != nil {
			t.Error(r.Damage())
		}
	}
	return all
}

// line is a row with its file's path, without its directories: the standard
// library joins those in another way.
type line struct {
	addr         uint64
	line, column int
	file         string
}

// lines compares the rows of all units: by address, the last row of a
// sequence at an address counts.
func lines(t *testing.T, std *stdlib.Data, d *Data, units []*stdlib.Entry) (n int) {
	r := d.Reader()
	defer r.Close()
	if len(units) != d.Units() {
		t.Fatalf("%d units, want %d", d.Units(), len(units))
	}
	for i, u := range units {
		if _, err := r.Open(i); err != nil {
			t.Fatal(err)
		}
		table, err := r.Lines(func(low, high uint64) bool { return low != 0 }, false)
		if err != nil {
			t.Fatal(err)
		}
		want, err := stdLines(std, u)
		if err != nil {
			if table.Broken == 0 {
				t.Errorf("unit %d: not broken, but for the standard library: %v", i, err)
			}
			continue
		}
		var got []line
		for k := range table.Sequences {
			s := &table.Sequences[k]
			rows := table.Rows(s)
			for j, row := range rows {
				if row.Addr < s.Low && j+1 < len(rows) && rows[j+1].Addr <= s.Low || row.Addr >= s.High {
					continue
				}
				path, _, err := r.Path(row.Place.File())
				if err != nil {
					t.Fatal(err)
				}
				next := line{max(row.Addr, s.Low), int(row.Place.Line()), int(row.Place.Column()), base(string(path))}
				if n := len(got); n > 0 && j > 0 {
					// Two files of one base name are one here.
					if last := got[n-1]; last.line == next.line && last.column == next.column && last.file == next.file {
						continue
					}
				}
				got = append(got, next)
			}
		}
		if table.Broken > 0 {
			t.Errorf("unit %d: %d broken", i, table.Broken)
		}
		n += len(got)
		if !slices.Equal(got, want) {
			k := 0
			for k < len(got) && k < len(want) && got[k] == want[k] {
				k++
			}
			t.Errorf("unit %d: row %d of %d, %d: got %v want %v", i, k, len(got), len(want), got[k:min(len(got), k+3)], want[k:min(len(want), k+3)])
		}
	}
	return n
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// stdLines are the rows of a unit as Lines has them: sequences that begin at
// 0 dropped, the last row at an address, equal neighbors joined, in order.
func stdLines(d *stdlib.Data, u *stdlib.Entry) ([]line, error) {
	r, err := d.LineReader(u)
	if r == nil || err != nil {
		return nil, err
	}
	type sequence struct {
		low, high uint64
		rows      []line
	}
	var all []sequence
	var rows []line
	for {
		var e stdlib.LineEntry
		if err := r.Next(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if e.EndSequence {
			if len(rows) > 0 && rows[0].addr < e.Address && rows[0].addr != 0 {
				all = append(all, sequence{rows[0].addr, e.Address, rows})
			}
			rows = nil
			continue
		}
		name := ""
		if e.File != nil {
			name = base(e.File.Name)
		}
		row := line{e.Address, e.Line, e.Column, name}
		if n := len(rows); n > 0 && rows[n-1].addr == row.addr {
			rows[n-1] = row
		} else {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(all, func(a, b sequence) int { return cmp.Compare(a.low, b.low) })
	var out []line
	end := uint64(0)
	for _, s := range all {
		if s.low < end {
			return nil, fmt.Errorf("sequences overlap at %#x", s.low)
		}
		end = s.high
		for i, row := range s.rows {
			if i > 0 {
				prev := row
				prev.addr = out[len(out)-1].addr
				if prev == out[len(out)-1] {
					continue
				}
			}
			out = append(out, row)
		}
	}
	return out, nil
}
