package jobs

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/serve/outlet"
)

// generator makes requests of every endpoint: what clients send, and what none would.
type generator struct {
	*rand.Rand
	corpus [][]byte // texts of stacks and reports
}

func (g *generator) pick(all ...string) string { return all[g.IntN(len(all))] }

// size is mostly small, and sometimes most.
func (g *generator) size(most int) int {
	switch g.IntN(10) {
	case 0:
		return g.IntN(most + 1)
	case 1, 2:
		return g.IntN(most/10 + 1)
	}
	return g.IntN(20)
}

// artifact is a name that may lead to something.
func (g *generator) artifact() string {
	switch g.IntN(12) {
	case 0:
		return strings.Repeat("a", g.size(5000))
	case 1:
		return fmt.Sprintf("%032x", g.Uint64())
	}
	return g.pick(wideID, "564bb6c8be48eea9d9db622b8689806eea5af3c7", "libgame.so", "libwide.so", "mapping.txt", "wide.js", "1234567", "app.min.js")
}

func (g *generator) position() string {
	switch g.IntN(8) {
	case 0:
		return g.pick("", "12", "nonsense", "0x", "+0xffffffffffffffff", "1:0", "1:60", "7:99999999", "a.b", "a.b:3", "_ZN4game6Engine4stepEi+0x4")
	case 1:
		return strings.Repeat("n", g.size(60_000)) + "+0x1"
	}
	return g.pick("0x", "+0x") + strconv.FormatUint(0x1000+g.Uint64N(0x4000), 16)
}

// text is a stack, a report, or what looks like one.
func (g *generator) text() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		switch g.IntN(9) {
		case 0, 1:
			b.Write(g.corpus[g.IntN(len(g.corpus))])
		case 2:
			text := bytes.Clone(g.corpus[g.IntN(len(g.corpus))])
			for range 1 + g.IntN(8) {
				if len(text) > 0 {
					text[g.IntN(len(text))] = byte(g.Uint32())
				}
			}
			b.Write(text[:g.IntN(len(text)+1)])
		case 3, 4:
			for i := range g.size(20_000) {
				fmt.Fprintf(&b, "#%02d pc %08x  libwide.so (BuildId: %s)\n", i, 0x1000+g.IntN(0x900), g.pick(wideID, wideID, "564bb6c8be48eea9d9db622b8689806eea5af3c7"))
			}
		case 5:
			b.WriteString("java.lang.Error: a\n" + strings.Repeat("\tat a.b("+g.pick("Unknown Source", "SourceFile:3", "")+")\n", g.size(3000)))
		case 6:
			open := g.pick(`{"usedImages":[`, `{"modules":[`, `{"threads":[{"frames":[`, `[`, `{"stacktrace":{"frames":[`)
			b.WriteString(open + strings.Repeat(g.pick("{},", `{"a":1},`, "[],", `"x",`, `{"file":"wide.js","line":1,"column":0},`), g.size(200_000)) + g.pick("", "{}]}", "{}]}]}"))
		case 7:
			b.WriteString(strings.Repeat(g.pick("0x1\n", "x", "at f (https://shop.example/wide.js:1:1)\n", "    at g (wide.js:1:1)\n", "\n", "\xff\x00"), g.size(100_000)))
		case 8:
			b.WriteString(g.pick("MDMP", "\x08\x01", "\x12\x04", "*** *** ***\nABI: 'arm64'\n"))
			for range g.size(4000) {
				b.WriteByte(byte(g.Uint32()))
			}
		}
	}
	return b.String()
}

func (g *generator) quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (g *generator) list(n int, one func() string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = one()
	}
	return "[" + strings.Join(all, ",") + "]"
}

