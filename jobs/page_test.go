package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/serve/page/browsertest"
)

const (
	pageReady = `document.querySelector("main").dataset.ready === "yes"`
	pageRead  = `document.querySelector("#read-crash").dataset.state === "done"`
)

// paste opens the page that reads a crash and pastes a text.
func paste(b *browsertest.Browser, url, text string) {
	b.Go(url + "/")
	b.Await(pageReady)
	b.Eval(`document.querySelector("#crash").focus()`, nil)
	b.Paste(text)
	b.Await(pageRead)
}

// functions lists the functions of the frames that are shown, and where they are.
func functions(b *browsertest.Browser) (out []string) {
	b.Await(`document.querySelector(".frame summary") !== null`)
	b.Eval(`[...document.querySelectorAll(".frame > summary .what")].map((e) => e.innerText.replaceAll("\n", " "))`, &out)
	return out
}

func stackText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(formattest.Testdata(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page that reads a crash does so in both browsers, light and dark. A browser runs one check after the other.
func TestPage(t *testing.T) {
	t.Parallel()
	checks := []struct {
		name        string
		light, dark bool
		run         func(t *testing.T, b *browsertest.Browser)
	}{
		{"shows", true, true, pageShows}, {"reads", true, false, pageReads}, {"frames", false, true, pageFrames}, {"keys", false, true, pageByKeys},
		{"copies", true, false, pageCopies}, {"trace", true, true, pageTraces}, {"tokens", true, false, pageTokens}, {"large", false, true, pageLarge}, {"flame", true, true, pageFlame},
	}
	for scheme, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			browsertest.Each(t, dark, func(t *testing.T, b *browsertest.Browser) {
				for _, c := range checks {
					if dark && c.dark || !dark && c.light {
						t.Run(c.name, func(t *testing.T) { c.run(t, b.Tab(t)) })
					}
				}
			})
		})
	}
}

// The first page shows itself in both browsers, light and dark, without another host, a violation of its policy or a
// finding of axe-core. It stays so with a crash, and small.
func pageShows(t *testing.T, b *browsertest.Browser) {
	s := startServe(t, ingested(t, "elf", "r8", "js", "macho"))
	b.Go(s.url + "/")
	b.Await(pageReady)
	b.Axe("the first page")
	b.Picture("start")
	pageCosts(t, b)
	var back string
	b.Eval(`getComputedStyle(document.documentElement).backgroundColor`, &back)
	if (back == "rgb(18, 21, 24)") != b.Dark {
		t.Errorf("dark %v: the page is %s", b.Dark, back)
	}
	paste(b, s.url, stackText(t, "stacks/apple-crash.txt"))
	functions(b)
	b.Picture("crash")
	b.Click(".missing summary")
	b.Click(".above summary")
	b.Axe("a crash")
	b.Size(400, 800)
	b.Axe("a crash on a phone")
	b.Picture("phone")
	b.Clean()
}

// pageCosts wants the first page to take few bytes, and logs when it was first painted.
func pageCosts(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	var costs struct {
		Bytes, Requests int
		Paint           float64
	}
	b.Await(`performance.getEntriesByType("paint").length > 0`)
	b.Eval(`(() => { const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
		return {Bytes: all.reduce((n, e) => n + e.decodedBodySize, 0), Requests: all.length,
			Paint: performance.getEntriesByName("first-contentful-paint")[0].startTime}; })()`, &costs)
	t.Logf("%s: first paint after %.0f ms, %d bytes in %d requests", b.Kind, costs.Paint, costs.Bytes, costs.Requests)
	if costs.Bytes == 0 || costs.Bytes > 300<<10 || costs.Requests > 20 {
		t.Errorf("%s: the page takes %d bytes in %d requests: want 300 KiB in 20 at most", b.Kind, costs.Bytes, costs.Requests)
	}
}

