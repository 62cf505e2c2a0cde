// Package answer answers whole reports: it finds the artifact of each frame by the names that the frame
// gives, looks up its place, retraces lines of Java and Kotlin, gives names of Dart back, and explains each answer.
//
// Package lookup, which knows nothing of reports, answers places and names. Package formats/report reads and
// prints reports. Package formats/retrace holds the rules of R8.
//
// Invariants:
//   - an id decides: where a frame gives one and no artifact has it, no artifact of the same file name answers;
//   - every outcome but found carries a reason;
//   - the frames of all reports of a call are asked for together, so each block is read once.
package answer

import (
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// Client answers reports, besides all that its lookup.Client answers. Safe for concurrent use.
type Client struct {
	*lookup.Client
}

// New returns a client that looks up frames by c.
func New(c *lookup.Client) *Client { return &Client{c} }

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
	case "wasm", "webassembly":
		return symbol.Wasm, true
	case "java", "kotlin", "jvm", "r8", "proguard":
		return symbol.R8, true
	case "javascript", "web", "browser", "node", "react-native", "hermes", "sourcemap":
		return symbol.SourceMap, true
	case "native", "flutter", "dart": // of ELF or Mach-O: the frames say
		return "", true
	}
	return "", false
}