// request is the next one, and the encoding of its body.
func (g *generator) request() (q question, encoding string) {
	switch g.IntN(8) {
	case 0, 1:
		p := url.Values{}
		for _, name := range []string{"app", "platform", "frame0", "artifact", "school", "regex", "verbose", "explain", "output", "isolate_start"} {
			if g.IntN(6) == 0 {
				p.Set(name, g.pick("", "true", "records", "text", "android", "return", "list", ".*%c", "1000", g.artifact()))
			}
		}
		q = question{"POST", "/v1/symbolicate?" + p.Encode(), g.pick("text/plain", "text/plain", "application/octet-stream", "image/png"), g.text()}
	case 2, 3:
		raw := func() string {
			one := `{"text":` + g.quoted(g.text())
			if g.IntN(3) == 0 {
				one += `,"artifacts":` + g.list(g.IntN(66), func() string { return g.quoted(g.artifact()) })
			}
			if g.IntN(10) == 0 {
				one += `,"regex":` + g.quoted(strings.Repeat(g.pick(".*", "(a|b)", "%c", "x{9}"), g.size(400)))
			}
			return one + "}"
		}
		q = question{"POST", "/v1/symbolicate", "application/json", `{"stacks":` + g.list(g.IntN(6), raw) + `,"output":"` + g.pick("records", "text", "both", "") + `"}`}
	case 4:
		q = question{"POST", "/v1/lookup", "application/json", `{"context":` + strconv.Itoa(g.IntN(102)) + `,"queries":` + g.list(g.size(10_500), func() string {
			return `{"artifact":` + g.quoted(g.artifact()) + `,"position":` + g.quoted(g.position()) + `}`
		}) + `}`}
	case 5:
		p := url.Values{"artifact": {g.artifact()}, "context": {strconv.Itoa(g.IntN(102))}}
		for range 1 + g.IntN(20) {
			p.Add("position", g.position())
		}
		if q = (question{"GET", "/v1/lookup?" + p.Encode(), "", ""}); len(q.path) > 20_000 {
			q.path = q.path[:20_000]
		}
	case 6:
		q = question{"GET", g.pick("/v1/artifacts", "/v1/artifacts?limit=1", "/v1/artifacts?name="+url.QueryEscape(g.artifact()),
			"/v1/artifacts?find="+url.QueryEscape(g.artifact()), "/v1/artifacts?kind=elf&app=shop@1", "/v1/objects?state="+g.pick("", "loaded", "no-state"), "/v1/objects?from=%ff&run=x", "/v1/wanted?from="+g.pick("", "1", "9.9.x"),
			"/v1/runs?limit=1", "/v1/run?id="+url.QueryEscape(g.artifact()), "/v1/status", "/readyz", "/metrics", "/openapi.json", "/", "/nothing"), "", ""}
		if g.IntN(4) == 0 {
			q = question{"POST", "/v1/trace?artifact=" + url.QueryEscape(g.artifact()), "application/octet-stream", g.pick("1:a.b.c()\n2:POP\n", "*version\n3\n*end\n", `[{"ph":"B","ts":1,"pid":1,"tid":1,"name":"a.b.c()"}]`, g.text())}
		}
	case 7:
		frame := func() string { return fmt.Sprintf("[%d,%d]", g.IntN(3)-1, 0x1000+g.IntN(0x4000)) }
		job := func() string {
			return `{"memoryMap":[["libwide.so","` + wideID + `"],["libgame.so","C8B64B5648BEA9EED9DB622B8689806E0"]],"stacks":` +
				g.list(1+g.IntN(4), func() string { return g.list(g.size(30_000), frame) }) + `}`
		}
		q = question{"POST", "/symbolicate/v5", "application/json", g.pick(job(), `{"jobs":`+g.list(g.IntN(4), job)+`}`)}
	}
	if g.IntN(12) == 0 && len(q.body) > 0 {
		q.body = q.body[:g.IntN(len(q.body))] + strings.Repeat(g.pick("[", `{"a":`, "1,", `"",`), g.size(1<<20))
	}
	switch g.IntN(6) {
	case 0:
		return q, "gzip"
	case 1:
		return q, "zstd"
	}
	return q, ""
}

// encoded is a body as it is sent.
func encoded(t testing.TB, body, encoding string) []byte {
	var b bytes.Buffer
	switch encoding {
	case "gzip":
		w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		io.WriteString(w, body)
		w.Close()
	case "zstd":
		w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, body)
		w.Close()
	default:
		return []byte(body)
	}
	return b.Bytes()
}

