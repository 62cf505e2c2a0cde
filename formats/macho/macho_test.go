package macho

import (
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// fixtures are the thin images among the development fixtures that have an artifact.
var fixtures = []string{
	"macho/crashprobe-debug-arm64/CrashProbeiOS.dSYM",
	"macho/crashprobe-release-arm64/CrashLibiOS.dSYM",
	"macho/crashprobe-release-arm64/CrashProbeiOS.dSYM",
	"macho/crashprobe-release-arm64/KSCrash.dSYM",
	"macho/crashprobe-release-arm64/PLCrashReporter_DynamicFramework.dSYM",
	"macho/crashprobe-release-arm64/SentrySwift.dSYM",
	"macho/crashprobe-release-arm64/libswiftDispatch.dylib.dSYM",
	"macho/datadog/single-arch-DDTest",
	"macho/measure/DemoApp-1.0.1-1",
	"macho/measure/DemoApp-1.0.1-2.debug.dylib",
	"macho/samply/oso/main",
	"macho/samply/simple/main",
	"macho/samply/simple/main.dSYM",
	"macho/symbolic/crash",
	"macho/symbolic/crash.dSYM",
	"macho/symbolic/helloworld-dwarf5",
	"own-native/macho/Cart.dSYM/Contents/Resources/DWARF/Cart.dylib",
	"own-native/macho/Cart.dylib",
	"own-native/macho/game-ios-arm64.dSYM/Contents/Resources/DWARF/game-ios-arm64.dylib",
	"own-native/macho/game-ios-arm64.dylib",
	"own-native/macho/game-mac-arm64-dw5.dSYM/Contents/Resources/DWARF/game-mac-arm64-dw5.dylib",
	"own-native/macho/game-mac-x64.dSYM/Contents/Resources/DWARF/game-mac-x64.dylib",
	"own-native/macho/game-mac-x64.dylib",
}

// ownDSYM is a thin dSYM below testdata/macho.
const ownDSYM = "libgame.dylib.dSYM/Contents/Resources/DWARF/libgame.dylib"

func TestGoldens(t *testing.T) {
	formattest.Goldens(t, &Format, formattest.Fixture(t, "macho"), nil, known)
	formattest.Goldens(t, &Format, formattest.Fixture(t, "own-native/macho"), nil, known)
}

func TestOwnGoldens(t *testing.T) {
	folder := formattest.Testdata(t, "macho")
	for _, n := range []string{"libgame-fat.dSYM", "libgame-fat64.dSYM"} {
		for _, arch := range []string{"arm64", "x86_64"} {
			formattest.GoldenOf(t, &Format, formattest.Input(t, filepath.Join(folder, n)), filepath.Join(folder, "libgame-fat.dSYM."+arch+".golden.json"), nil)
		}
	}
	formattest.GoldenOf(t, &Format, formattest.Input(t, filepath.Join(folder, filepath.FromSlash(ownDSYM))), filepath.Join(folder, "libgame.dylib.dSYM.golden.json"), nil)
	mapped := filepath.Join(folder, "objects", "libmapped.dylib")
	formattest.GoldenOf(t, &Format, formattest.Beside(t, mapped), mapped+".golden.json", known(t, mapped))
}

func TestOwnConformance(t *testing.T) {
	var paths []string
	for _, n := range []string{ownDSYM, "libgame-fat64.dSYM", "objects/libmapped.dylib", "objects/engine.o"} {
		paths = append(paths, formattest.Testdata(t, "macho/"+n))
	}
	formattest.Run(t, &Format, paths...)
}

func TestConformance(t *testing.T) {
	formattest.Run(t, &Format, formattest.Fixtures(t,
		"macho/symbolic/crash",
		"macho/samply/simple/main.dSYM",
		"macho/symbolic/Example.framework.dSYM",
		"macho/datadog/single-arch-DDTest",
		"own-native/macho/game-fat.dSYM",
		"own-native/macho/game-fat64.dSYM",
		"own-native/macho/game-mac-x64.dylib",
	)...)
}

func TestOracle(t *testing.T) { formattest.Oracles(t, &Format, fixtures, known) }
