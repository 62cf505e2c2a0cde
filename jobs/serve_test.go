package jobs

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// serving is a symlake serve as a child process.
type serving struct {
	url string
	run *exec.Cmd

	mu  sync.Mutex
	log bytes.Buffer
	end chan struct{} // closed when the log is
}

func (s *serving) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// startServe starts a server of a store on a free port, until the test ends.
func startServe(t testing.TB, store string, args ...string) *serving {
	t.Helper()
	const patient = "10m" // a busy host may answer late
	s := &serving{run: symlake(t, append([]string{"--store", store, "serve", "--listen", "127.0.0.1:0", "--max-time", patient}, args...)...), end: make(chan struct{})}
	pipe, err := s.run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	go func() {
		defer close(s.end)
		in := bufio.NewScanner(pipe)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			s.mu.Lock()
			s.log.WriteString(in.Text() + "\n")
			s.mu.Unlock()
			var line struct{ Msg, Address string }
			if json.Unmarshal(in.Bytes(), &line) == nil && line.Msg == "listening" {
				address <- line.Address
			}
		}
	}()
	t.Cleanup(func() { s.run.Process.Kill(); <-s.end; s.run.Wait() })
	select {
	case a := <-address:
		s.url = "http://" + a
	case <-s.end:
		t.Fatalf("serve ended: %s", s.text())
	case <-time.After(formattest.Patience):
		t.Fatalf("serve does not listen: %s", s.text())
	}
	return s
}