// A crash of each kind is read: pasted, dropped and chosen.
func pageReads(t *testing.T, b *browsertest.Browser) {
	s := startServe(t, ingested(t, "elf", "r8", "js", "macho"))
	bundle := "TypeError: no\n    at f (app.min.js:1:60)\n"
	for _, c := range []struct {
		how, name, text string
		title           string
		want            []string // begin the frames that are shown first
	}{
		{"paste", "tombstone", stackText(t, "stacks/tombstone.txt"), "SIGSEGV: null pointer dereference", []string{"game::(anonymous namespace)::helper(int volatile*, int) ./src/engine.cpp:26:3", "game::crash"}},
		{"paste", "logcat", stackText(t, "stacks/logcat.txt"), "SIGSEGV: null pointer dereference", []string{"game::(anonymous namespace)::helper"}},
		{"paste", "apple-crash", stackText(t, "stacks/apple-crash.txt"), "EXC_BAD_ACCESS (SIGSEGV)", []string{"CoreFoundation", "game::Engine::energy", "game::Engine::step(int)::$_0"}},
		{"paste", "java", stackText(t, "r8/shop.txt"), "com.example.shop.Checks$BadInput: cannot pay: 2", []string{"com.example.shop.Checkout.pay Main.java:80", "com.example.shop.Main.main Main.java:12", "com.example.shop.Checkout.pay Main.java:78"}},
		{"paste", "javascript", bundle, "TypeError: no", []string{""}},
		{"drop", "crash.ips", stackText(t, "stacks/apple-ips.txt"), "Crash", []string{"game::Engine::step(int)::$_0", "game::Engine::energy", "start + 2240"}},
		{"drop", "crash.dmp", stackText(t, "stacks/crash.dmp"), "In game::(anonymous namespace)::helper(int volatile*, int)", []string{"game::(anonymous namespace)::helper", "game::crash", "libc.so"}},
		{"choose", "crash.dmp", "", "In game::(anonymous namespace)::helper(int volatile*, int)", []string{"game::(anonymous namespace)::helper"}},
	} {
		switch c.how {
		case "paste":
			paste(b, s.url, c.text)
		default:
			b.Go(s.url + "/")
			b.Await(pageReady)
			if c.how == "drop" {
				b.Drop("main", c.name, []byte(c.text))
			} else {
				b.Files("#file", formattest.Testdata(t, "stacks/"+c.name))
			}
			b.Await(pageRead)
		}
		got := functions(b)
		if title := b.Text("#why"); title != c.title {
			t.Errorf("%s: titled %q, want %q", c.name, title, c.title)
		}
		for i, want := range c.want {
			if i >= len(got) || !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: frames %q, want %q", c.name, got, c.want)
				break
			}
		}
	}
	b.Clean()

	// Text without a stack, and nothing at all, are told apart.
	paste(b, s.url, "only words, and no frame\n")
	if said := b.Text("#read-crash"); !strings.Contains(said, "No stack was recognized") {
		t.Error(said)
	}
	b.Click("#read") // the field has the words
	b.Await(pageRead)
	b.Click("#example")
	b.Await(`document.querySelector(".frame") !== null`)
	if got := b.Text("#why"); got != "SIGSEGV: null pointer dereference" {
		t.Error(got)
	}
}

// Frames have the color of their origin, inlined functions are folded, and missing files are named with the way to upload them.
func pageFrames(t *testing.T, b *browsertest.Browser) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"))
	text := "backtrace:\n" +
		"  #00 pc 0000000000004748  /data/app/shop/lib/arm64/libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n" +
		"  #01 pc 000000000000484c  /data/app/shop/lib/arm64/libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n" +
		"  #02 pc 0000000000001000  /data/app/shop/lib/arm64/libcart.so (BuildId: 0123456789abcdef0123456789abcdef01234567)\n" +
		"  #03 pc 00000000000b1690  /apex/com.android.runtime/lib64/bionic/libc.so (__libc_init+96) (BuildId: 59db7ab09b8b2a3b7d1e1b6f3a9a5b1c)\n"
	paste(b, s.url, text)
	functions(b)
	var classes []string
	b.Eval(`[...document.querySelectorAll(".item")].map((e) => e.className)`, &classes)
	if got := fmt.Sprint(classes); got != "[item app item app item app lost item system lost]" {
		t.Error(got)
	}
	var open []bool
	b.Eval(`[...document.querySelectorAll(".frame")].map((e) => e.open)`, &open)
	if got := fmt.Sprint(open); got != "[true false false false]" {
		t.Errorf("open: %s; want the top frame alone, which has an inlined function", got)
	}
	if got := b.Text(".inlines"); !strings.Contains(got, "game::dot(game::Vec3 const&, game::Vec3 const&)") || !strings.Contains(got, "engine.h:5:12") {
		t.Error(got)
	}
	missing := b.Text(".missing")
	for _, want := range []string{"1 file would help", "libcart.so", "0123456789abcdef0123456789abcdef01234567", "Then run symlake ingest", "no artifact is called", "Part of the system"} {
		if !strings.Contains(missing, want) {
			t.Errorf("missing lacks %q: %s", want, missing)
		}
	}
	if strings.Index(missing, "libcart.so") > strings.Index(missing, "libc.so") {
		t.Error("the system's file stands before the app's")
	}
	b.Eval(`document.querySelector("#hide-system").click()`, nil)
	b.Await(`document.querySelectorAll(".frame").length === 3`)
	b.Eval(`document.querySelector("#filter").focus()`, nil)
	b.Type("game_entry")
	b.Await(`document.querySelectorAll(".frame").length === 1`)
	b.Clean()
}

