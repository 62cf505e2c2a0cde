package perfetto

import (
	"encoding/hex"
	"path"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// module is a file as answers name it.
type module struct{ path, id string } // the id as the trace has it: bytes, or text of older Chrome

// image is a module as samples were taken in it.
type image struct {
	module
	bias   uint64
	mapped symbol.Mapping
	told   bool // mapped is known
	kind   imageKind
	number uint32 // of the module
}

// imageKind tells what a file holds.
type imageKind uint8

const (
	nothing imageKind = iota // no file: memory, or the kernel
	native
	managed // code of Java or Kotlin
)

// kindOf tells what a file holds by its path.
func kindOf(m *module) imageKind {
	p := strings.TrimSuffix(m.path, " (deleted)")
	inner := p[strings.LastIndexByte(p, '!')+1:]
	for _, end := range []string{".apk", ".dex", ".jar", ".vdex", ".odex", ".oat", ".art"} {
		if strings.HasSuffix(inner, end) {
			return managed
		}
	}
	for _, part := range []string{"/memfd:", "jit-cache", "dalvik-", "dex extracted in memory"} {
		if strings.Contains(p, part) {
			return managed
		}
	}
	name := path.Base(inner)
	if m.id == "" && (name == "." || name == "/" || strings.HasPrefix(strings.TrimLeft(p, "/"), "[") || strings.HasPrefix(p, "/dev/") || strings.HasPrefix(p, "//anon") || p == "/kernel") {
		return nothing
	}
	return native
}

// question returns the question for an address that the unwinder gave.
//
// It is an address of the file, if the trace has the bias right by which the file's addresses differ from its offsets. Some
// recorders did not: the offset tells, if the mapping has its own.
func (m *image) question(address uint64) report.Frame {
	q := report.Frame{File: m.path, Raw: address, At: symbol.Where{Space: symbol.Unslid, Value: address}}
	if i := strings.IndexByte(q.File, '!'); i > 0 && i < len(q.File)-1 {
		q.Container, q.File = q.File[:i], q.File[i+1:]
	}
	if id := idText(m.id); id != "" {
		q.Image = append(q.Image, id)
	}
	if name := path.Base(strings.TrimSuffix(q.File, " (deleted)")); name != "." && name != "/" {
		q.Image = append(q.Image, name)
	}
	if address < m.bias {
		return q
	}
	offset := symbol.Where{Space: symbol.FileOffset, Value: address - m.bias, Mapped: &m.mapped}
	if m.told {
		q.At, q.Or = offset, []symbol.Where{q.At}
	} else {
		q.Or = []symbol.Where{offset}
	}
	return q
}

// idText returns the text of a build-id. Recorders write bytes; older ones of Chrome write hex, mostly 33 letters.
func idText(id string) string {
	if t := strings.ReplaceAll(id, "-", ""); len(t) >= 16 && isHex(t) {
		return strings.ToLower(t)
	}
	return hex.EncodeToString([]byte(id))
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }
