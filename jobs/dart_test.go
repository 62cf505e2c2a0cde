package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// dartEvent is an exception of a real Flutter app, with what llvm-symbolizer
// says about each of its frames.
type dartEvent struct {
	Exceptions []struct {
		Frames []struct {
			Addr     string `json:"instruction_address"`
			Expected struct {
				Addr   string
				Frames []wire.Frame
			}
		}
	}
	Image struct {
		UUID, Arch string
		Base       string `json:"base_addr"`
	} `json:"binary_image"`
}

// chains are the answers of all frames of all exceptions, innermost first, as
// Flutter's tool prints them, without numbers.
func (e *dartEvent) chains() (all [][]string) {
	for _, x := range e.Exceptions {
		for _, f := range x.Frames {
			all = append(all, flutterLines(f.Expected.Frames))
		}
	}
	return all
}

// flutterLines are frames as Flutter's tool prints them, without numbers.
func flutterLines(frames []wire.Frame) (lines []string) {
	for _, f := range frames {
		place := f.File
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		if f.Column > 0 {
			place += fmt.Sprintf(":%d", f.Column)
		}
		if place == "" {
			lines = append(lines, f.Linkage) // a stub, or a function without an entry in DWARF
			continue
		}
		lines = append(lines, fmt.Sprintf("%s (%s)", f.Linkage, place))
	}
	return lines
}

// tableNames are what the symbol table of an iOS program, which llvm-symbolizer prefers for
// the outermost function, spells otherwise than DWARF: an underscore less, a number more.
var tableNames = regexp.MustCompile(`^(#\d+ +)?_?(.*?)( \(#\d+\))?( \([^()]*\)|)(?:\+0x[0-9a-f]+)?$`)

func likeTable(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = tableNames.ReplaceAllString(l, "$1$2$4")
	}
	return out
}

