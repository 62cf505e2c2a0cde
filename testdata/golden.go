//go:build ignore

// Golden records what llvm-symbolizer-19 answers for the objects of elf/, in
// the shape that README.md shows. golden.sh runs it.
package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// asked are the commands that make a stand-in ($OUT) for an object that LLVM
// does not read in full.
var asked = map[string]struct{ why, command string }{
	"elf/minidebuginfo/libgame.so": {"asked of the same library with all its symbols: LLVM does not read .gnu_debugdata",
		"llvm-objcopy-19 --strip-debug elf/libgame-x64-dw5.so $OUT"},
	"elf/libgame-x64-zdebug.so": {"asked of the same library uncompressed: LLVM does not read .zdebug sections",
		"cp elf/libgame-x64-dw5.so $OUT"},
	"elf/dwz-dw4/libone.so": {"asked of the library before dwz: LLVM does not follow .gnu_debugaltlink", "cp elf/dwz-dw4/before.so $OUT"},
	"elf/dwz-dw5/libone.so": {"asked of the library before dwz: LLVM does not follow .debug_sup", "cp elf/dwz-dw5/before.so $OUT"},
	"elf/obj/engine-riscv64.o": {"asked of the object linked at 0: LLVM does not apply R_RISCV_SET_ULEB128",
		"ld.lld-19 -Ttext=0 --no-relax --unresolved-symbols=ignore-all -e 0 elf/obj/engine-riscv64.o -o $OUT"},
}

// also are the addresses of stacks/, asked beside the functions' own.
var also = map[string][]uint64{
	"elf/libgame-arm64-dw5.so":      {0x46a8, 0x46aa, 0x46f0, 0x4748, 0x47a0, 0x47d4, 0x47d8, 0x4844, 0x484c, 0x48e4, 0x48e6, 0x48ec, 0x4918},
	"elf/libgame-armv7thumb-dw5.so": {0x453a, 0x4694},
	"elf/libgame-x64-dw5.so":        {0x47e1, 0x48a5, 0x48a6, 0x48b7},
}

type golden struct {
	Object string  `json:"object"`
	Arch   string  `json:"arch"`
	Oracle string  `json:"oracle"`
	Note   string  `json:"note"`
	Cases  []entry `json:"cases"`
}

type entry struct {
	Addr   string  `json:"addr"`
	Frames []frame `json:"frames"`
}

type frame struct {
	Linkage   string `json:"linkage"`
	File      string `json:"file"`
	Line      uint32 `json:"line"`
	Column    uint32 `json:"column"`
	Demangled string `json:"demangled,omitempty"`
}

var arches = map[elf.Machine]string{elf.EM_AARCH64: "arm64", elf.EM_ARM: "arm", elf.EM_386: "x86", elf.EM_X86_64: "x86_64", elf.EM_RISCV: "riscv64", elf.EM_S390: "s390x"}

func main() {
	log.SetFlags(0)
	for _, glob := range []string{"elf/*.so", "elf/obj/*.o", "elf/separate*/*.dbg", "elf/split-dw*/libgame.so", "elf/dwz-dw*/libone.so", "elf/minidebuginfo/libgame.so", "dart/app.*.symbols", "dart/app.*.part.so"} {
		objects, err := filepath.Glob(glob)
		check(err)
		for _, object := range objects {
			record(object)
		}
	}
	recordMachO()
	recordPE()
	recordPDB()
}

func record(object string) {
	ask := object
	g := golden{Object: filepath.Base(object), Oracle: oracle()}
	if a, ok := asked[object]; ok {
		temp, err := os.MkdirTemp("", "golden")
		check(err)
		defer os.RemoveAll(temp)
		ask, g.Note = filepath.Join(temp, "stand-in"), a.why
		check(exec.Command("sh", "-c", strings.ReplaceAll(a.command, "$OUT", ask)).Run())
	}
	file, err := elf.Open(ask)
	check(err)
	g.Arch = arches[file.Machine]
	folder, name := filepath.Split(ask)
	g.Cases = answers(folder, name, addresses(ask, also[object]))
	write(object+".golden.json", &g)
}

// addresses are, of every function, the first and the last byte and the
// quarters between them; and one beyond the image.
func addresses(object string, more []uint64) []uint64 {
	file, err := elf.Open(object)
	check(err)
	symbols, err := file.Symbols()
	if err != nil {
		symbols, err = file.DynamicSymbols()
		check(err)
	}
	all := slices.Clone(more)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || s.Section == elf.SHN_UNDEF {
			continue
		}
		start, step := s.Value, uint64(1)
		switch file.Machine {
		case elf.EM_ARM:
			start &^= 1
			step = 2
		case elf.EM_AARCH64:
			step = 4
		}
		for quarter := range uint64(4) {
			all = append(all, start+s.Size*quarter/4/step*step)
		}
		all = append(all, start+s.Size-1)
	}
	slices.Sort(all)
	return append(slices.Compact(all), 0x7ffffff0)
}

// answers runs the oracle inside folder: split units are found beside it.
func answers(folder, name string, addresses []uint64, more ...string) []entry {
	args := append([]string{"--output-style=JSON", "--inlines", "--functions=linkage", "--no-demangle", "-e", name}, more...)
	for _, a := range addresses {
		args = append(args, fmt.Sprintf("%#x", a))
	}
	cmd := exec.Command("llvm-symbolizer-19", args...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	out, err := cmd.Output()
	check(err)
	var replies []struct {
		Address string
		Symbol  []struct {
			FunctionName, FileName string
			Line, Column           uint32
		}
	}
	check(json.Unmarshal(out, &replies))
	cases := make([]entry, len(replies))
	for i, r := range replies {
		cases[i] = entry{r.Address, []frame{}}
		for _, s := range r.Symbol {
			if s.FunctionName == "" && s.FileName == "" {
				continue
			}
			cases[i].Frames = append(cases[i].Frames, frame{Linkage: s.FunctionName, File: s.FileName, Line: s.Line, Column: s.Column, Demangled: demangled(s.FunctionName)})
		}
	}
	return cases
}

var names = map[string]string{}

// demangled is "" where the demangler changes nothing.
func demangled(linkage string) string {
	if known, ok := names[linkage]; ok || linkage == "" {
		return known
	}
	cmd := exec.Command("llvm-cxxfilt-19")
	cmd.Stdin, cmd.Stderr = strings.NewReader(linkage+"\n"), os.Stderr
	out, err := cmd.Output()
	check(err)
	name := strings.TrimRight(string(out), "\n")
	if name == linkage {
		name = ""
	}
	names[linkage] = name
	return name
}

func oracle() string {
	out, err := exec.Command("llvm-symbolizer-19", "--version").Output()
	check(err)
	_, version, _ := strings.Cut(string(out), "LLVM version ")
	version, _, _ = strings.Cut(version, "\n")
	return "llvm-symbolizer " + version + " --inlines --functions=linkage --no-demangle"
}

// write prints one case a line.
func write(path string, g *golden) {
	cases := g.Cases
	g.Cases = []entry{}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	check(e.Encode(g))
	b.Truncate(b.Len() - len("]}\n"))
	for i, c := range cases {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		check(e.Encode(c))
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("\n]}\n")
	check(os.WriteFile(path, b.Bytes(), 0o644))
	fmt.Printf("%s: %d cases\n", path, len(cases))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
