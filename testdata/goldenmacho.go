//go:build ignore

package main

import (
	"debug/macho"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// machoObjects are the images of macho/ by the name of their golden, with
// the architectures to ask for where there are several.
var machoObjects = []struct {
	golden, file string
	arches       []string
	note         string
	more         []uint64 // addresses of stacks/
}{
	{golden: "macho/libgame.dylib.dSYM", file: "macho/libgame.dylib.dSYM/Contents/Resources/DWARF/libgame.dylib", more: []uint64{0x415a, 0x4272, 0x433e}},
	{golden: "macho/libgame-fat.dSYM", file: "macho/libgame-fat.dSYM", arches: []string{"arm64", "x86_64"}},
	{golden: "dart/App.framework.dSYM", file: "dart/App.framework.dSYM/Contents/Resources/DWARF/App"},
	{golden: "macho/objects/libmapped.dylib", file: "macho/objects/libmapped.dylib",
		note: "asked of the dSYM that dsymutil makes of the library and its objects"},
}

var cpus = map[macho.Cpu]string{macho.CpuArm64: "arm64", macho.CpuAmd64: "x86_64"}

func recordMachO() {
	for _, o := range machoObjects {
		if len(o.arches) == 0 {
			file, err := macho.Open(o.file)
			check(err)
			ask := o.file
			if o.note != "" {
				ask = dsymOf(o.file)
				defer os.RemoveAll(filepath.Dir(ask))
			}
			recordImage(o.golden, ask, file, "", o.note, o.more)
			continue
		}
		fat, err := macho.OpenFat(o.file)
		check(err)
		for i := range fat.Arches {
			recordImage(o.golden, o.file, fat.Arches[i].File, cpus[fat.Arches[i].Cpu], o.note, o.more)
		}
	}
}

// dsymOf makes a dSYM, flat, of a library and the objects beside it.
func dsymOf(library string) string {
	temp, err := os.MkdirTemp("", "golden")
	check(err)
	out := filepath.Join(temp, "stand-in")
	folder, err := filepath.Abs(filepath.Dir(library))
	check(err)
	// The debug map names them in a folder of their own.
	check(os.Symlink(folder, filepath.Join(temp, "mapped")))
	check(exec.Command("dsymutil-19", "--flat", "--oso-prepend-path="+temp, library, "-o", out).Run())
	return out
}

// recordImage asks, of every function, for the first byte, the quarters and
// the last byte, and for one address beyond the image.
func recordImage(name, ask string, file *macho.File, arch, note string, more []uint64) {
	g := golden{Object: filepath.Base(ask), Arch: cpus[file.Cpu], Oracle: oracle(), Note: note}
	if note != "" {
		g.Object = filepath.Base(name)
	}
	addresses := slices.Clone(more)
	text := file.Section("__text")
	starts := []uint64{text.Addr + text.Size}
	for _, s := range file.Symtab.Syms {
		if s.Type&0xe0 == 0 && s.Value >= text.Addr && s.Value < text.Addr+text.Size {
			starts = append(starts, s.Value)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	step := uint64(1)
	if file.Cpu == macho.CpuArm64 {
		step = 4
	}
	for i, at := range starts[:len(starts)-1] {
		size := starts[i+1] - at
		for quarter := range uint64(4) {
			addresses = append(addresses, at+size*quarter/4/step*step)
		}
		addresses = append(addresses, at+size-1)
	}
	slices.Sort(addresses)
	addresses = append(slices.Compact(addresses), 0x7ffffff0)
	folder, base := filepath.Split(ask)
	if arch != "" {
		base += ":" + arch
	}
	g.Cases = answers(folder, base, addresses)
	if arch != "" {
		name += "." + arch
	}
	write(name+".golden.json", &g)
}
