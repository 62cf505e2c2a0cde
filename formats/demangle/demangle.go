// Package demangle turns linkage names into what the source calls them: C++
// of the Itanium ABI and Rust (both manglings), in the words of LLVM's
// demangler, C++ of Microsoft's ABI in the words of LLVM's symbolizer, and Swift in
// the words of Apple's. Functions that Unity's il2cpp made of
// C# come back as methods, without their hash. Names of other languages,
// Objective-C among them, and names that are not mangled come back unchanged.
//
// The grammar of C++ and Rust is a library's, but for nearly all of C++: that is
// package demangle/cxx, for speed. Microsoft's C++ is package demangle/msvc, and
// Swift is package demangle/swift. This
// package recognizes mangled names, chooses their reader, bounds the work that one name
// may cost, and remembers.
//
// Invariants:
//   - any string is accepted, and no string makes it panic;
//   - a name costs at most MaxBytes of output and, on input made to be slow,
//     some tenths of a second; a more costly name comes back unchanged;
//   - the result depends on the name alone.
package demangle

import (
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/demangle/cxx"
	"github.com/symlake/symlake/formats/demangle/msvc"
	"github.com/symlake/symlake/formats/demangle/swift"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	// MaxMangledBytes bounds the names that are demangled: the library's time grows with
	// the square of nesting. The longest names of real objects have 30 KiB.
	MaxMangledBytes = 32 << 10
	// MaxBytes bounds the result: by substitutions 100 bytes stand for
	// gigabytes.
	MaxBytes      = 1 << maxBytesPower
	maxBytesPower = 16
	// maxLocals and maxOpeners bound the kinds of nesting that cost most and
	// that no compiler writes in such numbers, see costly.
	maxLocals  = 256
	maxOpeners = 256
)

// Name gives the demangled form of a linkage name, else the name itself.
//
// A suffix that a compiler added to a clone is kept in parentheses, as LLVM
// shows it: "f(int) (.isra.0)". The hash that ends a name of Rust's legacy
// mangling is dropped, as Rust's own tools do; LLVM takes these names for C++.
func Name(linkage string) string { return new(Demangler).Name(linkage) }

// Demangler demangles names one after the other in memory of its own, which
// is cheaper than Name for each. The zero value is ready. It is not safe for
// concurrent use.
type Demangler struct {
	swift swift.Demangler
	cxx   cxx.Demangler
	msvc  msvc.Demangler
}

// language says which reader reads a mangled name.
type language uint8

const (
	notMangled language = iota
	itanium             // C++ and Rust
	microsoft
	swifts
)

// form is how much of a name a text shows, where a language has more than one.
type form uint8

const (
	readable form = iota
	simplified
	full
)

// Name is the package's Name.
func (d *Demangler) Name(linkage string) string { return d.name(linkage, readable) }

// Append appends what Name gives.
func (d *Demangler) Append(to []byte, linkage string) []byte {
	mangled, of := strip(linkage)
	known := false
	if (of == itanium || of == microsoft) && len(mangled) <= MaxMangledBytes {
		_ = formats.Guard("demangle", func() error { // after a panic Name says what there is to say
			if of == microsoft {
				to, known = d.msvc.Append(to, mangled, msvc.Frame, MaxBytes-1)
			} else if _, rust := legacyRust(mangled); !rust {
				to, known = d.cxx.Append(to, mangled, MaxBytes-1)
			}
			return nil
		})
	}
	if known {
		return to
	}
	return append(to, d.Name(linkage)...)
}

// Simplified is Name with names of Swift in their simplified form: without
// modules and types. Other languages have no such form.
func (d *Demangler) Simplified(linkage string) string { return d.name(linkage, simplified) }

// unmangled returns what people read of a name that no demangler takes.
func unmangled(linkage string) string {
	if method, is := unityName(linkage); is {
		return method
	}
	return linkage
}

// Full is Name with names of Microsoft's C++ as the source declares them: with access, "static" and "virtual",
// result and calling convention. Other languages have no such form.
func (d *Demangler) Full(linkage string) string { return d.name(linkage, full) }

