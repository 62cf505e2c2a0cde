package answer

import (
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// PlatformKind is the kind of artifact that native frames of a platform lie in, by the platform's common
// names in any case; false for an unknown one. "" says nothing and is known.
func PlatformKind(platform string) (symbol.Kind, bool) {
	switch strings.ToLower(platform) {
	case "":
		return "", true
	case "android", "linux", "elf":
		return symbol.ELF, true
	case "ios", "ipados", "macos", "tvos", "watchos", "visionos", "catalyst", "apple", "macho":
		return symbol.MachO, true
	case "windows", "win32", "pe":
		return symbol.PE, true
	case "java", "kotlin", "jvm", "r8", "proguard":
		return symbol.R8, true
	case "javascript", "web", "browser", "node", "react-native", "hermes", "sourcemap":
		return symbol.SourceMap, true
	case "native", "flutter", "dart": // of ELF or Mach-O: the frames say
		return "", true
	}
	return "", false
}
