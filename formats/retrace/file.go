package retrace

import (
	"path"
	"strings"

	"github.com/symlake/symlake/formats/report"
)

// nativeMethod stands in the place of a file, and stays.
const nativeMethod = "Native Method"

// file is the source file of an original class, "" for x's own: as the
// mapping says, else guessed.
func (r *retracer) file(x *Class, class string, m *report.Managed) string {
	if file := x.FileOf(class); file != "" {
		return file
	}
	if class == "" {
		class = x.Original
	}
	return r.guess(x, class, m)
}

// guess makes a source file's name of the class's name and of the printed one.
// "": as printed.
func (r *retracer) guess(x *Class, class string, m *report.Managed) string {
	if m.File == nativeMethod {
		return ""
	}
	like := m.File
	if r.o.School == report.List && x.File != "" {
		like = x.File
	}
	return guessFile(class, like, r.o.School)
}

// guessFile makes a file's name of the name of the outermost class in it. The
// suffix is Java's unless the printed name or the class's says Kotlin.
func guessFile(class, printed string, school report.School) string {
	name := class[strings.LastIndexByte(class, '.')+1:]
	if file := composeFile(name); file != "" && school != report.R8 {
		return file
	}
	if i := strings.IndexByte(name, '$'); i >= 0 {
		name = name[:i]
	}
	own := school == report.Own
	ext := strings.TrimPrefix(path.Ext(path.Base(printed)), ".")
	if base, ok := strings.CutSuffix(name, "Kt"); ok && (ext == "" || ext == "kt") {
		// A part of a multi-file class: Whole__PartKt, of Part.kt.
		if i := strings.LastIndex(base, "Kt__"); own && i >= 0 {
			base = base[i+len("Kt__"):]
		} else if i := strings.LastIndex(base, "__"); own && i > 0 {
			base = base[i+len("__"):]
		}
		return base + ".kt"
	}
	if ext != "kt" {
		ext = "java"
	}
	return name + "." + ext
}

// composeFile returns the file of a class that Compose's compiler made for the lambdas of a file:
// ComposableSingletons$MyScreenKt, of MyScreen.kt; "" for other classes.
func composeFile(name string) string {
	rest, ok := strings.CutPrefix(name, "ComposableSingletons$")
	if !ok {
		return ""
	}
	if i := strings.IndexByte(rest, '$'); i >= 0 {
		rest = rest[:i]
	}
	if base, ok := strings.CutSuffix(rest, "Kt"); ok && base != "" {
		return base + ".kt"
	}
	return ""
}
