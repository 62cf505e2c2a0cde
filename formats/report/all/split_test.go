package all

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// split collects the stacks of an input and checks that nothing was lost.
func split(t testing.TB, input string, o report.Options) []*report.Report {
	t.Helper()
	var all []*report.Report
	var out bytes.Buffer
	err := report.Split(t.Context(), strings.NewReader(input), Dialects, o, func(s *report.Report) error {
		all = append(all, s)
		return report.Print(&out, s, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(scan.Plain(out.Bytes()), scan.Plain([]byte(input))) {
		t.Fatalf("printed without answers, the input changed:\n%q\n%q", input, out.String())
	}
	return all
}

// isFile reports whether an input begins a file that is no text.
func isFile(input []byte) bool {
	for _, d := range Dialects {
		for _, f := range d.Files {
			if len(input) > 0 && f.Begins(input) {
				return true
			}
		}
	}
	return false
}

// framed are the stacks that have frames.
func framed(all []*report.Report) []*report.Report {
	var with []*report.Report
	for _, s := range all {
		if len(s.Threads) > 0 {
			with = append(with, s)
		}
	}
	return with
}

// dump prints stacks as a person compares them: one frame a line.
func dump(all []*report.Report) string {
	var b strings.Builder
	spaces := map[symbol.Space]string{symbol.Position: "+", symbol.Unslid: ""}
	for _, s := range framed(all) {
		fmt.Fprintf(&b, "%s %s\n", s.Format(), s.Arch)
		for _, t := range s.Threads {
			fmt.Fprintf(&b, " thread %d %q\n", t.ID, t.Name)
			for _, f := range t.Frames {
				fmt.Fprintf(&b, "  %s%#x", spaces[f.At.Space], f.At.Value)
				if f.Raw != f.At.Value {
					fmt.Fprintf(&b, " (%#x)", f.Raw)
				}
				fmt.Fprintf(&b, " %s %s", strings.Join(f.Image, "|"), f.Arch)
				if f.Container != "" {
					fmt.Fprintf(&b, " in %s", f.Container)
				}
				fmt.Fprintf(&b, "\n")
			}
		}
	}
	return b.String()
}

func TestLines(t *testing.T) {
	named := report.Options{Artifacts: []string{"libgame.so", "other"}}
	for _, c := range []struct {
		name, in string
		o        report.Options
		want     string
	}{
		{"tombstone with container, offset and build-id",
			"ABI: 'arm64'\n      #00 pc 00000000000047d4  /data/app/~~Zx9==/g-1==/base.apk!libgame.so (offset 0x1c4000) (BuildId: 564BB6c8)\n", report.Options{},
			"tombstone arm64\n thread 0 \"\"\n  0x47d4 564bb6c8|libgame.so arm64 in /data/app/~~Zx9==/g-1==/base.apk\n"},
		{"member path in a container",
			"#01 pc 0001f3a8  /data/app/base.apk!lib/arm64-v8a/libgame.so (game::f(int, char*)+24)\n", report.Options{},
			"backtrace \n thread 0 \"\"\n  0x1f3a8 libgame.so  in /data/app/base.apk\n"},
		{"an archive and an offset only",
			"  #00  pc 0000000001501988  /data/app/com.x-ySbc==/base.apk (offset 0xb7e000)\n", report.Options{},
			"backtrace \n thread 0 \"\"\n  0x1501988 base.apk \n"},
		{"deleted, symbol glued to the path, brief log",
			"I/DEBUG   (  145):     #00  pc 0x47d4  /data/lib/libgame.so(f+2)(BuildId: aabb)\r\nI/DEBUG   (  145):  #01 pc 00010 /lib/a.so (deleted)\r\n", report.Options{},
			"logcat \n thread 0 \"\"\n  0x47d4 aabb|libgame.so \n  0x10 a.so \n"},
		{"studio's log columns",
			"2022-12-29 04:00:18.823 30249-30321 DEBUG  com.example.game  F        #00 pc 0000000000000010  /lib/a.so\n", report.Options{},
			"logcat \n thread 0 \"\"\n  0x10 a.so \n"},
		{"what the kernel calls a mapping is no name",
			"#00 pc 00012  <anonymous:7f60>\n#01 pc 0034 [anon:dalvik-classes.dex extracted in memory from /a/base.apk] (com.x.Y.z+4)\n#02 pc 00056 [vdso]\n#03 pc 0078 <unknown>\n", named,
			"backtrace \n thread 0 \"\"\n  0x12  \n  0x34  \n  0x56  \n  0x78  \n"},
		{"no image: the artifacts of the options",
			"#00 pc 00012\n#01 pc 00034  (BuildId: abcd)\n", named,
			"backtrace \n thread 0 \"\"\n  0x12 libgame.so|other \n  0x34 abcd \n"},
		{"monitor lines are return addresses, frame 0 too",
			"pc 0x0000000000022074 libc.so [arm64-v8a::77E60012]\npc 0x0000000000022075 libd.so [armeabi-v7a::88]\npc 0x22075 /lib/e.so [x86::]\n", report.Options{},
			"monitor \n thread 0 \"\"\n  0x22070 (0x22074) 77e60012|libc.so arm64\n  0x22072 (0x22075) 88|libd.so arm\n  0x22074 (0x22075) e.so x86\n"},
		{"crash services number theirs: stepped; a version may stand in the bracket",
			"1\t#00 pc 000000000009da08 /a/libscan.so (_Z2hiv+1044) [arm64-v8a::acc8]\n2\t#01 pc 0000000000000010 /a/libext.so [arm64-v8a:4.0.4:24c1]\n", report.Options{},
			"backtrace \n thread 0 \"\"\n  0x9da08 acc8|libscan.so arm64\n  0x10 24c1|libext.so arm64\n"},
		{"tags and pointer authentication go before the step",
			"pc 0xb400007fdeadbeef libc.so [arm64-v8a::77]\npc 0x007b007fdeadbef0 libc.so [arm64-v8a::77]\npc 0xffffffff81000001 vm.so [x86_64::77]\n", report.Options{},
			"monitor \n thread 0 \"\"\n  0x7fdeadbee8 (0xb400007fdeadbeef) 77|libc.so arm64\n  0x7fdeadbeec (0x7b007fdeadbef0) 77|libc.so arm64\n  0xffffffff81000000 (0xffffffff81000001) 77|vm.so x86_64\n"},
		{"sanitizer",
			"    #0 0x55a4bce  (/system/lib64/libclang_rt.so+0x25bce) (BuildId: ab12)\n    #1 0x77 in game::f(int) (/data/lib/libgame.so+0x47a0)\n", report.Options{},
			"sanitizer \n thread 0 \"\"\n  0x25bce ab12|libclang_rt.so \n  0x47a0 libgame.so \n"},
		{"a sanitizer's image that is gone, one on macOS with its UUID and 16 bytes more", "    #0 0x7f5acd0e114f  (/usr/lib/libgame.so (deleted)+0x14f) (BuildId: ab12)\n" +
			"    #1 0x104cadbe7 in f(int)+0x2d4 (libgame.dylib:arm64e+0x7e74) (BuildId: 0123456789abcdef0123456789abcdef32000000200000000100000000000d00)\n" +
			"    #2 0x104cadbe7 in -[Cart(Shop) add:to:] (Shop Framework:x86_64+0x9)\n    #3 0x19f0bff24  (<unknown module>)\n", report.Options{},
			"sanitizer \n thread 0 \"\"\n  0x14f ab12|libgame.so \n  0x7e74 0123456789abcdef0123456789abcdef|libgame.dylib arm64e\n  0x9 Shop Framework x86_64\n"},
		{"ThreadSanitizer prints no address",
			"    #0 pthread_mutex_lock <null> (shop+0xe83ca) (BuildId: ab12)\n    #1 game::f(int) (.cold) /src/game.cc:39:13 (libgame.so+0x000000006e66)\n    #2 <null> <null>:0 (0x7f7ad9b40193)\n" +
				"see #3 of the list (libgame.so+0x10), and more\n#4 game.cc (libgame.so + 0x10)\n", report.Options{},
			"sanitizer \n thread 0 \"\"\n  0xe83ca ab12|shop \n  0x6e66 libgame.so \n"},
		{"numbers of a build's steps", "Step #4 - \"run\":     #1 0x55a4bce in f(int) (/out/libgame.so+0x25bce)\nStep #4 - \"run\":     #0 f(int) /src/game.cc:39 (libgame.so+0x6e66)\nStep #4 - \"run\": #2 0x55a4bce in f /src/a.c:1\n", report.Options{},
			"sanitizer \n thread 0 \"\"\n  0x25bce libgame.so \nsanitizer \n thread 0 \"\"\n  0x6e66 libgame.so \n"},
		{"LLVM's own handler prints return addresses",
			" #0 0x0000ffffaf905e0c llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/lib64/libgame.so.20.1+0x695e0c)\n #1 0x0000ffffaf90662c (/lib64/libgame.so.20.1+0x69662c)\n #2 0x00000000066f1ea8 f(int) game.cc:0:0\n", report.Options{},
			"llvm \n thread 0 \"\"\n  0x695e0a (0x695e0c) libgame.so.20.1 \n  0x69662a (0x69662c) libgame.so.20.1 \n"},
		{"OpenHarmony's build-id stands alone", "#00 pc 0000000000028950 /data/libs/arm64/libgame.so(f(napi_env__*)+24)(9292A79a3a85a8e682ac2c774db1d42f)\n#01 pc 0000000000001e34 /data/libs/arm64/libgame.so(9292a79a3a85a8e682ac2c774db1d42f)\n#02 pc 10 /a/libgame.so(deadbeef)\n", report.Options{},
			"backtrace \n thread 0 \"\"\n  0x28950 9292a79a3a85a8e682ac2c774db1d42f|libgame.so \n  0x1e34 9292a79a3a85a8e682ac2c774db1d42f|libgame.so \n  0x10 libgame.so \n"},
		{"colors, and the colon of Android Studio's first version",
			"\x1b[38;5;196m02-03 10:11:12.300  4300  4300 F DEBUG   : ABI: 'arm'\x1b[0m\n\x1b[38;5;196m02-03 10:11:12.300  4300  4300 F DEBUG   :       #00 pc 0010  /data/lib/libgame.so\x1b[0m\r\n06-30 14:08:54.754    2107-2107/? I/DEBUG\ufe55 #01 pc 0011  /lib/a.so\n", report.Options{},
			"logcat arm\n thread 0 \"\"\n  0x10 libgame.so arm\n  0x11 a.so arm\n"},
		{"plain lines, and none of the labels and registers",
			"564bb6c8be48 0x47d4\nshop@1234 +0x10\nlibgame.so 0xZZ\nx0 0x10\nsp 0x10\naddr: 0x11\n0x1 0x2\nfoo bar 0x1\n0x12\n", report.Options{},
			"plain \n thread 0 \"\"\n  0x47d2 (0x47d4) 564bb6c8be48 \n  +0xe (0x10) shop@1234 \n"},
		{"an address alone, where artifacts are named",
			"0x47d4\n+0x10\n", named,
			"plain \n thread 0 \"\"\n  0x47d2 (0x47d4) libgame.so|other \n  +0xe (0x10) libgame.so|other \n"},
		{"frame 0 exact: the others step", "ABI: 'arm64'\n#00 pc 0010 a.so\n#01 pc 0010 a.so\n", report.Options{Frame0: report.Exact},
			"tombstone arm64\n thread 0 \"\"\n  0x10 a.so arm64\n  0xc (0x10) a.so arm64\n"},
		{"frame 0 a return address", "#00 pc 0010 a.so\n", report.Options{Frame0: report.Return},
			"backtrace \n thread 0 \"\"\n  0xe (0x10) a.so \n"},
		{"already stepped", "a.so 0x10\n", report.Options{Frame0: report.Stepped},
			"plain \n thread 0 \"\"\n  0x10 a.so \n"},
		{"no frames", "pc\n#00 pc\n#00 pc 0x a\n#00 pc 11112222333344445 a.so\n#1234567 pc 00 a\npc 0000000000001234  ra 0000000000005678  sp 00\nx#00 pc 0010 a.so\n", report.Options{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, dump(split(t, c.in, c.o))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDumps(t *testing.T) {
	banner := strings.Repeat("*** ", 15) + "***\n"
	separator := strings.Repeat("--- ", 15) + "---\n"
	for _, c := range []struct{ name, in, want string }{
		{"two tombstones, the first with two threads",
			"before\n" + banner + "ABI: 'arm'\npid: 1, tid: 2, name: Game Thread  >>> g <<<\n  #00 pc 00000011  a.so\n  #01 pc 00000012  a.so\n" +
				separator + "pid: 1, tid: 3, name: other  >>> g <<<\n  #00 pc 00000013  a.so\n" + banner + "ABI: 'x86'\npid: 4, tid: 5  >>> h <<<\n#00 pc 00000014 b.so\nlast",
			"tombstone arm\n thread 2 \"Game Thread\"\n  0x11 a.so arm\n  0x12 a.so arm\n thread 3 \"other\"\n  0x13 a.so arm\ntombstone x86\n thread 5 \"\"\n  0x14 b.so x86\n"},
		{"dumps without banners", "Build fingerprint: 'a'\nABI: 'arm'\n#00 pc 00000011 a.so\nBuild fingerprint: 'a'\nABI: 'x86'\n#00 pc 00000012 a.so\n",
			"tombstone arm\n thread 0 \"\"\n  0x11 a.so arm\ntombstone x86\n thread 0 \"\"\n  0x12 a.so x86\n"},
		{"a dump of all threads", "----- pid 7 at 2025 -----\nCmd line: g\nABI: 'arm64'\n\n\"main\" sysTid=7\n  #00 pc 0011  a.so\n\n\"pool 1\" prio=5 tid=9 Native\n  | group=\"main\"\n  | sysTid=8 nice=0\n  native: #00 pc 0012  a.so\n  native: #01 pc 0013  a.so\n----- end 7 -----\n",
			"tombstone arm64\n thread 7 \"main\"\n  0x11 a.so arm64\n thread 8 \"pool 1\"\n  0x12 a.so arm64\n  0x13 a.so arm64\n"},
		{"a thread that is not attached", "----- pid 7 at 2025 -----\nABI: 'arm64'\n\"main\" prio=5 tid=1 Native\n  | sysTid=7 nice=0\n  native: #00 pc 0011  a.so\n\n\"mali\" prio=10 (not attached)\n  | sysTid=8 nice=0\n  native: #00 pc 0012  a.so\n",
			"tombstone arm64\n thread 7 \"main\"\n  0x11 a.so arm64\n thread 8 \"mali\"\n  0x12 a.so arm64\n"},
		{"systemd-coredump: frame 0 is exact, offsets count from the image's beginning",
			"  Message: Process 9 (shop) of user 1 dumped core.\n\n    Stack trace of thread 9:\n    #0  0x00007f55c48256e6 abort (libgame.so.6 + 0x256e6)\n    #1  0x000055dcf6e12ee4 n/a (/usr/bin/shop + 0x3bbee4)\n    #2  0x000055dcf6e12ee4 cut>\n\n" +
				"    Stack trace of thread 10:\n    #0  0x00007f55c483e7d0 raise (libgame.so.6 + 0x3e7d0)\n    ELF object binary architecture: AMD x86-64\n Stack trace of thread:\n",
			"coredump \n thread 9 \"\"\n  +0x256e6 libgame.so.6 \n  +0x3bbee2 (0x3bbee4) shop \n thread 10 \"\"\n  +0x3e7d0 libgame.so.6 \n"},
		{"without headers, frame 0 begins a stack", "#00 pc 0011 a.so\n#01 pc 0012 a.so\nsome text\n#00 pc 0013 a.so\n",
			"backtrace \n thread 0 \"\"\n  0x11 a.so \n  0x12 a.so \nbacktrace \n thread 0 \"\"\n  0x13 a.so \n"},
		{"an empty line ends a list", "a.so 0x11\na.so 0x12\n\na.so 0x13\n",
			"plain \n thread 0 \"\"\n  0xf (0x11) a.so \n  0x10 (0x12) a.so \nplain \n thread 0 \"\"\n  0x11 (0x13) a.so \n"},
		{"another format is another stack", "ABI: 'x86'\n#00 pc 0011 a.so\npc 0x12 /lib/a.so\n",
			"tombstone x86\n thread 0 \"\"\n  0x11 a.so x86\nmonitor \n thread 0 \"\"\n  0x10 (0x12) a.so \n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, dump(split(t, c.in, report.Options{}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSanitizerKind: a sanitizer names images of both kinds.
func TestSanitizerKind(t *testing.T) {
	for in, want := range map[string]symbol.Kind{"#0 0x10 (a.so+0x2)\n": symbol.ELF, "#0 0x10 (a.dylib:arm64+0x2)\n": symbol.MachO, "#0 f <null> (game:x86_64h+0x2)\n": symbol.MachO} {
		if got := framed(split(t, in, report.Options{}))[0].Threads[0].Frames[0].Kind; got != want {
			t.Errorf("%q: an image of kind %q, want %q", in, got, want)
		}
	}
}

// TestNDKStack runs the cases of ndk-stack's own tests.
func TestNDKStack(t *testing.T) {
	data, err := os.ReadFile(formattest.Fixture(t, "tombstones/ndk-stack-cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Frames []struct {
			Case, Line string
			Expected   struct {
				Num, PC, Tail, Elf, Container string
				Offset                        uint64
			}
		}
		Match []struct {
			Case, File, Line string
			ID               *string `json:"file_build_id"`
			Matches          bool
		}
		ABI []struct{ Line, ABI string }
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	one := func(t *testing.T, text string) (*report.Report, *report.Frame) {
		all := framed(split(t, text+"\n", report.Options{}))
		if len(all) != 1 || len(all[0].Threads) != 1 || len(all[0].Threads[0].Frames) != 1 {
			t.Fatalf("%q: want one frame", text)
		}
		return all[0], &all[0].Threads[0].Frames[0]
	}
	for _, c := range cases.Frames {
		t.Run(c.Case, func(t *testing.T) {
			s, f := one(t, c.Line)
			text := string(s.FrameText(f))
			num, rest, _ := strings.Cut(text, " ")
			var pc uint64
			fmt.Sscanf(c.Expected.PC, "%x", &pc)
			if num != c.Expected.Num || f.Raw != pc || f.At.Value != pc || f.Offset != c.Expected.Offset {
				t.Errorf("%q: number %s, address %#x", rest, num, f.Raw)
			}
			if w := c.Expected.Tail; w != "" && text[f.Layout.Indent:] != w {
				t.Errorf("tail %q, want %q", text[f.Layout.Indent:], w)
			}
			if w := c.Expected.Elf; w != "" && (f.File != w || f.Container != c.Expected.Container) {
				t.Errorf("file %q in %q, want %q in %q", f.File, f.Container, w, c.Expected.Container)
			}
		})
	}
	for _, c := range cases.Match {
		t.Run(c.Case, func(t *testing.T) {
			_, f := one(t, c.Line)
			got := c.ID != nil && f.Image[0] == *c.ID || c.ID == nil && f.Image[0] == filepath.Base(c.File)
			if got != c.Matches {
				t.Errorf("asks for %q", f.Image)
			}
		})
	}
	for _, c := range cases.ABI {
		s, f := one(t, c.Line+"\n#00 pc 0010 a.so")
		if want := report.Arch(c.ABI); want == "" || s.Arch != want || f.Arch != want {
			t.Errorf("%q: %q, want %q", c.Line, s.Arch, want)
		}
	}
	if n := len(cases.Frames) + len(cases.Match) + len(cases.ABI); n != 10 {
		t.Errorf("%d cases, want 10", n)
	}
}

// TestBounds feeds more than a stack may hold.
func TestBounds(t *testing.T) {
	overflow := "ABI: 'arm64'\n#00 pc 0010  a.so\n" + strings.Repeat("#01 pc 0010  a.so\n", 2*report.MaxFrames) + strings.Repeat("memory "+strings.Repeat("0", 56)+"\n", report.MaxTextBytes/25)
	var frames, exact int
	for _, s := range framed(split(t, overflow, report.Options{Frame0: report.Exact})) {
		if len(s.Threads) != 1 || len(s.Threads[0].Frames) > report.MaxFrames || len(s.Text) > report.MaxTextBytes || s.Arch != "arm64" {
			t.Errorf("%d threads, %d bytes, %q", len(s.Threads), len(s.Text), s.Arch)
		}
		for _, f := range s.Threads[0].Frames {
			frames++
			if f.At.Value == f.Raw {
				exact++
			}
		}
	}
	if frames != 2*report.MaxFrames+1 || exact != 1 {
		t.Errorf("%d frames, %d of them frame 0", frames, exact)
	}

	long := "#00 pc 0010 a.so " + strings.Repeat("x", report.MaxLineBytes) + "\n#01 pc 0011 a.so\n"
	if got := dump(split(t, strings.Repeat(long, 3), report.Options{})); strings.Count(got, "0x11") != 3 || strings.Contains(got, "0x10") {
		t.Errorf("of lines too long:\n%s", got)
	}
	for _, s := range split(t, strings.Repeat("text\n", 1<<17), report.Options{}) {
		if len(s.Text) > 64<<10 {
			t.Errorf("%d bytes of text at once", len(s.Text))
		}
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	var got int
	err := report.Split(t.Context(), io.MultiReader(strings.NewReader("a.so 0x10\na.so 0x"), iotest.ErrReader(broken)), Dialects, report.Options{}, func(s *report.Report) error {
		got += len(s.Text)
		return nil
	})
	if err != broken || got != 17 {
		t.Errorf("reader: %v after %d bytes", err, got)
	}
	if err := report.Split(t.Context(), strings.NewReader("x"), Dialects, report.Options{}, func(*report.Report) error { return broken }); err != broken {
		t.Errorf("emit: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := report.Split(ctx, strings.NewReader("x"), Dialects, report.Options{}, func(*report.Report) error { return nil }); err != context.Canceled {
		t.Errorf("context: %v", err)
	}
}

// TestStep holds P14: the stepped address lies in the call, for every length of it.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		arch     string
		at, want uint64
	}{
		{"x86", 0x1005, 0x1004}, {"x86_64", 0x1002, 0x1001},
		{"arm", 0x1004, 0x1002}, {"arm", 0x1005, 0x1002}, // ARM, Thumb
		{"arm64", 0x1004, 0x1000}, {"arm64", 0x1007, 0x1000},
		{"mips", 0x1008, 0x1000}, {"mips64", 0x1008, 0x1000}, {"riscv64", 0x1002, 0x1000},
		{"", 0x1004, 0x1002}, {"", 0x1005, 0x1003},
		{"arm64", 0, 0}, {"arm", 1, 0}, {"x86", 0, 0}, {"", 1, 1},
	} {
		if got := report.Step(c.arch, c.at); got != c.want {
			t.Errorf("%s %#x: %#x, want %#x", c.arch, c.at, got, c.want)
		}
	}
	for _, c := range []struct {
		arch     string
		at, want uint64
	}{
		{"arm64", 0xb400007fdeadbeec, 0x7fdeadbeec},       // a tag of the heap
		{"arm64", 0x003b007fdeadbeec, 0x007fdeadbeec},     // an authentication code
		{"arm64", 0xffffffc012345678, 0xffffffc012345678}, // the kernel
		{"arm64", 0xfeffffc012345678, 0xffffffc012345678}, // the kernel, tagged
		{"arm64", 0x47d8, 0x47d8},                         // an address of a file
		{"x86_64", 0xffffffff81000000, 0xffffffff81000000},
	} {
		if got := report.Strip(c.arch, c.at); got != c.want {
			t.Errorf("%s %#x: %#x, want %#x", c.arch, c.at, got, c.want)
		}
	}
}

func TestParseFrame0(t *testing.T) {
	for _, f := range []report.Frame0{report.AsFormat, report.Exact, report.Return, report.Stepped} {
		if got, err := report.ParseFrame0(f.String()); got != f || err != nil {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
	if _, err := report.ParseFrame0("first"); err == nil {
		t.Error("first: want an error")
	}
	for _, d := range Dialects {
		for _, f := range d.Forms {
			if f.Name == "" || f.Frame0 == report.AsFormat || f.Lines == "" {
				t.Errorf("%s: %+v: every form says what its values are", d.Name, f)
			}
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	log := "02-03 10:11:12.300  4300  4300 I ActivityManager: Start proc 4242:com.example.game/u0a321 for activity\n"
	dump := "02-03 10:11:12.313  4300  4300 F DEBUG   :       #00 pc 00000000000047d4  /data/app/~~Zx9==/com.example.game-1==/base.apk!libgame.so (offset 0x1c4000) (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n"
	for name, input := range map[string]string{"log": strings.Repeat(log, 10000), "frames": strings.Repeat(dump, 5000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			b.ReportAllocs()
			for b.Loop() {
				if err := report.Split(b.Context(), strings.NewReader(input), Dialects, report.Options{}, func(s *report.Report) error { return report.Print(io.Discard, s, nil) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// begins reports whether a document of a dialect may begin with a line.
func begins(dialect, line string) bool {
	for _, d := range Dialects {
		for _, doc := range d.Documents {
			if d.Name == dialect && doc.Begins([]byte(line)) {
				return true
			}
		}
	}
	return false
}
