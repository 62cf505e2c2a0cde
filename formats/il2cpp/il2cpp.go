// Package il2cpp recognizes the maps that Unity's il2cpp writes beside a program: LineNumberMappings.json and MethodMap.tsv.
//
// They hold no artifact. They are companions of libil2cpp.so, GameAssembly.dll or UnityFramework, and their rows then lead to C#:
// formats/internal/il2cpp reads them while the program is exploded. A program finds them beside it, or by its id if the map
// says it: in the member "__debug-id__", or in a folder of its path that is named by the build-id or UUID.
package il2cpp

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/il2cpp"
	"github.com/symlake/symlake/formats/internal/json"
)

// Format recognizes maps of lines.
var Format = formats.Format{Name: "il2cpp", Version: 1, Detect: isLines, Open: openLines}

// Methods recognizes maps of methods.
var Methods = formats.Format{Name: "il2cpp-methods", Version: 1, Detect: isMethods, Open: openMethods}

// isLines takes an object that has, as its first member, a C++ file with an object of C# files.
func isLines(_ string, head []byte) bool {
	j := json.Walker{Bytes: head}
	if j.Peek() != '{' {
		return false
	}
	is, first := false, true
	j.Object(func(cpp string) {
		if cpp == il2cpp.DebugIDMember || !first {
			j.Skip()
			return
		}
		first = false
		if !strings.HasSuffix(cpp, ".cpp") && !strings.HasSuffix(cpp, ".h") || j.Peek() != '{' {
			j.Skip()
			return
		}
		inner := true
		j.Object(func(cs string) {
			if inner {
				is = strings.HasSuffix(cs, ".cs") && j.Peek() == '{'
				inner = false
			}
			j.Skip()
		})
	})
	return is
}

func openLines(_ context.Context, in *formats.Input) (*formats.Object, error) {
	lines, err := il2cpp.ReadLines(in)
	if err != nil {
		return nil, err
	}
	ids := idsOf(in.Name)
	if lines.DebugID != "" {
		ids = append(ids, lines.DebugID)
	}
	return companion(ids, il2cpp.CompanionID), nil
}

// companion is a map with the ids of its programs. One without ids is found only beside its program.
func companion(ids []string, key func(string) string) *formats.Object {
	obj := &formats.Object{}
	for _, id := range ids[:min(len(ids), formats.MaxCompanions)] {
		obj.Companions = append(obj.Companions, key(id))
	}
	if len(ids) == 0 {
		obj.Note = "il2cpp-map: it counts for the program beside it"
	}
	return obj
}

// isMethods takes lines of a function, a method and an assembly.
func isMethods(name string, head []byte) bool {
	if !strings.HasSuffix(formats.Base(name), il2cpp.MethodsFile) {
		return false
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.Count(line, []byte("\t")) == 2 && bytes.Contains(line, []byte("::"))
}

func openMethods(_ context.Context, in *formats.Input) (*formats.Object, error) {
	if _, err := il2cpp.ReadMethods(in); err != nil {
		return nil, err
	}
	return companion(idsOf(in.Name), il2cpp.MethodsID), nil
}

// idsOf returns the ids of programs in the folders of a path: a UUID; or a build-id, as its debug-id.
func idsOf(name string) (all []string) {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || r == '!' }) {
		raw, err := hex.DecodeString(strings.ReplaceAll(part, "-", ""))
		if err != nil || len(raw) < 16 || len(raw) > 32 {
			continue
		}
		all = append(all, uuid(raw))
		slices.Reverse(raw[0:4])
		slices.Reverse(raw[4:6])
		slices.Reverse(raw[6:8])
		all = append(all, uuid(raw))
	}
	return all
}

func uuid(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
