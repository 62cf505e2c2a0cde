package gecko

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// kind is what a frame is.
type kind uint8

const (
	other   kind = iota // a label, or code that has its name
	native              // an address of a library
	script              // a place of a script
	managed             // a method of Java
)

// frame is a frame of a profile, as far as the profile says it.
type frame struct {
	kind     kind
	named    bool      // it has a name that says more than an address
	lib      *lib      // of native code; nil: the profile does not know it
	address  uint64    // from the library's base; as recorded
	function string    // "0x1f3a" of native code without a name
	url      string    // of a script
	line     uint32    // there, from 1; 0: not known
	column   uint32    // from 1
	at       [2]uint32 // where the function of a script begins
	vague    bool      // the frame has no place of its own, and its function's stands for it
	fn       int       // row of the function's table; null: the profile has no such table
}

// frame returns a frame of the tables. ok is false if the tables do not hold what it refers to.
func (t *tables) frame(row int) (f frame, ok bool) {
	frames := t.of("frameTable")
	f.fn = null
	if frames.rowwise {
		location := frames.at("location", row)
		if location < 0 {
			return f, false
		}
		t.place(&f, t.text(location), frames, row)
		return f, true
	}
	funcs := t.of("funcTable")
	if f.fn = frames.index("func", row, funcs); f.fn < 0 {
		return f, false
	}
	f.function = t.text(funcs.at("name", f.fn))
	f.line, f.column = known(frames.at("line", row)), known(frames.at("column", row))
	f.at = [2]uint32{known(funcs.at("lineNumber", f.fn)), known(funcs.at("columnNumber", f.fn))}
	if funcs.at("isJS", f.fn) == 1 {
		f.kind = script
		f.url = t.text(t.file(f.fn))
		f.named = frames.at("originalLocation", row) >= 0 || f.url == ""
		f.settle()
		return f, true
	}
	if at := t.lib(frames, funcs, row, f.fn); at != nil && frames.address(row) >= 0 {
		f.kind, f.lib, f.address = native, at, uint64(frames.address(row))
		f.named = !isAddress(f.function)
		return f, true
	}
	f.method(t)
	return f, true
}

// known returns a line or a column, 0 for none.
func known(v int32) uint32 { return uint32(max(v, 0)) }

// file returns the string that names the file of a function; null: none does.
func (t *tables) file(fn int) int32 {
	funcs := t.of("funcTable")
	if !funcs.has("source") {
		return funcs.at("fileName", fn)
	}
	sources := t.table("sources")
	if at := funcs.index("source", fn, sources); at >= 0 {
		return sources.at("filename", at)
	}
	return null
}

// lib returns the library of a frame; nil: the profile does not know it.
func (t *tables) lib(frames, funcs *table, row, fn int) *lib {
	at := int32(null)
	if frames.has("lib") {
		at = frames.at("lib", row)
	} else if of := funcs.index("resource", fn, t.of("resourceTable")); of >= 0 {
		at = t.of("resourceTable").at("lib", of)
	}
	if libs := t.libraries(); at >= 0 && int(at) < len(libs) {
		return libs[at]
	}
	return nil
}

// The ways to write a frame in a profile of the browser.
var (
	inLibrary = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*) \(in ([^)]*)\)(?: \+ [0-9]+| \((.*):([0-9]+)\))?$`)
	})
	inScript = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*) \((.+?):([0-9]+)(?::([0-9]+))?\)(?:\[(\d+)\])?$`)
	})
	onlyPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^()(.+?):([0-9]+)(?::([0-9]+))?(?:\[(\d+)\])?$`) })
	javaName  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\w$]+(?:\.[\w$]+)*\.(?:[\w$]+|<init>|<clinit>)\(\)$`)
	})
)

// place reads the location of a frame of the browser's own form.
func (t *tables) place(f *frame, location string, frames *table, row int) {
	f.function = location
	f.line, f.column = known(frames.at("line", row)), known(frames.at("column", row))
	if isAddress(location) {
		address, ok := parseAddress(location)
		if !ok {
			return
		}
		f.kind = native
		libs := t.libraries()
		if at, from := find(libs, address); at >= 0 {
			f.lib, f.address = libs[at], from
		}
		return
	}
	if !strings.HasSuffix(location, ")") && !strings.Contains(location, ":") {
		return
	}
	if m := inLibrary().FindStringSubmatch(location); m != nil {
		f.kind, f.named, f.function, f.url = native, true, m[1], m[3]
		if line, err := strconv.ParseUint(m[4], 10, 32); err == nil && f.line == 0 {
			f.line = uint32(line)
		}
		f.lib = &lib{name: m[2]}
		return
	}
	m := inScript().FindStringSubmatch(location)
	if m == nil {
		m = onlyPlace().FindStringSubmatch(location)
	}
	if m == nil {
		f.method(t)
		return
	}
	f.kind, f.function, f.url = script, m[1], m[2]
	if i := strings.LastIndex(f.url, " -> "); i >= 0 { // the loader's name stands before the script's own
		f.url = f.url[i+len(" -> "):]
	}
	for i := range f.at {
		if v, err := strconv.ParseUint(m[3+i], 10, 32); err == nil {
			f.at[i] = uint32(v)
		}
	}
	f.settle()
}

// settle puts a frame of a script without a place of its own where its function begins.
func (f *frame) settle() {
	if f.line == 0 || f.column == 0 {
		f.line, f.column, f.vague = f.at[0], f.at[1], true
	}
}

// method notes a method of Java, as Firefox for Android writes it: "a.b.c()".
func (f *frame) method(t *tables) {
	if t.process.android && javaName().MatchString(f.function) {
		f.kind = managed
	}
}

// isAddress reports whether a name is an address, as profiles call functions without a name.
func isAddress(name string) bool {
	return len(name) > 2 && name[0] == '0' && (name[1] == 'x' || name[1] == 'X')
}