// A page is used by keys alone.
func pageByKeys(t *testing.T, b *browsertest.Browser) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"))
	at := func() (id string) {
		b.Eval(`document.activeElement.id || document.activeElement.className || document.activeElement.innerText`, &id)
		return id
	}
	tabTo := func(want string) {
		t.Helper()
		for range 40 {
			b.Press(browsertest.Tab)
			if strings.Contains(at(), want) {
				return
			}
		}
		t.Fatalf("%s: the tab key does not lead to %s, but to %s", b.Kind, want, at())
	}
	b.Go(s.url + "/")
	b.Await(pageReady)
	tabTo("crash")
	b.Type("pc 0x46ac libgame.so [arm64-v8a::564bb6c8be48eea9d9db622b8689806eea5af3c7]")
	b.Press(browsertest.Enter)
	b.Type("pc 0x4848 libgame.so [arm64-v8a::564bb6c8be48eea9d9db622b8689806eea5af3c7]")
	b.Press(browsertest.Control, browsertest.Enter)
	b.Await(pageRead)
	functions(b)
	if at() != "why" {
		t.Errorf("the focus is at %s, not at the title of the crash", at())
	}
	tabTo("copy-text")
	b.Press(browsertest.Enter)
	b.Await(`!!document.querySelector("#said")?.textContent`)
	if said := b.Text("#said"); said != "Copied as text." {
		t.Error(said)
	}
	tabTo("filter")
	b.Press(browsertest.Tab) // hide system frames
	b.Press(browsertest.Tab) // the thread
	b.Press(browsertest.Tab) // its first frame
	b.Press(browsertest.Down)
	var open []bool
	b.Press(browsertest.Enter)
	b.Await(`document.querySelectorAll(".frame")[1].open`)
	b.Press(browsertest.Up)
	b.Press(browsertest.Space)
	b.Eval(`[...document.querySelectorAll(".frame")].map((e) => e.open)`, &open)
	if fmt.Sprint(open) != "[true true]" {
		t.Errorf("open: %v", open)
	}
	b.Clean()
}