func dartEvents(t *testing.T) map[string]*dartEvent {
	files, err := filepath.Glob(formattest.Fixture(t, "dart/measure") + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*dartEvent{}
	for _, file := range files {
		if strings.Contains(file, ".golden.") {
			continue
		}
		e := new(dartEvent)
		readJSONFile(t, file, e)
		all[strings.TrimSuffix(file, ".json")] = e
	}
	if len(all) != 10 {
		t.Fatalf("%d events", len(all))
	}
	return all
}

func dartSymbols(t *testing.T) []string {
	return []string{"--symbols", formattest.Fixture(t, "dart/measure/app.android-arm64.symbols"), "--symbols", formattest.Fixture(t, "dart/measure/App.framework.dSYM")}
}

// TestDartEvents prints the traces of ten events as Flutter's tool does: every line.
func TestDartEvents(t *testing.T) {
	frames := 0
	for file, e := range dartEvents(t) {
		raw, err := os.ReadFile(file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		chains := e.chains()
		n := 0
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(line, "    #") {
				if strings.HasPrefix(line, "***") {
					n = 0
				}
				want = append(want, line)
				continue
			}
			for _, f := range chains[0] {
				want = append(want, fmt.Sprintf("#%-6d %s", n, f))
				n++
			}
			chains = chains[1:]
			frames++
		}
		if len(chains) != 0 {
			t.Fatalf("%s: %d frames are not in the text", file, len(chains))
		}
		out, _ := mustRun(t, []int{0}, append([]string{"symbolicate", file + ".txt"}, dartSymbols(t)...)...)
		got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if strings.Contains(filepath.Base(file), "ios") {
			want, got = likeTable(want), likeTable(got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
	if frames != 172 {
		t.Errorf("%d frames, want 172", frames)
	}
}

// TestDartNative leads what monitors capture of the same events, without
// knowing of Dart, to the same lines: return addresses, in the forms of both systems, and
// offsets from the snapshot's instructions.
func TestDartNative(t *testing.T) {
	t.Parallel()
	const isolateAndroid, isolateIOS = 0xc6a40, 0xe8c0
	for file, e := range dartEvents(t) {
		ios := strings.Contains(filepath.Base(file), "ios")
		base := hexNumber(t, e.Image.Base)
		isolate := uint64(isolateAndroid)
		if ios {
			isolate = isolateIOS
		}
		type form struct {
			name string
			line func(i int, addr uint64) string
			args []string
		}
		artifact := []string{"--artifact", map[bool]string{false: "app.android-arm64.symbols", true: "App.framework.dSYM"}[ios]}
		start := []string{"--isolate-start", fmt.Sprintf("%#x", base+isolate)}
		forms := []form{
			{"symbol", func(_ int, a uint64) string {
				return fmt.Sprintf("_kDartIsolateSnapshotInstructions+%#x", a-base-isolate)
			}, artifact},
			{"absolute", func(_ int, a uint64) string { return fmt.Sprintf("%#x", a) }, append(start, artifact...)},
		}
		if ios {
			forms = append(forms,
				form{"list", func(_ int, a uint64) string {
					return fmt.Sprintf("0x%016x App 0x%x + %d [%s]", a, base, a-base, e.Image.UUID)
				}, nil},
				form{"numbered", func(i int, a uint64) string { return fmt.Sprintf("%d   App   0x%016x 0x%x + %d", i, a, base, a-base) }, artifact},
				form{"named", func(i int, a uint64) string {
					return fmt.Sprintf("%d   App   0x%016x kDartIsolateSnapshotInstructions + %d", i, a, a-base-isolate)
				}, artifact})
		} else {
			forms = append(forms,
				form{"monitor", func(_ int, a uint64) string {
					return fmt.Sprintf("pc 0x%016x libapp.so [arm64-v8a::%s]", a-base, e.Image.UUID)
				}, nil},
				form{"tombstone", func(i int, a uint64) string {
					return fmt.Sprintf("      #%02d pc %016x  /data/app/x/lib/arm64/libapp.so (BuildId: %s)", i, a-base, e.Image.UUID)
				}, []string{"--frame0", "return"}})
		}
		for _, form := range forms {
			var text strings.Builder
			n := 0
			for _, x := range e.Exceptions {
				for _, f := range x.Frames {
					text.WriteString(form.line(n, hexNumber(t, f.Addr)+1) + "\n") // the events' are stepped by one
					n++
				}
			}
			input := filepath.Join(t.TempDir(), "stack.txt")
			if err := os.WriteFile(input, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			out, _ := mustRun(t, []int{0}, append(append([]string{"--json", "symbolicate", input}, dartSymbols(t)...), form.args...)...)
			var got, want []string
			for _, s := range wireStacks(t, out) {
				for _, th := range s.Threads {
					for _, f := range th.Frames {
						got = append(got, flutterLines(f.Frames)...)
					}
				}
			}
			for _, chain := range e.chains() {
				want = append(want, chain...)
			}
			if diff := cmp.Diff(likeTable(want), likeTable(got)); diff != "" {
				t.Errorf("%s as %s: %s", filepath.Base(file), form.name, diff)
			}
		}
	}
}

// TestDartLive symbolicates 16 failures of a program of Dart 3.13, whose
// snapshots have one symbol in place of two. Two oracles: llvm-symbolizer's chain of each
// frame, and what the virtual machine itself printed for the same failure.
func TestDartLive(t *testing.T) {
	var live struct {
		Cases []struct {
			Name     string
			Raw      string
			Symbolic string `json:"vm_symbolic"`
			Frames   []struct {
				Chain []struct {
					Function, File string
					Line           uint32
				}
			}
		}
	}
	readJSONFile(t, formattest.Testdata(t, "dart/stacks.json"), &live)
	if len(live.Cases) != 16 {
		t.Fatalf("%d cases", len(live.Cases))
	}
	symbols := formattest.Testdata(t, "dart/sass.x64.symbols.gz")
	known := 0
	for _, c := range live.Cases {
		input := filepath.Join(t.TempDir(), "stack.txt")
		if err := os.WriteFile(input, []byte(c.Raw), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := mustRun(t, []int{0}, "symbolicate", "--symbols", symbols, input)
		n, frame := 0, 0
		var want []string
		for line := range strings.Lines(c.Raw) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(line, "    #") {
				want = append(want, line)
				continue
			}
			for _, f := range c.Frames[frame].Chain {
				place := f.File
				if f.Line > 0 {
					place += fmt.Sprintf(":%d", f.Line)
				}
				want = append(want, fmt.Sprintf("#%-6d %s (%s)", n, f.Function, place))
				n++
			}
			frame++
		}
		if frame != len(c.Frames) {
			t.Fatalf("%s: %d frames of %d are in the text", c.Name, frame, len(c.Frames))
		}
		// The fixture shortened the path of the machine that built the program.
		out = strings.ReplaceAll(out, "file:///home/runner/work/", "file:///build/")
		got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
			continue
		}
		// The machine's own trace folds frames of the library: what it shows of packages must come in its order.
		rest := got
		for line := range strings.Lines(c.Symbolic) {
			place, function, ok := strings.Cut(strings.TrimSpace(line), "  ")
			if !ok || !strings.HasPrefix(place, "package:") {
				continue
			}
			known++
			function = strings.ReplaceAll(strings.TrimSpace(function), "<fn>", "<anonymous closure>")
			suffix := fmt.Sprintf("%s (%s)", function, strings.Replace(place, " ", ":", 1))
			for len(rest) > 0 && !strings.HasSuffix(rest[0], suffix) {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				t.Errorf("%s: %s is not printed in its place", c.Name, suffix)
				break
			}
		}
	}
	if known < 500 {
		t.Errorf("%d lines of the machine's own traces were compared", known)
	}
}

// TestDartNames gives an exception's classes their names back, by a map that
// lies beside the symbols.
func TestDartNames(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"obfuscation-map.json", "measure/app.android-arm64.symbols"} {
		b, err := os.ReadFile(formattest.Fixture(t, "dart/"+name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const trace = `*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***
pid: 4242, tid: 4270, name 1.ui
os: android arch: arm64 comp: yes sim: no
build_id: 'cde83d061ce50231ccbd75ad0ec0f20c'
isolate_dso_base: 7baa6e0000, vm_dso_base: 7baa6e0000
isolate_instructions: 7baa7a6a40, vm_instructions: 7baa790000
`
	in := "I/flutter ( 123): Unhandled exception:\nI/flutter ( 123): eea: type 'aa' is not a subtype of type 'List<ab, xF?>' of 'a'\nsome a, b and 'aa'\n" +
		trace + "    #00 abs 0000007baa845767 virt 0000000000165767 <unknown>\n<asynchronous suspension>\n    #01 abs 0000007baa790767 /data/app/libapp.so\n"
	want := "I/flutter ( 123): Unhandled exception:\nI/flutter ( 123): Cart: type 'Widget' is not a subtype of type 'List<MaterialApp, Scaffold?>' of 'a'\nsome a, b and 'aa'\n" + trace +
		"#0      StackZoneSpecification._currentTrace (/Users/abhaysood/.pub-cache/hosted/pub.dev/stack_trace-1.12.1/lib/src/stack_zone_specification.dart:222:33)\n<asynchronous suspension>\n#1      stub InitAsyncStar+0x27\n"
	input := filepath.Join(t.TempDir(), "stack.txt")
	if err := os.WriteFile(input, []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _ := mustRun(t, []int{0}, "symbolicate", "--symbols", folder, input)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// wireStacks reads what --json printed.
func wireStacks(t *testing.T, out string) (all []wire.Stack) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var s wire.Stack
		err := d.Decode(&s)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}
