package jobs

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// inspect gives the verdict that ingest gives: the same exit code and the same words, for every format.
func TestInspectVerdict(t *testing.T) {
	t.Parallel()
	elf, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	const sym = "MODULE Linux arm64 0102030405060708090A0B0C0D0E0F100 libx.so\nFUNC 1000 40 0 f\n"
	const mapping = "# compiler: R8\n# pg_map_id: 1234567\na.A -> a:\n    int b -> c\n"
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"lib/good.so": string(elf), "lib/broken.so": string(elf[:700])} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		code int
	}{
		"good.so":        {string(elf), 0},
		"broken.so":      {string(elf[:len(elf)/3]), 3},
		"libs.zip":       {archive.String(), 3},
		"cut.zip":        {archive.String()[:archive.Len()/2], 3},
		"good.sym":       {sym + "1000 10 4 0\n", 0},
		"broken.sym":     {sym + strings.Repeat("1000 what\n", 9), 3},
		"mapping.txt":    {mapping, 0},
		"broken.txt":     {mapping + strings.Repeat("    no member\n", 90), 3},
		"app.js.map":     {`{"version":3,"sources":["a"],"names":[],"mappings":"AAAA"}`, 0},
		"broken.js.map":  {`{"version":3,"sources":["a"],"names":[],"mappings":"AAAA,ACAA"}`, 3},
		"names.json":     {`["Cart","aa"]`, 0},
		"broken.json":    {`["Cart","aa"` + strings.Repeat(`,"b","c"`, 20000) + `,"d"]`, 3},
		"unknown.binary": {"nothing that a format knows", 0},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			report, _ := mustRun(t, []int{c.code}, "--store", filepath.Join(t.TempDir(), "store"), "ingest", file, "--report", "-")
			_, said := mustRun(t, []int{c.code}, "inspect", file)
			var r struct{ Rejected []struct{ Error string } }
			if err := json.Unmarshal([]byte(report), &r); err != nil || len(r.Rejected) > 0 != (c.code != 0) {
				t.Fatalf("%v: %s", err, report)
			}
			for _, rejected := range r.Rejected {
				if !strings.Contains(said, fmt.Sprintf(": %s\n", rejected.Error)) {
					t.Errorf("inspect says %q, ingest %q", said, rejected.Error)
				}
			}
		})
	}
}

// The same holds for the objects of testdata, whole and damaged: what a run rejects, inspect ends with code 3 for.
func TestInspectVerdictOfDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	random := rand.New(rand.NewPCG(3, 5))
	for _, file := range []string{"elf/libgame-arm64-stripped.so", "elf/libgame-x86-dw4.so", "elf/archive/libgame.a", "macho/libgame.dylib.dSYM/Contents/Resources/DWARF/libgame.dylib",
		"r8/mapping.txt", "js/app.min.js.map", "js/index.android.bundle.hbc.map", "dart/app.android-arm64.symbols"} {
		whole, err := os.ReadFile(filepath.Join(formattest.Root(), "testdata", filepath.FromSlash(file)))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		noise := bytes.Clone(whole)
		for range 40 {
			noise[random.IntN(len(noise))] = byte(random.Uint32())
		}
		for what, b := range map[string][]byte{"whole": whole, "cut": whole[:len(whole)*2/3], "noise": noise} {
			name := strings.ReplaceAll(file, "/", "-")
			name = what + "-" + name
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	report, _ := mustRun(t, []int{0, 3}, "--store", filepath.Join(t.TempDir(), "store"), "--lake", "off", "ingest", dir, "--report", "-")
	var r struct{ Rejected []struct{ URL string } }
	if err := json.Unmarshal([]byte(report[strings.LastIndex(strings.TrimSpace(report), "\n")+1:]), &r); err != nil {
		t.Fatal(err)
	}
	rejected := 0
	for _, name := range names {
		want := 0
		for _, bad := range r.Rejected {
			if strings.Contains(bad.URL, name) {
				want = 3
			}
		}
		if want != 0 {
			rejected++
		}
		mustRun(t, []int{want}, "inspect", filepath.Join(dir, name))
	}
	if len(names) < 20 || rejected == 0 || rejected == len(names) {
		t.Errorf("%d of %d objects are rejected", rejected, len(names))
	}
}
