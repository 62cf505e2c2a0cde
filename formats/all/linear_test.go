package all_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
)

var shapes = slices.Concat(sourceMapShapes, breakpadShapes, gsymShapes, il2cppShapes, r8Shapes, dartShapes, stackShapes, retraceShapes, nameShapes, groupShapes, archiveShapes, traceShapes, elfShapes, dwarfShapes, machoShapes, wasmShapes, pdbShapes, peShapes, clrShapes, frameShapes, goShapes)

// Twice the input costs at most 2.2 times as much, for every kind of input.
func TestLinear(t *testing.T) {
	formattest.Linear(t, shapes)
}

// A new format comes with shapes.
func TestEveryFormatHasShapes(t *testing.T) {
	without := map[string]string{
		"dyld-cache":   "refused by its first bytes",
		"sentry-cache": "refused by its first bytes",
		"dsym-bundle":  "a folder's list: see the symbol folders of archives",
		"xz":           "nothing here writes it; its members cost what those of gzip cost",
	}
	for _, f := range all.Formats() {
		known := without[f.Name] != ""
		for _, s := range shapes {
			known = known || strings.HasPrefix(s.Name, f.Name+"/")
		}
		if !known {
			t.Errorf("%s has no shapes", f.Name)
		}
	}
}

// of makes a shape of one file with the bytes of text.
func of(name, file string, n int, text func(n int) string) formattest.Shape {
	return formattest.Shape{Name: name, Kind: "object", N: n, Make: func(n int) []formattest.File {
		return []formattest.File{{Name: file, Bytes: []byte(text(n))}}
	}}
}

// rejects marks a shape: its inputs are rejected with the error.
func rejects(with string, s formattest.Shape) formattest.Shape {
	s.Rejected = with
	return s
}

// each joins n texts, which each makes of its number.
func each(n int, between, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(between)
		}
		if strings.Contains(format, "%") {
			fmt.Fprintf(&b, format, i)
		} else {
			b.WriteString(format)
		}
	}
	return b.String()
}
