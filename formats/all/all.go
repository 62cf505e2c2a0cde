// Package all is the list of formats. It is the only package that names them;
// to add one, write its folder and one line here.
package all

import (
	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/breakpad"
	"github.com/symlake/symlake/formats/clr"
	"github.com/symlake/symlake/formats/dart"
	"github.com/symlake/symlake/formats/elf"
	"github.com/symlake/symlake/formats/gsym"
	"github.com/symlake/symlake/formats/il2cpp"
	"github.com/symlake/symlake/formats/macho"
	"github.com/symlake/symlake/formats/pdb"
	"github.com/symlake/symlake/formats/pe"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/sentry"
	"github.com/symlake/symlake/formats/sourcemap"
	"github.com/symlake/symlake/formats/wasm"
)

// Formats returns every format, narrow ones first: the first
// format with a Detect that agrees opens the object.
func Formats() []*formats.Format {
	return []*formats.Format{
		&elf.Format,
		&macho.Format,
		&macho.Cache,
		&macho.SymbolMap,
		&macho.Bundle,
		&clr.Format, // before pe, which reads every image
		&pe.Format,
		&wasm.Format,
		&pdb.Format,
		&breakpad.Format,
		&gsym.Format,
		&sentry.Cache,
		&r8.Format,
		&r8.Partition, // before Zip, which it is too
		&archive.Ar,
		&archive.Zip,
		&archive.Gzip,
		&archive.Zstd,
		&archive.Xz,
		&archive.Cab,
		&archive.Tar,
		&dart.Format,
		&il2cpp.Format,
		&il2cpp.Methods,
		&sourcemap.Format,
	}
}