func (d *Demangler) name(linkage string, f form) string {
	mangled, of := strip(linkage)
	if mangled == "" || len(mangled) > MaxMangledBytes {
		return unmangled(linkage)
	}
	out := linkage
	err := formats.Guard("demangle", func() error {
		switch of {
		case swifts:
			if text, ok := d.swift.Name(mangled, f == simplified, MaxBytes-1); ok {
				out = text
			}
			return nil
		case microsoft:
			shown := msvc.Frame
			if f == full {
				shown = msvc.Full
			}
			if text, ok := d.msvc.Name(mangled, shown, MaxBytes-1); ok {
				out = text
			}
			return nil
		}
		text, err := d.parse(mangled)
		if err == nil && len(text) < MaxBytes { // at the bound it is cut
			out = text
		}
		return err
	})
	if err != nil {
		return linkage // not a mangled name after all, or the library has no answer to it
	}
	return out
}

// parse demangles names of C++ and Rust: nearly all of C++ ourselves, as the
// library takes ten times as long, all else by the library.
func (d *Demangler) parse(mangled string) (string, error) {
	if name, ok := legacyRust(mangled); ok {
		return name, nil
	}
	if name, ok := d.cxx.Name(mangled, MaxBytes-1); ok {
		return name, nil
	}
	if costly(mangled) {
		return "", demangle.ErrNotMangledName
	}
	if strings.HasPrefix(mangled, "_R") {
		return demangle.ToString(mangled, demangle.LLVMStyle, demangle.MaxLength(maxBytesPower))
	}
	options := []demangle.Option{demangle.LLVMStyle, demangle.MaxLength(maxBytesPower)}
	if miscounts(mangled) {
		options = append(options, demangle.NoParams)
	}
	ast, err := demangle.ToAST(mangled, options...)
	if err != nil {
		return "", err
	}
	// LLVM takes all that follows the encoding for one suffix: a clone's clone
	// is "(.isra.0.part.1)".
	for {
		outer, ok := ast.(*demangle.Clone)
		if !ok {
			break
		}
		inner, ok := outer.Base.(*demangle.Clone)
		if !ok {
			break
		}
		ast = &demangle.Clone{Base: inner.Base, Suffix: inner.Suffix + outer.Suffix}
	}
	return demangle.ASTToString(ast, options...), nil
}

// miscounts reports whether a name has "sr" and a template's name without "N",
// as clang wrote it before it followed the ABI: "sr21is_move_constructibleIT_E".
// The library counts one substitution too many there, and every type after
// it would be a wrong one; std::swap of older NDKs is the common case. Its
// parameters are left out. An identifier that looks the same loses them too.
func miscounts(mangled string) bool {
	for {
		_, rest, found := strings.Cut(mangled, "sr")
		if !found {
			return false
		}
		mangled = rest
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n <= 0 || n >= len(rest)-digits {
			continue
		}
		if rest[digits+n] == 'I' && strings.IndexByte("0123456789", rest[digits]) < 0 {
			return true
		}
	}
}

// strip gives the part of a name that a demangler reads, and which one:
// some systems put an underscore before every C name, so "__Z" is
// "_Z", and "____Z" is the "___Z" of a block's function. It is "" if the name
// is not mangled.
func strip(linkage string) (mangled string, of language) {
	if len(linkage) < 3 || symbol.IsCut(linkage) {
		return "", notMangled
	}
	name := linkage
	switch name[0] {
	case '$', '@':
		if swift.Is(name) {
			return name, swifts
		}
		return name, itanium
	case '?', '.':
		if msvc.Is(name) {
			return name, microsoft
		}
		return "", notMangled
	case '_':
	default:
		return "", notMangled
	}
	switch name[1] {
	case 'Z', 'R':
		return name, itanium
	case 'T', '$':
		if swift.Is(name) {
			return name, swifts
		}
		return name, itanium
	}
	switch name = name[1:]; {
	case strings.HasPrefix(name, "_Z"), strings.HasPrefix(name, "_R"), strings.HasPrefix(name, "___Z"):
		return name, itanium
	case strings.HasPrefix(linkage, "___Z"):
		return linkage, itanium
	case swift.Is(name):
		return name, swifts
	}
	return "", notMangled
}

// costly reports whether a name may nest entities in entities ("Z"), or types
// in types without anything between ("PPP…"), so deep that only an attack has them.
// Letters of identifiers count too: to skip identifiers is to trust the
// lengths that the name gives.
func costly(mangled string) bool {
	if strings.Count(mangled, "Z") > maxLocals {
		return true
	}
	run := 0
	for i := range len(mangled) {
		if c := mangled[i]; c < 'A' || c > 'Z' || c == 'E' {
			run = 0
		} else if run++; run > maxOpeners {
			return true
		}
	}
	return false
}