// ask sends a request and gives status and body.
func (s *serving) ask(t testing.TB, method, path, kind, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// ingested is a store with the small objects of testdata.
func ingested(t testing.TB, folders ...string) string {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	args := []string{"--store", store, "--lake", "off", "ingest"}
	for _, f := range folders {
		args = append(args, formattest.Testdata(t, f))
	}
	mustRun(t, []int{0}, args...)
	return store
}

// A command that asks a server prints what one prints that reads the store.
func TestServeAnswersAsTheStore(t *testing.T) {
	t.Parallel()
	store := ingested(t, "elf", "macho", "r8", "js")
	s := startServe(t, store)
	texts, err := filepath.Glob(filepath.Join(formattest.Testdata(t, "stacks"), "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, formattest.Testdata(t, "r8/shop.txt"))
	all := filepath.Join(t.TempDir(), "all.txt") // above the size that is sent at once, with bytes that are no UTF-8
	var long []byte
	for len(long) < 3<<20 {
		for _, f := range texts {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(f, "ips.txt") && !strings.HasSuffix(f, "kscrash.txt") {
				long = append(append(long, text...), "log line \xff\xfe\x00 end\n"...)
			}
		}
	}
	if err := os.WriteFile(all, long, 0o644); err != nil {
		t.Fatal(err)
	}
	const id = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
	commands := [][]string{
		{"artifacts"}, {"artifacts", "--json"}, {"artifacts", id, "--json"}, {"artifacts", "libgame-arm64-dw5.so"}, {"artifacts", "libgame.so", "--json"},
		{"artifacts", "--app", "none@1"}, {"artifacts", "no-such-thing"},
		{"lookup", id, "0x47d4", "0x4748", "+0x1", "0xffffffffffffffff", "_ZN4game6Engine4stepEi+0x4"}, {"lookup", id, "0x47d4", "--json"}, {"lookup", id, "0x47d4", "--no-demangle"},
		{"lookup", id, "0x47d4", "0x1", "--style", "addr2line"}, {"lookup", "libgame.so", "0x47d4", "--json"}, {"lookup", "nothing", "0x1", "--json"},
		{"lookup", "app.min.js", "1:100", "--json"}, {"lookup", "mapping.txt", "s.b.a:8", "--json"}, {"lookup", id, "nonsense"}, {"lookup", id},
		{"symbolicate", "--explain", texts[0]}, {"symbolicate", "--json", all}, {"symbolicate", all}, {"symbolicate", "--frame0", "return", texts[3]},
		{"symbolicate", "--artifact", "mapping.txt", "--school", "list", "--verbose", formattest.Testdata(t, "r8/shop.txt")}, {"symbolicate", "--regex", "(", texts[0]},
		{"symbolicate", "--artifact", id, filepath.Join(filepath.Dir(texts[0]), "plain.txt")},
	}
	for _, f := range texts {
		commands = append(commands, []string{"symbolicate", f}, []string{"symbolicate", "--json", f})
	}
	for _, args := range commands {
		run := func(store string) (out string, code int) {
			cmd := symlake(t, append([]string{"--store", store}, args...)...)
			text, err := cmd.Output()
			if _, exited := err.(*exec.ExitError); err != nil && !exited {
				t.Fatal(err)
			}
			return string(text), cmd.ProcessState.ExitCode()
		}
		want, wantCode := run(store)
		got, code := run(s.url)
		if got != want || code != wantCode {
			t.Errorf("%v: exit code %d, want %d\n%s", args, code, wantCode, cmp.Diff(want, got))
		}
	}
}

// The protocol of Tecken and Eliot, held against the symbol table as debug/elf reads it and against the answers of lookup.
func TestServeTecken(t *testing.T) {
	store := ingested(t, "elf/libgame-arm64-dw5.so")
	s := startServe(t, store)
	const id = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
	const debug = "C8B64B5648BEA9EED9DB622B8689806E0"
	f, err := elf.Open(formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var frames [][2]uint64
	entries := map[uint64]uint64{}
	for _, sym := range symbols {
		if elf.ST_TYPE(sym.Info) == elf.STT_FUNC && sym.Section != elf.SHN_UNDEF {
			for at := sym.Value; at < sym.Value+sym.Size; at += 4 {
				frames = append(frames, [2]uint64{1, at})
				entries[at] = sym.Value
			}
		}
	}
	stack, err := json.Marshal(frames)
	if err != nil {
		t.Fatal(err)
	}
	code, text := s.ask(t, "POST", "/symbolicate/v5", "application/json",
		fmt.Sprintf(`{"jobs":[{"memoryMap":[["other.so","ABCDEF"],["libgame.so","%s"],["unasked.so","12"]],"stacks":[%s,[[-1,77],[0,3],[1,-1],[1,18446744073709551615]],[]]}],"version":5}`, debug, stack))
	type frame struct {
		Frame                           int
		Module, Module_offset           string
		Function, Function_offset, File *string
		Line                            uint32
		Inlines                         []struct {
			Function, File string
			Line           uint32
		}
	}
	var out struct {
		Results []struct {
			Stacks        [][]frame
			Found_modules map[string]*bool
		}
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil || code != 200 || len(out.Results) != 1 || len(out.Results[0].Stacks) != 3 {
		t.Fatalf("%d %v %.300s", code, err, text)
	}
	found := out.Results[0].Found_modules
	if yes, no := found["libgame.so/"+debug], found["other.so/ABCDEF"]; yes == nil || !*yes || no == nil || *no || found["unasked.so/12"] != nil || len(found) != 3 {
		t.Errorf("found modules: %s", text[strings.Index(text, "found_modules"):])
	}
	if !strings.Contains(text, `[{"frame":0,"module":"<unknown>","module_offset":"0x4d"},{"frame":1,"module":"other.so","module_offset":"0x3"},{"frame":2,"module":"libgame.so","module_offset":"-0x1"},{"frame":3,"module":"libgame.so","module_offset":"0xffffffffffffffff"}]`) {
		t.Errorf("frames without an answer: %.600s", text[strings.Index(text, "<unknown>")-40:])
	}
	args := []string{"--store", store, "lookup", id, "--json"}
	for _, at := range frames {
		args = append(args, fmt.Sprintf("%#x", at[1]))
	}
	answers, _ := mustRun(t, []int{0}, args...)
	dec := json.NewDecoder(strings.NewReader(answers))
	checked := 0
	for i, got := range out.Results[0].Stacks[0] {
		var want wire.Answer
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got.Frame != i || got.Module_offset != fmt.Sprintf("%#x", frames[i][1]) || (got.Function != nil) != (len(want.Frames) > 0) {
			t.Fatalf("frame %d: %+v", i, got)
		}
		if got.Function == nil {
			continue
		}
		outer := want.Frames[len(want.Frames)-1]
		if *got.Function != outer.Function || *got.File != outer.File || got.Line != outer.Line || len(got.Inlines) != len(want.Frames)-1 {
			t.Fatalf("frame %d: %+v, want %+v", i, got, want)
		}
		for k, in := range got.Inlines {
			if w := want.Frames[k]; in.Function != w.Function || in.File != w.File || in.Line != w.Line {
				t.Fatalf("frame %d, inlined %d: %+v, want %+v", i, k, in, w)
			}
		}
		if got.Function_offset == nil || *got.Function_offset != fmt.Sprintf("%#x", frames[i][1]-entries[frames[i][1]]) {
			t.Fatalf("frame %d at %#x: function_offset %v, want %#x", i, frames[i][1], *got.Function_offset, frames[i][1]-entries[frames[i][1]])
		}
		checked++
	}
	if checked < 150 {
		t.Errorf("%d frames were compared", checked)
	}
	// One job may stand for itself.
	one, same := s.ask(t, "POST", "/symbolicate/v5", "text/plain", fmt.Sprintf(`{"memoryMap":[["libgame.so","%s"]],"stacks":[[[0,18248]]]}`, strings.ToLower(debug)))
	if one != 200 || !strings.Contains(same, `"function":"game::Engine::energy(game::Vec3 const*, int) const"`) {
		t.Errorf("%d %s", one, same)
	}
}

// A malformed request is a 4xx that says why. A question without an answer has a status.
func TestServeBadInput(t *testing.T) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--max-stacks", "50", "--max-frames", "1000", "--max-body", "1MiB")
	const js, v5, sym, many, one = "application/json", "/symbolicate/v5", "/v1/symbolicate", "/v1/lookup", "/v1/lookup?artifact=x&position="
	frames := strings.Repeat("#00 pc 0000000000004748  libgame.so\n", 1001)
	for _, c := range []struct {
		method, path, kind, body string
		code                     int
		says                     string
	}{
		{"GET", "/none", "", "", 404, "no such path"},
		{"GET", v5, "", "", 405, "want POST"},
		{"DELETE", "/v1/lookup", "", "", 405, "GET, HEAD, POST"},
		{"POST", v5, js, "", 400, "no JSON"},
		{"POST", v5, js, "{", 400, "JSON"},
		{"POST", v5, js, strings.Repeat("[", 100_000), 413, "frames"},
		{"POST", v5, js, "[]", 400, "wrong type"},
		{"POST", v5, js, "null", 400, "no stacks"},
		{"POST", v5, js, `{"jobs":{}}`, 400, "wrong type"},
		{"POST", v5, js, `{"jobs":[{"stacks":[[[0,1]]]}]}`, 400, "job 0: no memoryMap"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]]}`, 400, "no stacks"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[]}`, 400, "no stacks"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[null]}`, 400, "stack 0"},
		{"POST", v5, js, `{"memoryMap":[["a"]],"stacks":[[]]}`, 400, "module 0"},
		{"POST", v5, js, `{"memoryMap":[["a","xyz"]],"stacks":[[]]}`, 400, "hex"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[[[1,5]]]}`, 400, "not in memoryMap"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[[[-2,5]]]}`, 400, "module"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[[[0,18446744073709551616]]]}`, 400, "2^64"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[[[0,-2]]]}`, 400, "offset"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[[[0,1.5]]]}`, 400, "offset"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[[["0","1"]]]}`, 400, "module"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[[[0,1,2]]]}`, 400, "offset"},
		{"POST", v5, js, `{"memoryMap":[["a","b"]],"stacks":[[{}]]}`, 400, "frame"},
		{"POST", v5, js, `{"memoryMap":[],"stacks":[` + strings.Repeat("[],", 50) + `[]]}`, 413, "stacks"},
		{"POST", v5, js, `{"memoryMap":[],"stacks":[[` + strings.Repeat("[-1,1],", 1000) + `[-1,1]]]}`, 413, "frames"},
		{"POST", v5, js, `{"jobs":[` + strings.Repeat(`{"memoryMap":[],"stacks":[[]]},`, 10) + `{"memoryMap":[],"stacks":[[]]}]}`, 400, "11 jobs"},
		{"POST", v5, js, strings.Repeat(" ", 1<<20+1), 413, "1048576 bytes"},
		{"POST", sym, js, `{}`, 400, "want stacks"},
		{"POST", sym, js, `{"stacks":[{}]}`, 400, "want text"},
		{"POST", sym, js, `{"stacks":[{"text":5}]}`, 400, "wrong type"},
		{"POST", sym, js, `{"stacks":[{"text":"x","frame0":"last"}]}`, 400, "frame0"},
		{"POST", sym, js, `{"stacks":[{"text":"x","platform":"amiga"}]}`, 400, "platform"},
		{"POST", sym, js, `{"stacks":[{"text":"x","school":"old"}]}`, 400, "school"},
		{"POST", sym, js, `{"stacks":[{"text":"x","regex":"("}]}`, 400, "regex"},
		{"POST", sym, js, `{"stacks":[{"text":"x","txet":"x"}]}`, 400, `unknown member "txet"`},
		{"POST", sym, js, `{"stacks":[{"text":"x"}],"output":"html"}`, 400, "output"},
		{"POST", sym, js, `{"stacks":[]} {}`, 400, "JSON"},
		{"POST", sym, js, `{"stacks":[` + strings.Repeat(`{"text":""},`, 50) + `{"text":""}]}`, 413, "51 stacks"},
		{"POST", sym, "text/plain", frames, 413, "1000 frames"},
		{"POST", sym, "image/png", "x", 415, "Content-Type"},
		{"POST", sym, "", "x", 415, "Content-Type"},
		{"POST", sym + "?frame0=last", "text/plain", "x", 400, "frame0"},
		{"POST", sym + "?verbose=perhaps", "text/plain", "x", 400, "verbose"},
		{"POST", sym + "?color=red", "text/plain", "x", 400, "parameter"},
		{"POST", sym + "?app=%zz", "text/plain", "x", 400, "encoded"},
		{"POST", many, js, `{"queries":null}`, 400, "null stands"},
		{"POST", many, js, `{"queries":[{"artifact":"","position":"0x1"}]}`, 400, "want artifact"},
		{"POST", many, js, `{"queries":[{"artifact":"x","position":"12"}]}`, 400, "position"},
		{"POST", many, "text/plain", `{"queries":[]}`, 415, "Content-Type"},
		{"GET", one, "", "", 400, "position"},
		{"GET", one + "0x1&artifact=y", "", "", 400, "one artifact"},
		{"GET", one + "0x1ffffffffffffffff", "", "", 400, "position"},
		{"GET", "/v1/artifacts?limit=0", "", "", 400, "limit"},
		{"GET", "/v1/artifacts?from=x", "", "", 400, "from"},
		{"GET", "/v1/artifacts?name=nothing", "", "", 404, "no-artifact"},
	} {
		code, text := s.ask(t, c.method, c.path, c.kind, c.body)
		var said struct{ Error string }
		if code != c.code || json.Unmarshal([]byte(text), &said) != nil || !strings.Contains(said.Error, c.says) {
			t.Errorf("%s %s %.60s: %d %.200s\nwant %d with %q", c.method, c.path, c.body, code, text, c.code, c.says)
		}
	}
	for _, c := range []struct{ method, path, kind, body, has string }{
		{"POST", sym, js, `{"stacks":[]}`, `{"results":[]}`},
		{"POST", sym, js, `{"stacks":[{"text":""},{"text":"no frames"},{"text":"#00 pc ffffffffffffffff  libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n"}]}`, `{"results":[{"stacks":[],"recognized":0,"answered":0,"looks":"empty"},{"stacks":[],"recognized":0,"answered":0,"looks":"text that begins with \"no frames\""},{"stacks":[{"format":`},
		{"POST", sym, js, `{"stacks":[{"text":"#00 pc ffffffffffffffff  libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n"}]}`, `"status":"outside"`},
		{"POST", sym, js, `{"stacks":[{"text":"#00 pc 1  libgame.so (BuildId: ffffffffffffffff)\n"}],"output":"both"}`, `"status":"no-artifact"`},
		{"POST", sym, js, `{"stacks":[{"text":"a\ud800\u0000b"}],"output":"text"}`, `{"results":[{"text":"a` + "\ufffd" + `\u0000b","recognized":0,"answered":0,"looks":"no text: it has bytes of zero and other control characters"}]}`},
		{"POST", many, js, `{"queries":[]}`, `{"answers":[]}`},
		{"GET", one + "0xffffffffffffffff", "", "", `"status":"no-artifact"`},
		{"GET", "/v1/lookup?artifact=libgame-arm64-dw5.so&position=%2B0xffffffffffffffff", "", "", `"status":"outside"`},
		{"HEAD", "/healthz", "", "", ``},
	} {
		if code, text := s.ask(t, c.method, c.path, c.kind, c.body); code != 200 || !strings.Contains(text, c.has) {
			t.Errorf("%s %s %.100s: %d %.300s\nwant %s", c.method, c.path, c.body, code, text, c.has)
		}
	}
	if log := s.text(); strings.Contains(log, "panic") {
		t.Errorf("it panicked: %s", log)
	}
}

