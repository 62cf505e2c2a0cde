package jobs

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/serve/page/browsertest"
)

// listedRun is a run with a rejected object: its id has what paths and queries must encode.
const listedRun = "scheduled__2026-11-01T04:30:00+00:00/3 of 4"

// listedStore is a store with artifacts of two apps, some runs, a rejected object and wanted names.
func listedStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	copyInto := func(folder string, files ...string) string {
		to := filepath.Join(dir, "symbols", folder)
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			all, err := filepath.Glob(filepath.Join(formattest.Testdata(t, filepath.Dir(f)), filepath.Base(f)))
			if err != nil || len(all) == 0 {
				t.Fatal(f, err)
			}
			for _, one := range all {
				text, err := os.ReadFile(one)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(to, filepath.Base(one)), text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		return to
	}
	store := filepath.Join(dir, "store")
	config := filepath.Join(dir, "symlake.yaml")
	text := fmt.Sprintf("store: file:%s\nlake: off\nsources:\n  - url: %s\n    names: \"{app}/{build}/**\"\n", store, filepath.Join(dir, "symbols"))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ingest := func(run string) {
		mustRun(t, []int{0, 3}, "--config", config, "ingest", "--run", run)
	}
	copyInto("shop/1233", "elf/libgame-arm64-dw5.so", "r8/mapping.txt")
	ingest("scheduled__2026-10-30T04:30:00+00:00")
	chunks := copyInto("shop/1234", "elf/*.so", "js/*.map")
	for i := range 40 { // more than a page
		text := fmt.Sprintf(`{"version":3,"file":"chunk-%02d.js","debugId":"00000000-0000-4000-8000-%012d","sources":["a.js"],"names":[],"mappings":"AAAA"}`, i, i)
		if err := os.WriteFile(filepath.Join(chunks, fmt.Sprintf("chunk-%02d.js.map", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ingest("scheduled__2026-10-31T04:30:00+00:00")
	cut := copyInto("kiosk/77", "elf/libgame-arm64-dw5.so")
	whole, err := os.ReadFile(filepath.Join(cut, "libgame-arm64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(cut, "libgame-arm64-dw5.so"))
	if err := os.WriteFile(filepath.Join(cut, "libcut.so"), whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cut, "README.md"), []byte("no symbols\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ingest(listedRun)
	stack := filepath.Join(dir, "stack.txt")
	lines := strings.Repeat("#00 pc 0000000000001000  /data/app/libgame-arm64-dw5.so (BuildId: 00112233445566778899aabbccddeeff00112233)\n", 41) +
		strings.Repeat("#00 pc 0000000000001000  /data/app/libcart.so (BuildId: ffeeddccbbaa99887766554433221100ffeeddcc)\n", 7) +
		"#00 pc 0000000000001000  /data/app/libcut.so (BuildId: 0123456789abcdef0123456789abcdef01234567)\n"
	if err := os.WriteFile(stack, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, []int{0}, "--store", store, "symbolicate", stack)
	return store
}

// shown opens an address below a server and waits until its page is there. The page before must be clean.
func shown(s *serving, b *browsertest.Browser, path string) {
	b.Clean()
	b.Go("about:blank") // an address that differs in its fragment alone would not load
	b.Go(s.url + path)
	b.Await(`document.querySelector("main").dataset.ready === "yes"`)
}

// has waits until the page has a text.
func has(b *browsertest.Browser, texts ...string) {
	for _, text := range texts {
		b.Await(fmt.Sprintf("document.querySelector('main').innerText.includes(%q)", text))
	}
}

// The pages of lists show what the store has, are searched and paged by keyboard, and lead to each other.
func TestPagesOfLists(t *testing.T) {
	t.Parallel()
	s := startServe(t, listedStore(t))
	browsertest.Each(t, false, func(t *testing.T, b *browsertest.Browser) {
		pageOfArtifacts(s, b)
		pageOfWanted(s, b)
		pageOfRuns(s, b)
		pageOfObjects(s, b)
		pageOfInterface(s, b)
		b.Size(400, 800)
		for _, path := range []string{"/artifacts", "/wanted", "/runs", "/objects", "/api"} {
			shown(s, b, path)
			b.Await("document.documentElement.scrollWidth <= innerWidth")
		}
		b.Clean()
	})
}

// The pages of lists have no finding of axe-core in light and dark, with and without anything to show.
func TestPagesOfListsColors(t *testing.T) {
	t.Parallel()
	s, bare := startServe(t, listedStore(t)), startServe(t, emptyStore(t))
	for scheme, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			browsertest.Each(t, dark, func(t *testing.T, b *browsertest.Browser) {
				for _, page := range []struct{ path, want, picture string }{
					{"/artifacts#kind=elf", "15 artifacts.", "artifacts"}, {"/artifacts#find=nothing-like-it", "No artifact fits", ""},
					{"/artifacts#name=564bb6c8be48eea9d9db622b8689806eea5af3c7", "Where it came from", "artifact"},
					{"/wanted", "3 names.", "wanted"}, {"/runs", "3 runs.", "runs"}, {"/runs/" + url.PathEscape(listedRun), "1 object.", "run"},
					{"/objects#run=" + url.QueryEscape(listedRun), "2 objects.", "objects"}, {"/api", "/v1/artifacts", "interface"},
				} {
					shown(s, b, page.path)
					has(b, page.want)
					b.Axe(page.path)
					if page.picture != "" {
						b.Picture(page.picture)
					}
				}
				for path, want := range map[string]string{"/artifacts": "No artifact yet", "/wanted": "Nothing is missing", "/runs": "No run yet", "/objects": "No object yet"} {
					shown(bare, b, path)
					has(b, want)
					b.Axe("without anything, " + path)
				}
				b.Clean()
			})
		})
	}
}

// emptyStore is a store without artifacts.
func emptyStore(t *testing.T) string {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", t.TempDir())
	return store
}

func pageOfArtifacts(s *serving, b *browsertest.Browser) {
	const id = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
	shown(s, b, "/artifacts")
	has(b, "libgame.so", "R8 mapping", "source map", "Code with an answer", "50 artifacts, and more.")
	b.Eval(`[...document.querySelectorAll("button")].find((x) => x.innerText === "Show more").focus()`, nil)
	b.Press(browsertest.Enter)
	has(b, "60 artifacts.")
	b.Await(`new Set([...document.querySelectorAll("tbody a")].map((a) => a.hash)).size === 60`)
	shown(s, b, "/artifacts#kind=elf")
	has(b, "15 artifacts.")

	// A search by keyboard: the field, then Enter.
	b.Eval(`document.querySelector("#find").focus()`, nil)
	b.Type("GAME-ARM64")
	b.Press(browsertest.Enter)
	b.Await(`location.hash.includes("find=GAME-ARM64")`)
	b.Await(`[...document.querySelectorAll("tbody tr")].length >= 1 && [...document.querySelectorAll("tbody tr")].every((r) => r.innerText.includes("game"))`)
	shown(s, b, "/artifacts#kind=r8&app=shop@1233")
	b.Await(`document.querySelectorAll("tbody tr").length === 1`)
	has(b, "shop@1233", "1 artifact.")
	shown(s, b, "/artifacts#find=nothing-like-it")
	has(b, "No artifact fits")

	// One artifact: a link by keyboard, quality, loads, its run, and a position.
	shown(s, b, "/artifacts#find="+id)
	b.Await(`document.querySelectorAll("tbody a").length === 1`)
	b.Eval(`document.querySelector("tbody a").focus()`, nil)
	b.Press(browsertest.Enter)
	has(b, "Names", "With a line", "Loads", id, "Where it came from", "libgame-arm64-dw5.so")
	b.Await(`document.querySelector('main a[href^="/runs/"]') !== null`)
	b.Await(`document.activeElement.tagName === "H1"`)
	b.Eval(`document.querySelector("#position").focus()`, nil)
	b.Type("0x47d4")
	b.Press(browsertest.Enter)
	has(b, "helper")
	b.Axe("an artifact")
	shown(s, b, "/artifacts#name=no-such-thing")
	has(b, "No artifact is called no-such-thing")
	b.Axe("an artifact that is not there")
	b.Expect("404")
}

func pageOfWanted(s *serving, b *browsertest.Browser) {
	shown(s, b, "/wanted")
	has(b, "41", "00112233445566778899aabbccddeeff00112233", "other build", "An object with this name was rejected", "Upload the unstripped file", "3 names.")
	b.Eval(`document.querySelector("#find").focus()`, nil)
	b.Type("libcart")
	b.Press(browsertest.Enter)
	b.Await(`document.querySelectorAll("tbody tr").length === 1`)
	has(b, "ffeeddccbbaa99887766554433221100ffeeddcc")
	shown(s, b, "/wanted#find=nothing-like-it")
	has(b, "Nothing with this name was asked for in vain")
}

func pageOfRuns(s *serving, b *browsertest.Browser) {
	shown(s, b, "/runs")
	has(b, "Bytes read", "Rejected objects", "Lag", listedRun, "3 runs.", "Why objects were rejected")
	var names []string
	b.Eval(`[...document.querySelectorAll("svg.chart")].map((x) => x.getAttribute("aria-label"))`, &names)
	if len(names) != 3 || !strings.Contains(names[1], "Most: 1 in run "+listedRun) {
		b.Fail("charts are called %q", names)
	}
	b.Eval(fmt.Sprintf(`[...document.querySelectorAll("tbody a")].find((a) => a.innerText === %q).focus()`, listedRun), nil)
	b.Press(browsertest.Enter)
	b.Await(`location.pathname.startsWith("/runs/") && document.querySelector("main").dataset.ready === "yes"`)
	for range 2 { // by the link, and by the address that schedulers link to
		has(b, "Run "+listedRun, "libcut.so", "rejected", "elf:")
		shown(s, b, "/runs/"+url.PathEscape(listedRun))
	}
	has(b, "libcut.so")
	b.Eval(`(() => { const x = document.querySelector("#state"); x.value = "skipped"; x.dispatchEvent(new Event("change")); })()`, nil)
	has(b, "README.md", "No format of symlake knows this file")
	shown(s, b, "/runs/no-such-run")
	has(b, "knows no run of this name")
	b.Axe("a run that is not there")
	b.Expect("404")
}

func pageOfObjects(s *serving, b *browsertest.Browser) {
	shown(s, b, "/objects")
	has(b, "libcut.so", "mapping.txt", "loaded", "rejected", "50 objects, and more.")
	shown(s, b, "/objects#state=rejected")
	has(b, "1 object.")
	b.Click("tbody td:last-child a")
	b.Await(`location.pathname.startsWith("/runs/")`)
	has(b, "libcut.so")
}

func pageOfInterface(s *serving, b *browsertest.Browser) {
	shown(s, b, "/api")
	has(b, "/v1/artifacts", "/symbolicate/v5", "Values")
	b.Eval(`document.querySelector("#artifacts details.try summary").focus()`, nil)
	if b.Kind == "chromium" {
		b.Press(browsertest.Enter)
	} else { // Firefox without a window opens no details by keys
		b.Click("#artifacts details.try summary")
	}
	b.Await(`document.querySelector("#artifacts details.try").open`)
	b.Eval(`document.querySelector("#artifacts-find").focus()`, nil)
	b.Type("libgame")
	b.Press(browsertest.Enter)
	b.Await(`document.querySelector("#artifacts pre.answer")?.innerText.includes("\"artifacts\"")`)
	b.Eval(`(() => { const d = document.querySelector("#symbolicate details.try"); d.open = true; document.querySelector("#symbolicate-body").value = "#00 pc 47d4  libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n"; })()`, nil)
	b.Click("#symbolicate details.try button.primary")
	b.Await(`document.querySelector("#symbolicate pre.answer")?.innerText.includes("helper")`)
	b.Axe("the interface with answers")
	shown(s, b, "/api#Run")
	b.Await(`document.activeElement.id === "Run"`)
}
