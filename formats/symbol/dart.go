package symbol

import (
	"strings"
)

// The symbols that mark the beginning of code in a snapshot of Dart. The
// virtual machine prints places as offsets from them, because what it maps may
// be laid out otherwise than the file that keeps the symbols. They are
// anchors of the artifact, spelled as here, without the system's prefix of names.
const (
	DartIsolate = "_kDartIsolateSnapshotInstructions"
	DartVM      = "_kDartVmSnapshotInstructions"
	// DartText stands in place of both from Dart 3.13 on.
	DartText = "_kDartSnapshotText"
)

// DartAnchor is the anchor that a symbol's name means; "" if it is none.
// Mach-O files and their tools drop or add the underscore.
func DartAnchor(name string) string {
	bare := strings.TrimLeft(name, "_")
	if !strings.HasPrefix(bare, "kDart") || len(name)-len(bare) > 2 {
		return ""
	}
	for _, a := range [...]string{DartIsolate, DartVM, DartText} {
		if a[1:] == bare {
			return a
		}
	}
	return ""
}

// IsDart reports whether the artifact is a snapshot of Dart.
func (a *Artifact) IsDart() bool {
	for name := range a.Anchors {
		if DartAnchor(name) != "" {
			return true
		}
	}
	return false
}

// DartNames is the kind of the map that Dart's compiler writes of the names it
// replaced (--save-obfuscation-map). Its rows are classes without members:
// Name is what stands in the program, Original what stood in the source, be it a
// class's, a member's or a library's name.
const DartNames Kind = "dart-names"

// NameDartBuild is the kind of the name by which a map of names is found from
// a trace: DartBuild of a program that lay beside it.
const NameDartBuild NameKind = "dart-build"

// DartBuild is that name, of a build-id or UUID in any spelling.
func DartBuild(id string) string {
	return "dart-names:" + strings.ToLower(strings.ReplaceAll(id, "-", ""))
}

// HasClasses reports whether the rows of artifacts of that kind are classes, not ranges.
func (k Kind) HasClasses() bool { return k == R8 || k == DartNames }
