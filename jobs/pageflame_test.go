package jobs

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/samples/flame"
	"github.com/symlake/symlake/jobs/serve/page/browsertest"
)

// gameSamples are samples of a game with two threads.
func gameSamples(t *testing.T) *samples.Profile {
	t.Helper()
	p := &samples.Profile{Name: "game", Types: []samples.Type{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Default: 1, Lost: 2,
		Threads: []samples.Thread{{PID: 7, TID: 7, Name: "main", Process: "game"}, {PID: 7, TID: 9, Name: "render", Process: "game"}}}
	stacks := [][]string{
		{"__libc_start_main|libc.so", "main|game", "game::Engine::run()|libgame.so", "game::Engine::step(int)|libgame.so", "game::Engine::energy(game::Vec3 const*, int) const|libgame.so", "game::dot(game::Vec3 const&, game::Vec3 const&)|libgame.so"},
		{"__libc_start_main|libc.so", "main|game", "game::Engine::run()|libgame.so", "game::Engine::step(int)|libgame.so", "game::Collisions::sweep()|libgame.so", "std::sort<game::Box*>(game::Box*, game::Box*)|libgame.so"},
		{"__libc_start_main|libc.so", "main|game", "game::Engine::run()|libgame.so", "json::parse(char const*)|libjson.so", "operator new(unsigned long)|libc++.so", "malloc|libc.so"},
		{"__libc_start_main|libc.so", "main|game", "game::Engine::run()|libgame.so", "net::Socket::read(net::Buffer&)|libnet.so", "recv|libc.so"},
		{"start_thread|libc.so", "render::Loop::run()|librender.so", "render::Scene::draw()|librender.so", "render::Mesh::upload(gpu::Queue&)|librender.so", "memcpy|libc.so"},
		{"start_thread|libc.so", "render::Loop::run()|librender.so", "render::Scene::draw()|librender.so", "render::Culling::visible(game::Box const&)|librender.so"},
		{"start_thread|libc.so", "render::Loop::run()|librender.so", "render::Text::layout(std::string const&)|librender.so", "hb_shape|libharfbuzz.so"},
	}
	rnd := rand.New(rand.NewPCG(2, 7))
	for range 600 {
		n := min(rnd.IntN(len(stacks)), rnd.IntN(len(stacks)+2))
		at := int32(samples.None)
		for i, f := range stacks[n] {
			if i > 3 && rnd.IntN(4) == 0 {
				break
			}
			name, module, _ := strings.Cut(f, "|")
			frame, err := p.Frame(samples.Frame{Function: name, Module: module})
			if err == nil {
				at, err = p.Push(at, frame)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		thread := int32(0)
		if n > 3 {
			thread = 1
		}
		if err := p.Add(samples.Sample{Stack: at, Thread: thread, Time: -1}, 1, int64(1e6*(8+rnd.IntN(5)))); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// A flame graph's page shows itself light and dark, without a request or a finding of axe-core. It zooms, searches and
// switches by keys and by clicks. The picture does, too.
func pageFlame(t *testing.T, b *browsertest.Browser) {
	p := gameSamples(t)
	files := map[string][]byte{}
	for path, f := range map[string]*profile.Format{"/page": flame.Page, "/picture": flame.SVG} {
		var out bytes.Buffer
		if err := f.Write(&out, p); err != nil {
			t.Fatal(err)
		}
		files[path] = out.Bytes()
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := map[string]string{"/page": "text/html; charset=utf-8", "/picture": "image/svg+xml"}[r.URL.Path]
		if kind == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Write(files[r.URL.Path])
	}))
	t.Cleanup(s.Close)

	b.Go(s.URL + "/page")
	b.Await(pageReady)
	b.Axe("a flame graph")
	b.Picture("flame")
	if b.Dark {
		b.Clean()
		return
	}
	all := b.Text("#about")
	wants := func(selector, want string) {
		t.Helper()
		if got := b.Text(selector); !strings.Contains(got, want) {
			t.Errorf("%s: %s is %q, want %q", b.Kind, selector, got, want)
		}
	}
	wants("#top tr", "game::")
	b.Eval(`document.querySelector("#graph").focus()`, nil)
	b.Press(browsertest.Down)
	wants("#said", "__libc_start_main")
	b.Press(browsertest.Down)
	b.Press(browsertest.Enter)
	b.Await(`!document.querySelector("#reset").disabled`)
	b.Press(browsertest.Escape)
	b.Await(`document.querySelector("#reset").disabled`)
	b.Press("/")
	b.Type("malloc")
	wants("#matched", "1 function matches, in ")
	b.Axe("a flame graph with a search")
	choose := func(field, value string) {
		b.Eval(`(() => { const s = document.querySelector("#`+field+`"); s.value = "`+value+`"; s.dispatchEvent(new Event("change")); })()`, nil)
	}
	choose("thread", "1")
	wants("#about", "render of game (9)")
	choose("view", "inverted")
	wants("#matched", "in 0.00 % of all")
	choose("type", "0")
	wants("#about", "samples: ")
	if b.Text("#about") == all {
		t.Errorf("%s: thread and value change nothing", b.Kind)
	}
	b.Size(400, 800)
	b.Axe("a flame graph on a phone")
	b.Size(1280, 800)
	b.Clean()

	b.Go(s.URL + "/picture")
	b.Await(`document.querySelector("#frames > g[tabindex]") !== null`)
	b.Size(1200, 250)
	b.Picture("flame-svg")
	b.Eval(`document.querySelector("#frames > g").focus()`, nil)
	b.Press(browsertest.Up)
	b.Press(browsertest.Enter)
	b.Await(`!document.querySelector("#reset").classList.contains("hidden") && document.querySelector("#frames > g.hidden") !== null`)
	b.Await(`document.querySelector("#said").textContent.includes("main (")`)
	b.Press(browsertest.Escape)
	b.Await(`document.querySelector("#frames > g.hidden") === null`)
	b.Clean()
}