// A caller without a token learns only that the process lives. The log names callers, artifacts and counts, no functions.
func TestServeTokens(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("# who may ask\nprofiler first-token-000000\npipeline second-token-00000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := ingested(t, "elf/libgame-arm64-dw5.so")
	s := startServe(t, store, "--tokens", tokens)
	for _, path := range []string{"/v1/artifacts", "/v1/wanted", "/v1/objects", "/v1/runs", "/v1/status", "/v1/lookup?artifact=a&position=0x1", "/metrics"} {
		for _, header := range []string{"", "Bearer", "Bearer wrong-token-000000", "Basic first-token-000000", "Bearer first-token-00000"} {
			if code, text := s.ask(t, "GET", path, "", "", "Authorization", header); code != 401 || strings.Contains(text, "libgame") {
				t.Errorf("%s with %q: %d %s", path, header, code, text)
			}
		}
		if code, _ := s.ask(t, "GET", path, "", "", "Authorization", "bearer second-token-00000"); code != 200 {
			t.Errorf("%s: %d", path, code)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		if code, _ := s.ask(t, "GET", path, "", ""); code != 200 {
			t.Errorf("%s: %d", path, code)
		}
	}
	const id = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
	ask := func(token string, codes ...int) (string, string) {
		return mustRun(t, codes, "--store", s.url, "--token", token, "lookup", id, "0x47d4")
	}
	if out, _ := ask("second-token-00000", 0); !strings.Contains(out, "helper") {
		t.Error(out)
	}
	if _, said := ask("not-a-token-0000000", 2); !strings.Contains(said, "401") {
		t.Error(said)
	}
	if _, said := mustRun(t, []int{2}, "--store", "http://192.0.2.1", "--token", "second-token-00000", "lookup", id, "0x1"); !strings.Contains(said, "https only") {
		t.Error(said)
	}
	if _, said := mustRun(t, []int{2}, "--store", s.url, "verify"); !strings.Contains(said, "symlake serve") {
		t.Error(said)
	}
	s.ask(t, "POST", "/v1/symbolicate", "text/plain", "#00 pc 47d4  libgame.so (BuildId: "+id+")\nsecret words of a log\n", "Authorization", "Bearer first-token-000000")
	_, metrics := s.ask(t, "GET", "/metrics", "", "", "Authorization", "Bearer first-token-000000")
	for _, want := range []string{`symlake_frames_total{kind="elf",status="found"} 2`, `symlake_http_requests_total{code="401",path="/metrics"} 5`, "process_resident_memory_bytes", `symlake_reads_total{from="store",outcome="ok"}`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	log := s.text()
	if !strings.Contains(log, `"caller":"profiler"`) || !strings.Contains(log, `"artifacts":["`) || !strings.Contains(log, `"frames":1`) {
		t.Errorf("the log lacks caller, artifacts or counts: %s", log)
	}
	for _, secret := range []string{"helper", "engine.cpp", "secret words", "-token-0", "libgame"} {
		if strings.Contains(log, secret) || strings.Contains(metrics, secret) {
			t.Errorf("log or metrics hold %q", secret)
		}
	}
}

// On a signal, the server finishes requests under way, takes no new ones, and ends with 0.
func TestServeDrains(t *testing.T) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--drain-delay", "500ms")
	r, w := io.Pipe()
	answered := make(chan string, 1)
	go func() {
		res, err := http.Post(s.url+"/v1/symbolicate", "text/plain", r)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		answered <- fmt.Sprint(res.StatusCode, string(text))
	}()
	io.WriteString(w, "#00 pc 47d4  libgame.so (BuildId: 564bb6c8be48")
	s.run.Process.Signal(syscall.SIGTERM)
	formattest.Await(t, "readyz refuses", func() bool { code, _ := s.ask(t, "GET", "/readyz", "", ""); return code == 503 })
	formattest.Await(t, "no new connections", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	io.WriteString(w, "eea9d9db622b8689806eea5af3c7)\n")
	w.Close()
	if got := <-answered; !strings.HasPrefix(got, "200") || !strings.Contains(got, "helper") {
		t.Errorf("the request under way: %s", got)
	}
	<-s.end
	if err := s.run.Wait(); err != nil {
		t.Errorf("serve ended with %v: %s", err, s.text())
	}
}

// With the store gone, the cache answers and the rest says that the store does not answer.
func TestServeStoreGone(t *testing.T) {
	store := ingested(t, "elf/libgame-arm64-dw5.so", "elf/libgame-x64-dw5.so")
	s := startServe(t, store, "--catalog-ttl", "1ms", "--negative-ttl", "1ms")
	const known, unknown = "564bb6c8be48eea9d9db622b8689806eea5af3c7", "libgame-x64-dw5.so"
	ask := func(artifact string) string {
		_, text := s.ask(t, "GET", "/v1/lookup?position=0x47d4&artifact="+artifact, "", "")
		return text
	}
	if text := ask(known); !strings.Contains(text, "helper") {
		t.Fatal(text)
	}
	catalogs, err := filepath.Glob(filepath.Join(store, "*.db*"))
	if err != nil || len(catalogs) == 0 {
		t.Fatal(catalogs, err)
	}
	for _, f := range catalogs {
		if err := os.Truncate(f, 0); err != nil {
			t.Fatal(err)
		}
	}
	if text := ask(known); !strings.Contains(text, "helper") {
		t.Errorf("what was cached: %s", text)
	}
	if text := ask(unknown); strings.Contains(text, "no-artifact") || !strings.Contains(text, "unavailable") && !strings.Contains(text, "corrupt") {
		t.Errorf("what was not: %s", text)
	}
}

// TLS, as --store https://host finds it.
func TestServeTLS(t *testing.T) {
	formattest.Tool(t, "openssl", "apt-get install openssl")
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if out, err := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--tls-cert", cert, "--tls-key", key)
	cmd := symlake(t, "--store", strings.Replace(s.url, "http:", "https:", 1), "lookup", "libgame-arm64-dw5.so", "0x47d4")
	cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+cert, "SYMLAKE_TOKEN=a-token-that-nobody-asks-for")
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "helper") {
		t.Errorf("%v: %s", err, out)
	}
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}}}
	if res, err := c.Get(strings.Replace(s.url, "http:", "https:", 1) + "/healthz"); err == nil {
		res.Body.Close()
		t.Error("TLS 1.1 is spoken")
	}
}

