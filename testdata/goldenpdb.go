//go:build ignore

package main

import (
	"debug/pe"
	"path/filepath"
	"strings"
)

// pdbCases is how many addresses of an image are asked for.
const pdbCases = 200

// recordPDB asks for addresses of the code of images with a PDB file beside them, as they count from the image base.
func recordPDB() {
	objects, err := filepath.Glob("pdb/*.pdb")
	check(err)
	for _, object := range objects {
		image := strings.TrimSuffix(object, ".pdb") + ".exe"
		file, err := pe.Open(image)
		check(err)
		text := file.Section(".text")
		step := max(1, text.VirtualSize/pdbCases)
		if file.Machine == pe.IMAGE_FILE_MACHINE_ARM64 {
			step = max(4, step/4*4)
		}
		var addresses []uint64
		for at := uint32(0); at < text.VirtualSize; at += step {
			addresses = append(addresses, uint64(text.VirtualAddress+at))
		}
		g := golden{Object: filepath.Base(object), Arch: machines[file.Machine], Oracle: oracle()}
		folder, name := filepath.Split(image)
		g.Cases = answers(folder, name, append(addresses, 0x7ffffff0), "--relative-address")
		write(object+".golden.json", &g)
	}
}