// The copied text equals the output of the command. A link holds the question. Neither browser nor server keeps it.
func pageCopies(t *testing.T, b *browsertest.Browser) {
	store := ingested(t, "elf/libgame-arm64-dw5.so")
	s := startServe(t, store)
	file := formattest.Testdata(t, "stacks/demo.txt")
	text, _ := mustRun(t, []int{0}, "--store", store, "symbolicate", file)
	said := func(text string) string {
		return fmt.Sprintf(`document.querySelector("#said")?.textContent.startsWith(%q)`, text)
	}
	paste(b, s.url, stackText(t, "stacks/demo.txt"))
	functions(b)
	b.Click("#copy-text")
	b.Await(said("Copied as text."))
	if got := b.Clipboard(); got != text {
		t.Errorf("copied:\n%s\nwant:\n%s", got, text)
	}
	b.Click("#copy-json")
	b.Await(said("Copied as JSON."))
	var records []struct {
		Format  string
		Threads []struct {
			Frames []struct{ Frames []struct{ Function string } }
		}
	}
	if err := json.Unmarshal([]byte(b.Clipboard()), &records); err != nil || len(records) != 2 || records[0].Format != "tombstone" || records[0].Threads[0].Frames[3].Frames[1].Function != "main(int, char**)" {
		t.Errorf("%v %+v", err, records)
	}
	b.Click("#copy-link")
	b.Await(said("Copied a link."))
	link := b.Clipboard()
	if !strings.HasPrefix(link, s.url+"/#z=") {
		t.Fatal(link)
	}
	b.Go(s.url + "/healthz")
	b.Go(link)
	b.Await(`document.querySelector("#read-crash")?.dataset.state === "done"`)
	if got := functions(b); !strings.HasPrefix(got[0], "game::(anonymous namespace)::helper") {
		t.Error(got)
	}
	b.Go(s.url + "/healthz")
	b.Go(link[:len(link)-40])
	b.Await(`document.querySelector(".notice.bad")?.innerText.includes("damaged")`)

	for _, r := range b.Requests() {
		if strings.Contains(r, "z=") && !strings.Contains(r, "#z=") {
			t.Errorf("the browser asked for %s", r)
		}
	}
	var kept int
	b.Eval(`indexedDB.databases().then((all) => all.length + localStorage.length + sessionStorage.length + document.cookie.length)`, &kept)
	if kept != 0 {
		t.Errorf("%s keeps something", b.Kind)
	}
	b.Clean()
	if log := s.text(); strings.Contains(log, "libgame") || strings.Contains(log, "husky") || strings.Contains(log, "z=") {
		t.Errorf("the log has text of a crash: %s", log)
	}
}

// A method trace is a flame chart, which keys and pointer move, and tables with the same.
func pageTraces(t *testing.T, b *browsertest.Browser) {
	s := startServe(t, ingested(t, "r8"))
	b.Go(s.url + "/")
	b.Await(pageReady)
	b.Click(".options summary")
	b.Click("#artifact")
	b.Type("89a3f476d274c700f1e6babfebf4009d1cab0556636efe206b13edafc49717fa")
	b.Files("#file", formattest.Testdata(t, "trace/shop.txt"))
	b.Await(pageRead)
	if got := b.Text("#why"); got != "189 ms in Main.main, of these 70.0 ms in Checks.notEmpty" {
		t.Error(got)
	}
	var jank []string
	b.Eval(`[...document.querySelectorAll(".call-name")].map((e) => e.innerText)`, &jank)
	if want := []string{"void com.example.shop.Main.main(java.lang.String[])", "void com.example.shop.Checkout.pay(int)", "java.lang.String com.example.shop.Checks.notEmpty(java.lang.String)"}; !reflect.DeepEqual(jank, want) {
		t.Error(jank)
	}
	colors := `(() => { const c = document.querySelector(".flame"), all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
			for (let i = 0; i < all.length; i += 4) seen.add(all.slice(i, i + 3).join()); return seen.size; })()`
	b.Await(colors + " > 3") // something is painted
	b.Eval(`document.querySelector(".flame").focus()`, nil)
	for _, c := range []struct{ key, want string }{
		{browsertest.Up, "Checkout.pay"}, {browsertest.Up, "Main.main"}, {browsertest.Up, "Main.main"}, {browsertest.Down, "Checkout.pay"},
		{browsertest.Left, "Cart.<init>"}, {browsertest.Right, "Checkout.pay"}, {browsertest.Down, "Checks.notEmpty"}, {browsertest.Right, "Item.<init>"},
		{browsertest.Enter, "Item.<init>"}, {"-", "Item.<init>"}, {"+", "Item.<init>"}, {browsertest.Escape, "Item.<init>"}, {browsertest.Home, "Main.main"},
	} {
		b.Press(c.key)
		b.Await(fmt.Sprintf(`document.querySelector("#call").innerText.includes(%q)`, c.want))
	}
	b.Eval(`document.querySelector("#find-call").focus()`, nil)
	b.Type("checks")
	b.Await(`document.querySelector("#find-call").nextSibling.textContent.startsWith("1 call matches")`)
	b.Press(browsertest.Enter)
	b.Await(`document.querySelector("#call").innerText.includes("Checks.notEmpty")`)
	b.Axe("a trace")
	b.Picture("trace")
	b.Click("#copy-text")
	b.Await(`document.querySelector("#said")?.textContent === "Copied as text."`)
	if got := b.Clipboard(); !strings.HasPrefix(got, "\"main\" tid=1\n    at java.lang.String com.example.shop.Checks.notEmpty(java.lang.String)  70.0 ms from 2.10 ms\n") {
		t.Error(got)
	}
	b.Clean()
}

