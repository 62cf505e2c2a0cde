package all

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

var update = flag.Bool("update", false, "rewrite testdata/stacks/*.expected.txt")

// oracle answers from what llvm-symbolizer recorded for the objects that the
// stacks of testdata name.
type oracle map[string]map[uint64][]symbol.Frame

func (o oracle) load(t *testing.T, id, arch, object string) {
	data, err := os.ReadFile(formattest.Testdata(t, object+".golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Addr   string
			Frames []struct {
				Linkage, Demangled, File string
				Line, Column             uint32
			}
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	at := map[uint64][]symbol.Frame{}
	for _, c := range golden.Cases {
		addr, err := strconv.ParseUint(c.Addr, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		at[addr] = []symbol.Frame{}
		for _, f := range c.Frames {
			at[addr] = append(at[addr], symbol.Frame{Function: f.Demangled, Linkage: f.Linkage, File: f.File, Line: f.Line, Column: f.Column})
		}
	}
	o[id], o["libgame.so "+arch] = at, at
}

func (o oracle) answer(t *testing.T, f *report.Frame) symbol.Answer {
	for _, name := range f.Image {
		at, known := o[name]
		if !known {
			at, known = o[name+" "+f.Arch]
		}
		if !known {
			continue
		}
		value := f.At.Value
		if f.At.Space == symbol.Loaded { // the images of testdata begin at 0
			value -= f.At.Load
		}
		frames, recorded := at[value]
		if !recorded {
			t.Errorf("%s at %#x (reported %#x): not in the golden, add it to testdata/golden.go", name, f.At.Value, f.Raw)
		}
		return symbol.Answer{Status: symbol.Found, Frames: frames}
	}
	return symbol.Answer{Status: symbol.NoArtifact}
}

// TestStacks symbolicates the stacks of testdata by the oracle and compares
// the text. The stepped addresses are in the goldens only where the step is right.
func TestStacks(t *testing.T) {
	o := oracle{}
	o.load(t, "564bb6c8be48eea9d9db622b8689806eea5af3c7", "arm64", "elf/libgame-arm64-dw5.so")
	o.load(t, "04ddfef9bd1d2393a85438564111bcdfd0d4cfed", "arm", "elf/libgame-armv7thumb-dw5.so")
	o.load(t, "0a900536e7746c31ae5bd3d3916d09002c8dbf1b", "x86_64", "elf/libgame-x64-dw5.so")
	o.load(t, "4c4c4445-5555-3144-a15a-97db26a4f913", "", "macho/libgame.dylib.dSYM")
	o["libgame.so "] = o["libgame.so arm64"]
	files, err := filepath.Glob(filepath.Join(formattest.Testdata(t, "stacks"), "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".expected.txt") })
	if len(files) < 7 {
		t.Fatalf("%d stacks", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			input, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			for _, s := range split(t, string(input), report.Options{}) {
				answers := make([][]symbol.Answer, len(s.Threads))
				for i := range s.Threads {
					for j := range s.Threads[i].Frames {
						answers[i] = append(answers[i], o.answer(t, &s.Threads[i].Frames[j]))
					}
				}
				if err := report.Print(&out, s, answers); err != nil {
					t.Fatal(err)
				}
			}
			path := strings.TrimSuffix(file, ".txt") + ".expected.txt"
			if *update {
				if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFixtureStacks asks for exactly the addresses that the recorded crash of
// one program has in each of its three forms.
func TestFixtureStacks(t *testing.T) {
	data, err := os.ReadFile(formattest.Fixture(t, "own-native/stacks/tombstone-arm64.expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		ID     string `json:"build_id"`
		Frames []struct{ Addr string }
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	for name, format := range map[string]string{"tombstone-arm64.txt": "tombstone", "logcat-arm64.txt": "logcat", "old-arm64.txt": "logcat"} {
		input, err := os.ReadFile(formattest.Fixture(t, "own-native/stacks/"+name))
		if err != nil {
			t.Fatal(err)
		}
		all := framed(split(t, string(input), report.Options{}))
		if len(all) != 1 || all[0].Format() != format || len(all[0].Threads) != 1 {
			t.Fatalf("%s: %s", name, dump(all))
		}
		frames := all[0].Threads[0].Frames
		for i, want := range expected.Frames {
			f := frames[i]
			if got := "0x" + strconv.FormatUint(f.At.Value, 16); got != want.Addr || f.Arch != "arm64" || f.Image[len(f.Image)-1] != "libgame.so" {
				t.Errorf("%s: frame %d: %s of %q %s, want %s", name, i, got, f.Image, f.Arch, want.Addr)
			}
			if name != "old-arm64.txt" && f.Image[0] != expected.ID {
				t.Errorf("%s: frame %d: asks for %q first", name, i, f.Image)
			}
		}
	}
	for name, want := range map[string]int{"arm": 8, "x86": 8, "x86_64": 9} {
		input, err := os.ReadFile(formattest.Fixture(t, "tombstones/aosp-"+name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		all := framed(split(t, string(input), report.Options{}))
		if len(all) != 1 || all[0].Arch != name || len(all[0].Threads) != 1 || len(all[0].Threads[0].Frames) != want {
			t.Errorf("%s: %s", name, dump(all))
		}
	}
}
