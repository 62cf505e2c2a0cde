package group

import (
	"strings"

	"github.com/symlake/symlake/formats/demangle"
)

// isMicrosoft reports whether a linkage name is of Microsoft's C++.
func isMicrosoft(linkage string) bool { return strings.HasPrefix(linkage, "?") }

// microsoftName returns the name of a function of Microsoft's C++ as nativeName returns other C++: with its scopes, a lambda
// without its number, and "" of what the compiler made. ok is false if the linkage name is not readable.
func microsoftName(linkage string) (name string, ok bool) {
	name = demangle.Short(linkage)
	if name == linkage {
		return "", false
	}
	name, _, _ = strings.Cut(name, " (.")
	if strings.HasPrefix(name, "`dynamic ") || strings.Contains(name, "deleting dtor'") || strings.Contains(name, "`vcall'") {
		return "", true
	}
	var b strings.Builder
	for name != "" {
		switch {
		case strings.HasPrefix(name, "`anonymous namespace'"):
			b.WriteString("{anonymous namespace}")
			name = name[len("`anonymous namespace'"):]
			continue
		case strings.HasPrefix(name, "<lambda_"):
			if end := strings.IndexByte(name, '>'); end > 0 {
				b.WriteString("{lambda}")
				name = name[end+1:]
				continue
			}
		}
		b.WriteByte(name[0])
		name = name[1:]
	}
	return b.String(), true
}