// A server with tokens: the page asks for one, and keeps it no longer than the tab.
func pageTokens(t *testing.T, b *browsertest.Browser) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("a first-token-000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--tokens", tokens, "--max-body", "64KiB")
	b.Go(s.url + "/")
	b.Await(pageReady)
	b.Eval(`document.querySelector("#crash").focus()`, nil)
	b.Paste(stackText(t, "stacks/demo.txt"))
	b.Await(`document.querySelector("dialog[open]") !== null`)
	b.Axe("the dialog for a token")
	b.Picture("token")
	b.Type("wrong-token-000000")
	b.Press(browsertest.Enter)
	b.Await(`document.querySelector("dialog .wrong") !== null`)
	b.Type("first-token-000000")
	b.Press(browsertest.Enter)
	b.Await(pageRead)
	functions(b)
	var kept string
	b.Eval(`JSON.stringify({...sessionStorage}) + localStorage.length + document.cookie`, &kept)
	if kept != `{"symlake-token":"first-token-000000"}0` {
		t.Error(kept)
	}
	b.Click("#another")
	b.Paste(strings.Repeat("a crash of many words\n", 4000))
	b.Await(`document.querySelector("#read-crash").dataset.state === "failed"`)
	if said := b.Text(".notice.bad"); !strings.Contains(said, "more than the server reads") || !strings.Contains(said, "--max-body") {
		t.Error(said)
	}
	b.Expect("401")
	b.Expect("413")
	b.Clean()
}

// A report of 32 MB is read while the page answers its reader: the browser holds a small part of it at any time.
func pageLarge(t *testing.T, b *browsertest.Browser) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--max-body", "40MiB", "--max-frames", "1000000", "--answer-limit", "1GiB", "--max-time", "10m")
	one := stackText(t, "stacks/tombstone.txt")
	file := filepath.Join(t.TempDir(), "large.txt")
	times := 32<<20/len(one) + 1
	if err := os.WriteFile(file, []byte(strings.Repeat(one+"\n", times)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Go(s.url + "/")
	b.Await(pageReady)
	b.Eval(`(() => { window.ticks = []; let last = performance.now();
			setInterval(() => { const now = performance.now(); window.ticks.push(now - last); last = now; }, 20); })()`, nil)
	b.Files("#file", file)
	b.Await(pageRead)
	var was struct {
		Ticks, Elements int
		Longest         float64
	}
	b.Eval(`({Ticks: window.ticks.length, Longest: Math.max(...window.ticks), Elements: document.querySelectorAll("*").length})`, &was)
	t.Logf("%s: %d elements; the longest pause of %d was %.0f ms", b.Kind, was.Elements, was.Ticks, was.Longest)
	if was.Elements > 20_000 || was.Ticks < 10 {
		t.Errorf("%s: %+v", b.Kind, was)
	}
	if got, want := b.Text(".counts"), fmt.Sprintf("%d stacks", times); !strings.Contains(strings.ReplaceAll(got, ",", ""), want) {
		t.Errorf("%s: %s; want %s", b.Kind, got, want)
	}
	b.Eval(`window.scrollTo(0, document.documentElement.scrollHeight)`, nil)
	b.Await(`(() => { const last = [...document.querySelectorAll(".chunk")].filter((c) => c.querySelector(".thread")).at(-1); return last.getBoundingClientRect().bottom < 2 * innerHeight; })()`)
	b.Eval(`document.querySelector("#filter").focus()`, nil)
	b.Type("engine.cpp:26")
	b.Await(fmt.Sprintf(`document.querySelector(".tools [role=status]").textContent.replace(",", "").startsWith("%d frames match")`, times))
	b.Clean()
}
