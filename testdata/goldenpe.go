//go:build ignore

package main

import (
	"debug/pe"
	"path/filepath"
	"slices"
)

var machines = map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "x86_64", pe.IMAGE_FILE_MACHINE_I386: "x86", pe.IMAGE_FILE_MACHINE_ARM64: "arm64", pe.IMAGE_FILE_MACHINE_ARMNT: "arm"}

// recordPE asks, of every function of an image of Windows, for the first byte, the quarters and the last byte, and for one
// address beyond the image.
func recordPE() {
	objects, err := filepath.Glob("pe/libgame-*.dll")
	check(err)
	for _, object := range objects {
		file, err := pe.Open(object)
		check(err)
		base, step := uint64(0), uint64(1)
		switch h := file.OptionalHeader.(type) {
		case *pe.OptionalHeader64:
			base = h.ImageBase
		case *pe.OptionalHeader32:
			base = uint64(h.ImageBase)
		}
		switch file.Machine {
		case pe.IMAGE_FILE_MACHINE_ARM64:
			step = 4
		case pe.IMAGE_FILE_MACHINE_ARMNT:
			step = 2
		}
		text := file.Section(".text")
		starts := []uint64{uint64(text.VirtualSize)}
		for _, s := range file.Symbols {
			if s.SectionNumber == 1 && s.Value < text.VirtualSize {
				starts = append(starts, uint64(s.Value)&^(step-1))
			}
		}
		slices.Sort(starts)
		starts = slices.Compact(starts)
		addresses := []uint64{0x7ffffff0}
		for i, at := range starts[:len(starts)-1] {
			size := starts[i+1] - at
			for quarter := range uint64(4) {
				addresses = append(addresses, base+uint64(text.VirtualAddress)+at+size*quarter/4/step*step)
			}
			addresses = append(addresses, base+uint64(text.VirtualAddress)+at+size-1)
		}
		slices.Sort(addresses)
		g := golden{Object: filepath.Base(object), Arch: machines[file.Machine], Oracle: oracle()}
		folder, name := filepath.Split(object)
		g.Cases = answers(folder, name, slices.Compact(addresses))
		write(object+".golden.json", &g)
	}
}
