package all

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// TestCrashlytics: what the tests of Dart's own reader say of a trace that Crashlytics sent.
func TestCrashlytics(t *testing.T) {
	b, err := os.ReadFile(formattest.Fixture(t, "dart/native_stack_traces/regress_262474517_trace.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Section string
		Offsets []string
	}
	e, err := os.ReadFile(formattest.Fixture(t, "dart/native_stack_traces/regress_262474517_trace.expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(e, &want); err != nil {
		t.Fatal(err)
	}
	all := framed(split(t, string(b), report.Options{}))
	if len(all) != 1 || all[0].Format() != "dart" || len(all[0].Threads) != 1 || len(all[0].Threads[0].Frames) != len(want.Offsets) {
		t.Fatal(dump(all))
	}
	for i, f := range all[0].Threads[0].Frames {
		offset, err := strconv.ParseUint(want.Offsets[i], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		if f.At != (symbol.Where{Space: symbol.Anchored, Value: offset, Anchor: symbol.DartIsolate}) || want.Section != "isolate" {
			t.Errorf("frame %d: %+v", i, f.At)
		}
		if f.Image[0] != "c3126a4381294e13185549e5e94a4db9" || f.Or[0].Space != symbol.Unslid {
			t.Errorf("frame %d: %q, %+v", i, f.Image, f.Or)
		}
	}
}

func TestDartForms(t *testing.T) {
	anchored := func(anchor string, v uint64) symbol.Where {
		return symbol.Where{Space: symbol.Anchored, Value: v, Anchor: anchor}
	}
	for _, c := range []struct {
		name, input string
		options     report.Options
		format      string
		image       []string
		at          []symbol.Where // of each frame
	}{
		{name: "crash of the machine",
			input: "===== CRASH =====\nos=android, arch=arm64, comp=yes, sim=no\nisolate_instructions=7baa7a6a40, vm_instructions=7baa790000\n" +
				"  pc 0x0000007baa845768 fp 0x0000007fd0 sp 0x0000007fc0 _kDartIsolateSnapshotInstructions+0x9ed28\n" +
				"  pc 0x0000007baa845768 fp 0x0000007fd0 Unknown symbol\n  pc 0x0000007baa790768 fp 0x0000007fd0 Unknown symbol\n  pc 0x7b00001234 fp 0x7fd0 sp 0x10 /data/app/lib/libflutter.so+0x1234\n",
			format: "dart-crash",
			at: []symbol.Where{anchored(symbol.DartIsolate, 0x9ed28), anchored(symbol.DartIsolate, 0x9ed24), anchored(symbol.DartVM, 0x764),
				{Space: symbol.Unslid, Value: 0x1230}}},
		{name: "a log", input: "11-21 10:00:00.000  1  2 I flutter : build_id: 'abcdef0123456789'\n11-21 10:00:00.000  1  2 I flutter :     #00 abs 7baa845767 virt 165767 _kDartVmSnapshotInstructions+0x10\n",
			format: "dart", image: []string{"abcdef0123456789"}, at: []symbol.Where{anchored(symbol.DartVM, 0x10)}},
		{name: "no symbol, no start", input: "    #00 abs 0000007baa845767 virt 0000000000165767 /data/app/libapp.so\n", options: report.Options{Artifacts: []string{"a"}},
			format: "dart", image: []string{"a"}, at: []symbol.Where{{Space: symbol.Unslid, Value: 0x165767}}},
		{name: "a base alone", input: "isolate_dso_base: 7baa6e0000, vm_dso_base: 0\n    #00 abs 0000007baa845767 <unknown>\n",
			format: "dart", at: []symbol.Where{{Space: symbol.Loaded, Value: 0x7baa845767, Load: 0x7baa6e0000}}},
		{name: "an unknown unit is not the root", input: "build_id: 'abcdef0123456789'\n    #00 abs 10 unit 3 virt 20 _kDartIsolateSnapshotInstructions+0x10\n",
			format: "dart", image: []string{"loading unit 3"}, at: []symbol.Where{anchored(symbol.DartIsolate, 0x10)}},
		{name: "a named unit", input: "    #00 abs 10 unit 3 virt 20 _kDartIsolateSnapshotInstructions+0x10\n", options: report.Options{Units: map[int]string{3: "part.so"}},
			format: "dart", image: []string{"part.so"}, at: []symbol.Where{anchored(symbol.DartIsolate, 0x10)}},
		{name: "the unit by its address",
			input:  "build_id: 'abcdef0123456789'\nloading_unit: 2, build_id: '0123456789abcdef', dso_base: 5000, instructions: 6000\nisolate_instructions: 1000, vm_instructions: 500\n    #00 abs 6010 virt 1010 <unknown>\n",
			format: "dart", image: []string{"0123456789abcdef"}, at: []symbol.Where{anchored(symbol.DartIsolate, 0x10)}},
		{name: "decimal offset", input: "_kDartIsolateSnapshotInstructions+100\n", options: report.Options{Frame0: report.Stepped}, format: "dart-list", at: []symbol.Where{anchored(symbol.DartIsolate, 100)}},
		{name: "addresses", input: "0x1234\n0x600\n", options: report.Options{Artifacts: []string{"a"}, IsolateStart: 0x1000, VMStart: 0x500, Frame0: report.Stepped}, format: "dart-list",
			at: []symbol.Where{anchored(symbol.DartIsolate, 0x234), anchored(symbol.DartVM, 0x100)}},
	} {
		all := framed(split(t, c.input, c.options))
		if len(all) != 1 || all[0].Format() != c.format {
			t.Errorf("%s: %s", c.name, dump(all))
			continue
		}
		var at []symbol.Where
		for _, f := range all[0].Threads[0].Frames {
			at = append(at, f.At)
			if c.image != nil && !cmp.Equal(f.Image, c.image) {
				t.Errorf("%s: asks for %q, want %q", c.name, f.Image, c.image)
			}
		}
		if diff := cmp.Diff(c.at, at); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	for _, none := range []string{"#00 abs\n", "#00 abs zz virt 1\n", "#00 abs 1 unit x virt 1\n", "x _kDartIsolateSnapshotInstructions\n", "_kDartSnapshotData+0x10\n", "#00 abs 11112222333344445 virt 1 x\n"} {
		if all := framed(split(t, none, report.Options{})); len(all) > 0 {
			t.Errorf("%q: %s", none, dump(all))
		}
	}
}

func TestLinuxLines(t *testing.T) {
	at := func(anchor string, v uint64) symbol.Where {
		return symbol.Where{Space: symbol.Anchored, Value: v, Anchor: anchor}
	}
	unslid := func(v uint64) symbol.Where { return symbol.Where{Space: symbol.Unslid, Value: v} }
	nowhere := func(v uint64) symbol.Where { return symbol.Where{Space: symbol.Loaded, Value: v, Load: ^uint64(0)} }
	type want struct {
		image string
		at    symbol.Where
	}
	for _, c := range []struct {
		name, input, format string
		threads             int
		want                []want
	}{
		{"backtrace_symbols", "/usr/lib/libcart.so(+0x1f3a) [0x7f5c5d5f5f3a]\n./shop(checkout+0x1d) [0x401136]\n./shop() [0x401136]\nlibcart.so(+0x1f3a)\n", "backtrace-symbols", 1,
			[]want{{"libcart.so", unslid(0x1f38)}, {"shop", at("checkout", 0x1b)}, {"shop", unslid(0x401134)}, {"libcart.so", unslid(0x1f38)}}},
		{"backtrace_symbols behind marks and before a title",
			"  #9 ./shop(checkout+0x45) [0x55585c0afa55]\n[host:12345] [ 0] /lib64/libcart.so.0(+0xf5d0)[0x7f2b8c1d65d0]\n[host:12345] [ 1] shop(+0x1f3a)[0x7f2b8c1d65d0]\n(EE) 1: /usr/bin/shop (0x400000+0x6219a) [0x46219a]\n" +
				"(EE) 2: /usr/bin/shop (checkout+0x4d) [0x55d1c1a2b13d]\n/usr/bin/shop *:6379 [cluster](checkout+0x21)[0x55d1c1a2b13d]\nsrc/shop 127.0.0.1:6379(+0x1f3a)[0x55d1c1a2b13d]\n./shop *:6379[0x49e113]\n/usr/bin/shop [0x401136]\n2: [0xb7856400]\n", "backtrace-symbols", 1,
			[]want{{"shop", at("checkout", 0x43)}, {"libcart.so.0", unslid(0xf5ce)}, {"shop", unslid(0x1f38)}, {"shop", symbol.Where{Value: 0x62198}},
				{"shop", at("checkout", 0x4b)}, {"shop", at("checkout", 0x1f)}, {"shop", unslid(0x1f38)}, {"shop", unslid(0x49e111)}, {"shop", unslid(0x401134)}}},
		{"perf, frames that were inlined are the next one's", "\t     3ff8ec5e6e0 text+0x1000 (inlined)\n\t     3ff8ec5e6e7 getaddrinfo+0x1007 (/usr/lib64/libcart.so)\n\t     2aa3fe04bf0 add+0xff5 (inlined)\n\t     2aa3fe04bf5 main+0xff5 (/usr/bin/shop)\n", "perf", 1,
			[]want{{"libcart.so", at("getaddrinfo", 0x1007)}, {"shop", at("main", 0xff3)}}},
		{"perf, images that are gone", "\t    55d0c1a2b13d main+0x1d (/usr/lib/libcart.so (deleted))\n\t    7f3b2c1a2b3c [unknown] (/usr/lib/libcart.so (deleted)+0x1f3a)\n", "perf", 1,
			[]want{{"libcart.so", at("main", 0x1d)}, {"libcart.so", symbol.Where{Space: symbol.FileOffset, Value: 0x1f38}}}},
		{"perf, offsets in files of a chain", "shop 12 1.5:  1 cycles:u:\n\t             d2f [unknown] (/home/u/shop)\n\t            1f3a run+0x9 (/usr/lib/libcart.so)\n", "perf", 1,
			[]want{{"shop", symbol.Where{Space: symbol.FileOffset, Value: 0xd2f}}, {"libcart.so", at("run", 7)}}},
		{"perf", "shop 12/12 [000] 1.5:  1 cycles:u:\n\t    55d0c1a2b13d main+0x1d (/home/u/shop)\n\t    7f3b2c1a2b3c [unknown] (/usr/lib/libcart.so+0x1f3a)\n\t    7f3b2c1a2b3c run+0x9 (/usr/lib/libcart.so+0x1f3a)\n\n" +
			"shop 12/12 [000] 1.6:  1 cycles:u:\n\tffffffff81a2b13d [unknown] ([kernel.kallsyms])\n\t    55d0c1a2b13d main+0x1d (/home/u/shop)\n\n", "perf", 2,
			[]want{{"shop", at("main", 0x1d)}, {"libcart.so", symbol.Where{Space: symbol.FileOffset, Value: 0x1f38}}, {"libcart.so", at("run", 7)}, {"shop", at("main", 0x1b)}}},
		{"perf, offsets in the file", "shop 12 1.5:  1 cycles:u:\n\t             763 [unknown] (/usr/lib/libcart.so)\n\t          402136 [unknown] (/home/u/shop)\n\t         1f00136 [unknown] (/usr/lib/libcart.so)\n\n", "perf", 1,
			[]want{{"libcart.so", symbol.Where{Space: symbol.FileOffset, Value: 0x763}}, {"libcart.so", symbol.Where{Space: symbol.FileOffset, Value: 0x1f00134}}}},
		{"go", "panic: x\n\ngoroutine 1 [running]:\nmain.(*Cart).Add(0xc000012345, {0x1, 0x2})\n\t/src/cart.go:20 +0x1d\nmain.main()\n\t/src/main.go:9 +0x25\n\ngoroutine 7 [chan receive]:\nmain.f(...)\n\t/src/main.go:3\nmain.h(0x1)\n        /src/main.go:4 +0x12 fp=0x1\ncreated by main.g in goroutine 1\n\t/src/main.go:30 +0x40\n", "go", 2,
			[]want{{"prog", at("main.(*Cart).Add", 0x1b)}, {"prog", at("main.main", 0x23)}, {"prog", at("main.h", 0x10)}, {"prog", at("main.g", 0x3e)}}},
		{"go", "panic: x\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4896b5]\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/src/main.go:3\nmain.add(0x1)\n\t/src/cart.go:20 +0x15\nmain.main()\n\t/src/main.go:9 +0x25\n\ngoroutine 7 [chan receive]:\nmain.h(0x1)\n\t/src/main.go:4 +0x12\n", "go", 2,
			[]want{{"prog", at("main.add", 0x15)}, {"prog", at("main.main", 0x23)}, {"prog", at("main.h", 0x10)}}},
		{"asan", "    #1 0x55a4bce in f(int) /a.c:1 (/lib/libcart.so+0x1f3a) (BuildId: 0123456789abcdef)\n", "sanitizer", 1, []want{{"0123456789abcdef", unslid(0x1f3a)}}},
	} {
		o := report.Options{}
		if c.format == "go" {
			o.Artifacts = []string{"prog"}
		}
		all := framed(split(t, c.input, o))
		var got []want
		threads := 0
		for _, s := range all {
			if s.Format() != c.format {
				t.Errorf("%s: format %s", c.name, s.Format())
			}
			threads += len(s.Threads)
			for _, th := range s.Threads {
				for _, f := range th.Frames {
					if f.At == nowhere(f.At.Value) {
						continue
					}
					got = append(got, want{f.Image[0], f.At})
				}
			}
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(want{})); diff != "" || threads != c.threads {
			t.Errorf("%s: %d threads, %s", c.name, threads, diff)
		}
	}
	for _, none := range []string{"call(+0x10)\n", "f(x) [0x10]\n", "see (http://h/a+0x10)\n", "  x (y)\n", "  deadbeef x (y)\n", "\tcount: 12 (max)\n", "a.b(c+0x1)\n", "x = f(y+0x10) [0x401020]\n", "int x = tab/off[0x401020]\n",
		"see http://h/a[0x401010]\n", "./a[0x10]\n", "see /usr/bin/shop now [0x401136]\n", "() [0x401136]\n", " ) [0x401136]\n", ")[0x401136]\n", "(1) (+0x10) [0x401136]\n"} {
		if all := framed(split(t, none, report.Options{})); len(all) > 0 && all[0].Format() != "plain" {
			t.Errorf("%q: %s", none, dump(all))
		}
	}
}