// A redirect, an endless answer, a page that leads back: what a server may do to its client.
func TestRemoteServerIsWrong(t *testing.T) {
	var page string
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/artifacts", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, page) })
	mux.HandleFunc("/v1/lookup", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: mux}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	url := "http://" + l.Addr().String()
	page = `{"artifacts":[],"next":"` + strings.Repeat("0", 32) + `"}`
	if _, said := mustRun(t, []int{1}, "--store", url, "artifacts"); !strings.Contains(said, "circle") {
		t.Error(said)
	}
	page = "<html>"
	if _, said := mustRun(t, []int{1}, "--store", url, "artifacts"); !strings.Contains(said, "answer") {
		t.Error(said)
	}
	if _, said := mustRun(t, []int{1}, "--store", url, "lookup", "x", "0x1"); !strings.Contains(said, "307") {
		t.Error(said)
	}
}

// Every path and parameter of the server stands in its description, and the other way round.
func TestServeDescription(t *testing.T) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--otlp-forward", "http://127.0.0.1:9")
	_, text := s.ask(t, "GET", "/openapi.json", "", "")
	var doc struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for p, methods := range doc.Paths {
		paths = append(paths, p)
		for m, described := range methods {
			if code, _ := s.ask(t, strings.ToUpper(m), p, "application/json", "{}"); code == 404 || code == 405 {
				t.Errorf("%s %s: %d", m, p, code)
			}
			code, _ := s.ask(t, strings.ToUpper(m), p, "application/json", "{}", "Content-Encoding", "br")
			if described.Responses[fmt.Sprint(code)] == nil {
				t.Errorf("%s %s: %d is not described", m, p, code)
			}
		}
	}
	slices.Sort(paths)
	want := []string{"/", "/healthz", "/metrics", "/openapi.json", "/readyz", "/symbolicate/v5", "/v1/artifacts", "/v1/lookup", "/v1/objects", "/v1/profiles", "/v1/run", "/v1/runs", "/v1/status", "/v1/symbolicate", "/v1/trace", "/v1/wanted", "/v1development/profiles"}
	if !reflect.DeepEqual(paths, want) {
		t.Errorf("described: %v", paths)
	}
}