// To any request, of many callers at once, a server answers without a fault of its own, in the form of the answer, and stays
// within its memory. It cuts an answer only if its caller is slow, as callers here may be on a busy machine.
// SYMLAKE_SERVE_REQUESTS says how many requests are made, of a new seed each time.
func TestServeGenerated(t *testing.T) {
	t.Parallel()
	requests, seed := 150, uint64(1)
	if v := os.Getenv("SYMLAKE_SERVE_REQUESTS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		requests, seed = n, rand.Uint64()
	}
	t.Logf("seed %d", seed)
	const cache = 32 << 20
	s := startServe(t, wideStore(t), "--cache", "32MiB")
	var corpus [][]byte
	texts, err := filepath.Glob(filepath.Join(formattest.Testdata(t, "stacks"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range texts {
		if text, err := os.ReadFile(f); err == nil {
			corpus = append(corpus, text)
		}
	}
	var next, answered, refused, cut atomic.Int64
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(requests) || t.Failed() {
					return
				}
				g := generator{rand.New(rand.NewPCG(seed, uint64(i))), corpus}
				q, encoding := g.request()
				r, err := http.NewRequestWithContext(t.Context(), q.method, s.url+q.path, bytes.NewReader(encoded(t, q.body, encoding)))
				if err != nil {
					t.Errorf("request %d: %v", i, err)
					return
				}
				r.Header.Set("Content-Type", q.kind)
				if encoding != "" {
					r.Header.Set("Content-Encoding", encoding)
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Logf("request %d, %s %.80s: %v", i, q.method, q.path, err) // refused before the body was sent
					refused.Add(1)
					continue
				}
				whole, err := wellFormed(res)
				if errors.Is(err, errCut) {
					t.Logf("request %d: %v", i, err)
					cut.Add(1)
					err = nil
				}
				if err != nil || res.StatusCode == 500 || res.StatusCode == 502 {
					t.Errorf("request %d, %s %.80s: %d, %v", i, q.method, q.path, res.StatusCode, err)
				}
				if answered.Add(1); !whole || res.StatusCode != 200 {
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := int(cut.Load()); n > 0 {
		formattest.Await(t, "a reason for each answer that was cut", func() bool { return strings.Count(s.text(), outlet.ErrSlow.Error()) >= n })
	}
	if log := s.text(); strings.Contains(log, `"msg":"panic"`) {
		t.Errorf("it panicked: %.3000s", log[strings.Index(log, `"msg":"panic"`):])
	}
	peak := s.peakBytes(t)
	t.Logf("%d answers, %d refused or ended early; %d MiB were resident", answered.Load(), refused.Load(), peak>>20)
	if peak > cache+256<<20 {
		t.Errorf("%d MiB were resident: want at most --cache and 256 MiB", peak>>20)
	}
	if answered.Load() < int64(requests)*9/10 || refused.Load() > int64(requests)*2/3 {
		t.Error("too few of the requests were answered to say anything")
	}
}

// errCut says that the connection ended before the answer.
var errCut = errors.New("the answer was cut")

// sentBody is the body of an answer. Its errors are errCut.
type sentBody struct{ io.Reader }

func (b sentBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errCut, err)
	}
	return n, err
}

// wellFormed reads an answer, and reports whether it is whole; an error says that its form is broken, or errCut that its end
// did not come.
func wellFormed(res *http.Response) (whole bool, err error) {
	defer res.Body.Close()
	body := sentBody{res.Body}
	switch kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); kind {
	case "application/json", "application/x-ndjson":
		dec := json.NewDecoder(body)
		depth := 0
		for {
			token, err := dec.Token()
			if err == io.EOF && depth == 0 {
				break
			}
			if err != nil {
				return false, err
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				depth++
			case json.Delim('}'), json.Delim(']'):
				depth--
			}
		}
	default:
		if _, err := io.Copy(io.Discard, body); err != nil {
			return false, err
		}
	}
	return res.Trailer.Get("Symlake-Error") == "", nil
}
