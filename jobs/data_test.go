package jobs

import (
	"debug/elf"
	"debug/macho"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
)

// A position in data, or in the linker's stubs, is a hole: its reason names the section. A stripped file and a dSYM know
// it too. Positions behind all sections are outside.
func TestDataPositions(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"elf/libgame-x64-dw5.so", "elf/libgame-arm64-stripped.so", "elf/libgame-armv7-dw4.so", "macho/libgame.dylib.dSYM"} {
		path := formattest.Testdata(t, file)
		want, end := elfParts(t, path)
		if strings.HasPrefix(file, "macho") {
			want, end = machoParts(t, filepath.Join(path, "Contents/Resources/DWARF/libgame.dylib"))
		}
		store := filepath.Join(t.TempDir(), "store")
		mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", path)
		args := []string{"--store", store, "--json", "lookup", strings.TrimSuffix(filepath.Base(path), ".dSYM")}
		var sections []string
		for address, section := range want {
			args, sections = append(args, fmt.Sprintf("%#x", address)), append(sections, section)
		}
		args, sections = append(args, fmt.Sprintf("%#x", end+1<<20)), append(sections, "")
		out, _ := mustRun(t, []int{0}, args...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != len(sections) || len(want) < 8 {
			t.Fatalf("%s: %d answers for %d sections", file, len(lines), len(sections))
		}
		for i, line := range lines {
			var a wire.Answer
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatal(err)
			}
			status := symbol.Hole
			if sections[i] == "" {
				status = symbol.Outside
			}
			if a.Status != status || !strings.Contains(a.Reason, "section "+sections[i]) && status == symbol.Hole {
				t.Errorf("%s: %s in %q: %s: %s", file, a.Position, sections[i], a.Status, a.Reason)
			}
		}
	}
}

// elfParts returns the first and last addresses of the sections without code of a source, and the end of all.
func elfParts(t *testing.T, path string) (parts map[uint64]string, end uint64) {
	t.Helper()
	parts = map[uint64]string{}
	f, err := elf.Open(path)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Size == 0 || s.Flags&elf.SHF_TLS != 0 {
			continue
		}
		end = max(end, s.Addr+s.Size)
		if s.Flags&elf.SHF_EXECINSTR == 0 || strings.HasPrefix(s.Name, ".plt") {
			parts[s.Addr], parts[s.Addr+s.Size-1] = s.Name, s.Name
		}
	}
	return parts, end
}

// machoParts does the same with a Mach-O file.
func machoParts(t *testing.T, path string) (parts map[uint64]string, end uint64) {
	t.Helper()
	parts = map[uint64]string{}
	f, err := macho.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Seg == "__DWARF" || s.Size == 0 {
			continue
		}
		end = max(end, s.Addr+s.Size)
		if s.Flags&0x80000400 == 0 || strings.Contains(s.Name, "stub") {
			parts[s.Addr], parts[s.Addr+s.Size-1] = s.Seg+","+s.Name, s.Seg+","+s.Name
		}
	}
	return parts, end + 1<<24
}
