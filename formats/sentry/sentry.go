// Package sentry refuses the files that Sentry's symbolicator makes for itself, and says what to hand in instead. Each of them
// is made of an object that another format reads, and says less than that object.
package sentry

import (
	"context"

	"github.com/symlake/symlake/formats"
)

const name = "sentry-cache"

// Cache recognizes the caches of symbolicator, and source bundles of sentry-cli.
var Cache = formats.Format{Name: name, Version: 1,
	Detect: func(_ string, head []byte) bool { return wanted(head) != "" },
	Open: func(_ context.Context, in *formats.Input) (*formats.Object, error) {
		head, err := in.View(0, min(in.Size, headBytes))
		if err != nil {
			return nil, err
		}
		return nil, &formats.Error{Format: name, Want: wanted(head), Err: formats.ErrUnsupported}
	},
}

const headBytes = 8

// maxVersion bounds the number behind the first four bytes: symcaches of 2017 counted from 1, later ones from 1,000.
const maxVersion = 1 << 16

// wanted says what to hand in instead of a file that begins so; "" of other files. The first word tells the order of bytes.
func wanted(head []byte) string {
	if len(head) < headBytes {
		return ""
	}
	little := uint32(head[4]) | uint32(head[5])<<8 | uint32(head[6])<<16 | uint32(head[7])<<24
	big := uint32(head[7]) | uint32(head[6])<<8 | uint32(head[5])<<16 | uint32(head[4])<<24
	if v := min(little, big); v == 0 || v > maxVersion {
		return ""
	}
	switch string(head[:4]) {
	case "SYMC", "CMYS":
		return "the debug file that this symcache was made of: hand in the ELF file, the dSYM, the PDB or the Breakpad file"
	case "CFIC", "CIFC":
		return "the image or debug file that this cache of call frame information was made of: hand in the ELF file, the dSYM, the PE image or the Breakpad file"
	case "PDBC", "CBDP":
		return "the portable PDB that this cache was made of, or the assembly that it is embedded in"
	case "SMCA", "ACMS":
		return "the script and the source map that this cache was made of"
	case "SYSB":
		return "a debug file or a source map: a source bundle holds sources alone, which answers do not need"
	}
	return ""
}
