package all

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// one gives the only stack with frames in text.
func one(t *testing.T, text string, o report.Options) *report.Report {
	t.Helper()
	all := framed(split(t, text, o))
	if len(all) != 1 {
		t.Fatalf("%d stacks: %s", len(all), dump(all))
	}
	return all[0]
}

const (
	gameUUID = "4c4c44d8-5555-3144-a18c-9d79e6bf39ea"
	gameLoad = 0x104a2c000
)

// place is a frame as one line: names, raw address, and where it is looked for.
func place(f *report.Frame) string {
	at := fmt.Sprintf("%#x", f.At.Value)
	switch {
	case f.At.Space == symbol.Anchored:
		at = fmt.Sprintf("%s+%#x", f.At.Anchor, f.At.Value)
	case f.At.Load == ^uint64(0):
		at += " nowhere"
	default:
		at = fmt.Sprintf("%#x+%#x", f.At.Load, f.At.Value-f.At.Load)
	}
	return fmt.Sprintf("%s %#x %s", strings.Join(f.Image, ","), f.Raw, at)
}

func TestAppleLines(t *testing.T) {
	const found = gameUUID + ",game 0x104a3004c 0x104a2c000+0x4048"
	const named = "game 0x104a3004c 0x104a2c000+0x404"
	list := "[  0] 4C4C44D8-5555-3144-A18C-9D79E6BF39EA 0x0000000104a2c000 /private/var/game.app/game\n[  1] A1B2C3D4-0000-3333-8888-123456789ABC 0x00000001b9cd8000 /usr/lib/dyld\n"
	for _, c := range []struct{ text, want string }{
		{"0x0000000104a3004c game 0x104a2c000 + 16460", named + "a"},
		{"0x0000000104a3004c game 0x104a2c000+16460", named + "a"},
		{"0x0000000104a3004c game 0x104a2c000 +16460", named + "a"},
		{"0x0000000104a3004c game 0x104a2c000 + 0x404c", named + "a"},
		{"0x0000000104a3004c game 0x104a2c000 + 16460 [4C4C44D8-5555-3144-A18C-9D79E6BF39EA]", gameUUID + "," + named + "a"},
		{"0x0000000104a3004c game 0x104a2c000 + 16460 <4c4c44d855553144a18c9d79e6bf39ea>", gameUUID + "," + named + "a"},
		{"0x0000000104a3004c game 0x104a2c000 + 16460 4c4c44d855553144a18c9d79e6bf39ea", gameUUID + "," + named + "a"},
		{"0x0000000104a3004c game + 16460", named + "a"},
		{"0   game   0x0000000104a3004c game + 16460", named + "a"},
		{"game 0x104a3004c 0x104a2c000 + 16460 [4c4c44d8-5555-3144-a18c-9d79e6bf39ea]", gameUUID + "," + named + "a"},
		{"  3   My Game   0x0000000104a3004c 0x104a2c000 + 16460 (game::f() + 12)", "My Game 0x104a3004c 0x104a2c000+0x404a"},
		{"CoreFoundation 0x1832c0d2c 0x183190000 + 1248556 [ABCDEF01-2345-6789-ABCD-EF0123456789]", "abcdef01-2345-6789-abcd-ef0123456789,CoreFoundation 0x1832c0d2c 0x183190000+0x130d2a"},
		{"1   CoreFoundation   0x00007fff349f505e __exceptionPreprocess + 250", "CoreFoundation 0x7fff349f505e __exceptionPreprocess+0xfa"},
		{"2   Foundation   0x00007fff97604cac -[NSURLConnection a:b:] + 227", "Foundation 0x7fff97604cac -[NSURLConnection a:b:]+0xe3"},
		{"0x104a3004c game 0x104a2c000 + 16460\r", named + "a"},
		{list + "0 0x104a3004c", gameUUID + ",game 0x104a3004c 0x104a2c000+0x404a"},
		{list + "\n0 0x104a3004c\n1 0x1b9cdee3c", gameUUID + ",game 0x104a3004c 0x104a2c000+0x404a\na1b2c3d4-0000-3333-8888-123456789abc,dyld 0x1b9cdee3c 0x1b9cd8000+0x6e3a"},
		{"0x104a2c000 - 0x104a3bfff game arm64  <4c4c44d855553144a18c9d79e6bf39ea> /private/var/game\n0 0x104a3004c", found},
		{"0 0x0000000104a3004c\n" + list, gameUUID + ",game 0x104a3004c 0x104a2c000+0x404a"},
		{"0   game   0x0000000104a3004c 0x104a2c000 + 16460\nBinary Images:\n0x104a2c000 - 0x104a3bfff game arm64  <4c4c44d855553144a18c9d79e6bf39ea> /private/var/game", found},
	} {
		s := one(t, c.text, report.Options{})
		var got []string
		for _, th := range s.Threads {
			for i := range th.Frames {
				f := &th.Frames[i]
				got = append(got, place(f))
				if f.Kind != symbol.MachO {
					t.Errorf("%q is of kind %q", c.text, f.Kind)
				}
			}
		}
		if s.Format() != "apple-backtrace" || strings.Join(got, "\n") != c.want {
			t.Errorf("%q: %s %q, want %q", c.text, s.Format(), got, c.want)
		}
	}
	for _, text := range []string{
		"libfoo.so 0x1234", "0x1234 foo", "Process: com.example.game, PID: 4242", "#0 0x55a4bce  (/system/lib64/libcart.so+0x25bce)",
		"pc 0x0000000000022074 libc.so [arm64-v8a::77e6]", "{ not json\n", "Thread 3 is not a header", "x0: 0x0000000104a3004c x1: 0x0000000000000001", "f+1 0x10 + 3",
	} {
		for _, s := range split(t, text, report.Options{}) {
			if strings.HasPrefix(s.Format(), "apple") || s.Format() == "ips" {
				t.Errorf("%q is read as %s", text, s.Format())
			}
		}
	}
}

