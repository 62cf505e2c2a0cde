package elf

import (
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// fixtures are the ELF objects among the development fixtures that have an artifact.
var fixtures = []string{
	"elf/bugsnag/arm64-v8a/libentrypoint.so",
	"elf/bugsnag/armeabi-v7a/libentrypoint.so",
	"elf/datadog/dyn_aarch64",
	"elf/datadog/dyn_aarch64.debug",
	"elf/datadog/exec_arm_big",
	"elf/datadog/go_x86_64_both_gnu_and_go_build_id",
	"elf/datadog/go_x86_64_only_go_build_id",
	"elf/dump_syms/basic.dbg",
	"elf/dump_syms/basic.dwz",
	"elf/dump_syms/basic.full",
	"elf/dump_syms/basic.minidebuginfo",
	"elf/otel/inline",
	"elf/otel/inline-compressed-dwarf",
	"elf/samply/example-linux-fallback",
	"elf/samply/issue-776-nonpie-aarch64",
	"elf/samply/with-dwo/main",
	"elf/symbolic/crash",
	"elf/symbolic/crash.debug",
	"elf/symbolic/crash.debug-zlib",
	"elf/symbolic/crash.debug-zstd",
	"elf/symbolic/cross_language_lto.debug",
	"elf/symbolic/debuglink/elf_with_compressed_debuglink",
	"elf/symbolic/debuglink/elf_with_debuglink",
	"elf/symbolic/debuglink/elf_without_debuglink",
	"elf/symbolic/dynsyms_only",
	"own-native/elf/libgame-arm64-dw4-zlib.so",
	"own-native/elf/libgame-arm64-dw4.so",
	"own-native/elf/libgame-arm64-dw5-zstd.so",
	"own-native/elf/libgame-arm64-dw5.so",
	"own-native/elf/libgame-arm64-dwarf64.so",
	"own-native/elf/libgame-arm64-linetables.so",
	"own-native/elf/libgame-arm64-thinlto.so",
	"own-native/elf/libgame-armv7-dw4.so",
	"own-native/elf/libgame-armv7thumb-dw5.so",
	"own-native/elf/libgame-riscv64-dw5.so",
	"own-native/elf/libgame-x64-dw5.so",
	"own-native/elf/libgame-x64-typeunits.so",
	"own-native/elf/libgame-x86-dw4.so",
	"own-native/elf/separate/libgame.so",
	"own-native/elf/separate/sep.dbg",
	"own-native/elf/split-dw5/libgame.so",
}

func TestConformance(t *testing.T) {
	formattest.Run(t, &Format, formattest.Fixtures(t,
		"elf/datadog/exec_arm_big",
		"elf/dump_syms/basic.dwz",
		"elf/dump_syms/basic.minidebuginfo",
		"elf/otel/inline-compressed-dwarf",
		"elf/otel/inline-big-fake-compressed-dwarf",
		"elf/samply/with-dwo/main",
		"elf/symbolic/crash.debug-zlib",
	)...)
}

func TestOwnConformance(t *testing.T) {
	var paths []string
	for _, n := range []string{
		"libgame-arm64-dw5-zstd.so",
		"libgame-arm64be-dw5.so",
		"libgame-x64-zdebug.so",
		"libgame-x86-dw4.so",
		"minidebuginfo/libgame.so",
		"obj/engine-arm.o",
		"obj/engine-riscv64.o",
		"obj/engine-x64.o",
		"split-dw4/libgame.so.dwp",
		"split-dw5/libgame.so.dwp",
		"dwz-dw5/common.debug",
	} {
		paths = append(paths, formattest.Testdata(t, "elf/"+n))
	}
	formattest.Run(t, &Format, paths...)
}

func TestGoldens(t *testing.T) {
	formattest.Goldens(t, &Format, formattest.Fixture(t, "elf"), nil, known)
	formattest.Goldens(t, &Format, formattest.Fixture(t, "own-native/elf"), nil, known)
}

func TestOwnGoldens(t *testing.T) {
	formattest.Goldens(t, &Format, formattest.Testdata(t, "elf"), nil, known)
}

func TestOracle(t *testing.T) { formattest.Oracles(t, &Format, fixtures, known) }