// What the text does not say is taken from the options.
func TestAppleOptions(t *testing.T) {
	o := report.Options{Artifacts: []string{gameUUID}}
	s := one(t, "0x104a3004c game 0x104a2c000 + 16460\n0x104a30050 game 0x104a2c000 + 16464\n", o)
	if got := s.Threads[0].Frames[1].Image; len(got) != 2 || got[1] != gameUUID {
		t.Errorf("asks for %q", got)
	}
	s = one(t, "0x104a3004c game 0x104a2c000 + 16460\n0x1832c0d2c CoreFoundation 0x183190000 + 1248556\n", o)
	if got := s.Threads[0].Frames[1].Image; len(got) != 1 {
		t.Errorf("another image asks for %q", got)
	}
	o.Frame0 = report.Exact
	if got := one(t, "0x104a3004c game 0x104a2c000 + 16460\n", o).Threads[0].Frames[0].At.Value; got != 0x104a3004c {
		t.Errorf("an exact frame is looked for at %#x", got)
	}
}

// The recorded crash asks for the same places in both forms.
func TestAppleFixture(t *testing.T) {
	data, err := os.ReadFile(formattest.Fixture(t, "own-native/stacks/crash.expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		UUID   string
		Frames []struct {
			Offset uint64 `json:"imageOffset"`
		}
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	for name, format := range map[string]string{"crash.crash": "apple-crash", "crash.ips": "ips"} {
		input, err := os.ReadFile(formattest.Fixture(t, "own-native/stacks/"+name))
		if err != nil {
			t.Fatal(err)
		}
		s := one(t, string(input), report.Options{})
		if s.Format() != format || len(s.Threads) != 1 || len(s.Threads[0].Frames) != len(expected.Frames)+1 {
			t.Fatalf("%s: %s", name, dump([]*report.Report{s}))
		}
		for i, want := range expected.Frames {
			f := &s.Threads[0].Frames[i]
			at := want.Offset
			if i > 0 {
				at -= 4
			}
			if f.Image[0] != strings.ToLower(expected.UUID) || f.At.Value-f.At.Load != at || f.Raw != gameLoad+want.Offset || f.Arch != "arm64" {
				t.Errorf("%s: frame %d: %s, want +%#x", name, i, place(f), at)
			}
		}
	}
}

// KSCrash's JSON and the text that KSCrash itself made of it name the same
// frames.
func TestKSCrash(t *testing.T) {
	for _, name := range []string{"Abort", "CorruptMemory", "NSException", "Zombie"} {
		path := filepath.Join(formattest.Fixture(t, "apple-crashes/kscrash"), name)
		forms := map[string]string{}
		for _, ext := range []string{".json", ".txt"} {
			input, err := os.ReadFile(path + ext)
			if err != nil {
				t.Fatal(err)
			}
			s := one(t, string(input), report.Options{})
			var b strings.Builder
			for _, th := range s.Threads {
				for i := range th.Frames {
					fmt.Fprintln(&b, i, place(&th.Frames[i]))
				}
			}
			forms[s.Format()] = b.String()
		}
		text := forms["apple-crash"]
		if name == "NSException" { // the text does not say that its first frame is a return address
			_, text, _ = strings.Cut(text, "\n")
			_, forms["kscrash"], _ = strings.Cut(forms["kscrash"], "\n")
		}
		if diff := cmp.Diff(text, forms["kscrash"]); diff != "" || text == "" {
			t.Errorf("%s (-text +json)\n%s", name, diff)
		}
	}
}

// Every frame of a report is found, as another parser of such reports finds them.
func TestPLCrashReporter(t *testing.T) {
	for _, name := range []string{"handcrafted", "XCDYouTubeKit-54"} {
		path := filepath.Join(formattest.Fixture(t, "apple-crashes/text"), name)
		input, err := os.ReadFile(path + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		snap, err := os.ReadFile(path + ".snap")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		uuids := map[string]bool{}
		lines := bufio.NewScanner(bytes.NewReader(snap))
		frames := regexp.MustCompile(`^ +instruction_addr: "(0x[0-9a-f]+)"`)
		ids := regexp.MustCompile(`uuid: "?([0-9a-f-]{36})`)
		for lines.Scan() {
			if m := frames.FindStringSubmatch(lines.Text()); m != nil {
				want = append(want, m[1])
			}
			if m := ids.FindStringSubmatch(lines.Text()); m != nil {
				uuids[m[1]] = true
			}
		}
		s := one(t, string(input), report.Options{})
		if s.Format() != "plcrashreporter" || s.Arch != "x86_64" {
			t.Errorf("%s: %s %s", name, s.Format(), s.Arch)
		}
		var got []string
		for _, th := range s.Threads {
			for i := range th.Frames {
				f := &th.Frames[i]
				if len(f.Image) == 0 {
					continue // "???": the other parser drops it
				}
				got = append(got, "0x"+strconv.FormatUint(f.Raw, 16))
				if len(f.Image) > 1 && !uuids[f.Image[0]] {
					t.Errorf("%s: %s", name, place(f))
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Backtraces of exceptions are return addresses from the first frame on, and
// documents end where they end.
func TestAppleBacktraces(t *testing.T) {
	const images = "\nBinary Images:\n0x104a2c000 - 0x104a3bfff game arm64e  <4c4c44d855553144a18c9d79e6bf39ea> /var/game\n"
	text := "Incident Identifier: 1\nCode Type:           ARM-64\n\nLast Exception Backtrace:\n0   game   0x104a3004c 0x104a2c000 + 16460\n1   game   0x104a30050 0x104a2c000 + 16464\n\n" +
		"Thread 0 name:   main\nThread 0 Crashed:\n0   game   0x104a3004c 0x104a2c000 + 16460\n\nThread 7:\n0   game   0x104a3004c f(int) + 12 (a.cpp:3)\n\nThread 0 crashed with ARM Thread State (64-bit):\n    x0: 0x0000000104a3004c   x1: 0x1\n" + images
	all := framed(split(t, text+"\n"+text+"after\n#00 pc 0010  a.so\n", report.Options{}))
	if len(all) != 3 || all[2].Format() != "backtrace" {
		t.Fatalf("%s", dump(all))
	}
	for _, s := range all[:2] {
		var at []uint64
		for _, th := range s.Threads {
			for _, f := range th.Frames {
				at = append(at, f.At.Value-f.At.Load)
			}
		}
		if diff := cmp.Diff([]uint64{0x4048, 0x404c, 0x404c, 0x404c}, at); diff != "" {
			t.Error(diff)
		}
		if th := s.Threads; th[1].ID != 0 || th[1].Name != "main" || th[2].ID != 7 {
			t.Errorf("%s", dump(all))
		}
	}
	ips := `{"cpuType":"ARM-64","threads":[{"frames":[{"imageOffset":16,"imageIndex":0},{"imageOffset":16,"imageIndex":0,"inline":true}]}],"lastExceptionBacktrace":[{"imageOffset":32,"imageIndex":0}],` +
		`"usedImages":[{"base":4096,"size":4096,"uuid":"4c4c44d8-5555-3144-a18c-9d79e6bf39ea","path":"/a/game"}]}`
	s := one(t, `{"bug_type":"309"}`+"\n"+ips+"\n", report.Options{})
	if len(s.Threads) != 2 || len(s.Threads[0].Frames) != 1 || s.Threads[0].Frames[0].At.Value != 4096+16 || s.Threads[1].Frames[0].At.Value != 4096+28 {
		t.Errorf("%s", dump([]*report.Report{s}))
	}
}

// A device lists the backtrace of an exception as addresses: they are frames by the list of images.
func TestAppleAddressList(t *testing.T) {
	const head = "Incident Identifier: 1\nCode Type: ARM-64 (Native)\n\nLast Exception Backtrace:\n"
	const tail = "\nThread 0 Crashed:\n0   ???   0x0000000000000014 0 + 20\n\nBinary Images:\n0x104a2c000 - 0x104a3bfff game arm64  <4c4c44d855553144a18c9d79e6bf39ea> /var/game\n" +
		"0x18f6c0000 - 0x18f7bffff CoreRaft arm64  <4c4c44d855553144a18c9d79e6bf39eb> /System/CoreRaft\n0x0 - 0xffffffffffffffff ??? (*) <00000000-0000-0000-0000-000000000000> ???\n"
	s := one(t, head+"(0x18f74c114 0x104a3004c\n0x104a30050 )\n"+tail, report.Options{})
	got := []string{s.Threads[0].Name}
	for _, th := range s.Threads {
		for i := range th.Frames {
			got = append(got, place(&th.Frames[i]))
		}
	}
	want := []string{"Last Exception Backtrace", "4c4c44d8-5555-3144-a18c-9d79e6bf39eb,CoreRaft 0x18f74c114 0x18f6c0000+0x8c110",
		gameUUID + ",game 0x104a3004c 0x104a2c000+0x4048", gameUUID + ",game 0x104a30050 0x104a2c000+0x404c", " 0x14 0+0x14"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(1, len(one(t, head+"(0x104a3004c game)\n"+tail, report.Options{}).Threads)); diff != "" {
		t.Error(diff)
	}

	found := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "inner", File: "/src/a.swift", Line: 3}, {Linkage: "_outer", File: "b.m"}}}
	for _, c := range []struct {
		list, want string
		answers    []symbol.Answer
	}{
		{"(0x18f74c114 0x104a3004c 0x104a30050 0x18f74c118)\n", "(0x18f74c114\n 0x104a3004c inner (in game) (a.swift:3)\n             _outer (in game) (b.m:0)\n" +
			" 0x104a30050 inner (in game) (a.swift:3)\n             _outer (in game) (b.m:0)\n 0x18f74c118)\n", []symbol.Answer{{}, found, found}},
		{"(0x104a3004c)\r\n", "(0x104a3004c inner (in game) (a.swift:3)\r\n             _outer (in game) (b.m:0))\r\n", []symbol.Answer{found}},
		{"0x18f74c114\n  0x104a3004c\n", "0x18f74c114\n  0x104a3004c inner (in game) (a.swift:3)\n             _outer (in game) (b.m:0)\n", []symbol.Answer{{}, found}},
	} {
		var out bytes.Buffer
		if err := report.Print(&out, one(t, head+c.list+tail, report.Options{}), [][]symbol.Answer{c.answers}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(head+c.want+tail, out.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// What stands below a backtrace says what the program's own image is, and of no other.
func TestAppleOwnImage(t *testing.T) {
	text := "Application received signal SIGSEGV\n(\n\t0   CoreRaft   0x0000000186d7a8f0 <redacted> + 160\n\t1   game   0x0000000104a3004c game + 16460\n\t2   game   0x0000000104a30050 -[Engine step] + 4\n)\n\n" +
		"dSYM UUID: 4C4C44D8-5555-3144-A18C-9D79E6BF39EA\nCPU Type: arm64\nSlide Address: 0x0000000100000000\nBinary Image: game\nBase Address: 0x0000000104a2c000\nafter\n"
	s := one(t, text, report.Options{})
	var got []string
	for i := range s.Threads[0].Frames {
		got = append(got, place(&s.Threads[0].Frames[i]))
	}
	want := []string{"CoreRaft 0x186d7a8f0 <redacted>+0xa0", gameUUID + ",game 0x104a3004c 0x104a2c000+0x4048", gameUUID + ",game 0x104a30050 0x104a2c000+0x404c"}
	if diff := cmp.Diff(want, got); diff != "" || s.Arch != "arm64" {
		t.Error(s.Arch, diff)
	}
}

// printsAlike: what an earlier run found inlined is there, and not written twice.
func printsAlike(t *testing.T, s *report.Report, answers [][]symbol.Answer, want string) {
	t.Helper()
	var out bytes.Buffer
	if err := report.Print(&out, s, answers); err != nil || out.String() != want {
		t.Errorf("%q\nbecame %q, %v", want, out.String(), err)
	}
}

func TestPrintApple(t *testing.T) {
	chain := []symbol.Frame{{Function: "inner", File: "/src/a.swift", Line: 3}, {Linkage: "_outer", File: "b.m"}}
	answer := [][]symbol.Answer{{{Status: symbol.Found, Frames: chain}}}
	for text, want := range map[string]string{
		"0   game   0x0000000104a3004c 0x104a2c000 + 16460\r\n": "0   game   0x0000000104a3004c inner (in game) (a.swift:3)\r\n                              _outer (in game) (b.m:0)\r\n",
		"0 0x0000000104a3004c": "0 0x0000000104a3004c inner (a.swift:3)\n                     _outer (b.m:0)",
		`{"usedImages":[{"base":4096}],"threads":[{"frames":[{"imageIndex":0,"imageOffset":16,"symbol":"old","symbolLocation":4}]}]}` + "\n": `{"usedImages":[{"base":4096}],"threads":[{"frames":[` +
			`{"imageIndex":0, "imageOffset":16, "symbol": "inner", "sourceFile": "a.swift", "sourceLine": 3, "inline": true},` +
			`{"imageIndex":0, "imageOffset":16, "symbol": "_outer", "sourceFile": "b.m", "sourceLine": 0}]}]}` + "\n",
		// A report on several lines gets one for each function.
		`{"usedImages":[{"base":4096}],` + "\n" + `"threads":[{"frames":[{"imageIndex":0,"imageOffset":16}]}]}`: `{"usedImages":[{"base":4096}],` + "\n" + `"threads":[{"frames":[` +
			`{"imageIndex":0, "imageOffset":16, "symbol": "inner", "sourceFile": "a.swift", "sourceLine": 3, "inline": true},` + "\n" +
			`{"imageIndex":0, "imageOffset":16, "symbol": "_outer", "sourceFile": "b.m", "sourceLine": 0}]}]}`,
		`{"report":{},"binary_images":[{"image_addr":4096}],"crash":{"threads":[{"backtrace":{"contents":[{"instruction_addr":4112}]}}]}}` + "\n": `{"report":{},"binary_images":[{"image_addr":4096}],"crash":{"threads":[{"backtrace":{"contents":[` +
			`{"instruction_addr":4112, "symbol_name": "inner", "source_file": "a.swift", "source_line": 3, "inline": true},` +
			`{"instruction_addr":4112, "symbol_name": "_outer", "source_file": "b.m", "source_line": 0}]}}]}}` + "\n",
	} {
		var out bytes.Buffer
		s := one(t, text, report.Options{})
		if err := report.Print(&out, s, answer); err != nil || out.String() != want {
			t.Errorf("%q\nbecame %q\nwant   %q, %v", text, out.String(), want, err)
		}
		if s.Format() == "ips" && !json.Valid(out.Bytes()) {
			t.Errorf("%s is no JSON", out.String())
		}
		if out.Bytes()[0] == '{' {
			printsAlike(t, one(t, out.String(), report.Options{}), answer, out.String())
		}
		out.Reset()
		if err := report.Print(&out, s, nil); err != nil || out.String() != text {
			t.Errorf("without answers %q became %q", text, out.String())
		}
	}
}
