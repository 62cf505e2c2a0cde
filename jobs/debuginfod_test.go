package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket/debuginfod/debuginfodtest"
)

// Build-ids of files below testdata/elf.
const (
	game      = "564bb6c8be48eea9d9db622b8689806eea5af3c7" // libgame-arm64-dw5.so
	dwzOne    = "e8557f0faf4248ad5385c6eb7f7fb599d85025e8" // dwz-dw4/libone.so
	dwzCommon = "398a964b443553cdd498497d019bc8915266a55f" // dwz-dw4/common.debug
)

func elfData(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(formattest.Testdata(t, "elf/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ledgerOf returns state and reason of the objects of a store, by URL.
func ledgerOf(t *testing.T, store string) map[string]string {
	t.Helper()
	out, _ := mustRun(t, []int{0}, "--store", store, "objects", "--json")
	all := map[string]string{}
	for line := range strings.Lines(out) {
		var o struct{ URL, State, Reason string }
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all[o.URL] = strings.TrimSpace(o.State + " " + o.Reason)
	}
	return all
}

// A stack asks in vain, the next run asks the servers, and the same stack is answered.
func TestDebuginfod(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "data")
	other := strings.Repeat("ab", 20)
	stack := filepath.Join(dir, "stack.txt")
	text := "#00 pc 4674  libgame.so (BuildId: " + game + ")\n#01 pc 4674  libc.so (BuildId: " + other + ")\n#02 pc 4674  game (BuildId: " + strings.Repeat("cd", 16) + ")\n"
	if err := os.WriteFile(stack, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	first, second := debuginfodtest.Start(t), debuginfodtest.Start(t)
	first.Put(other, "executable", "/usr/lib/libc.so.6", elfData(t, "libgame-arm64-dw5.so")) // another build
	second.Put(game, "debuginfo", "/usr/lib/debug/libgame.so.debug", elfData(t, "libgame-arm64-dw5.so"))
	ingest := func(codes []int, args ...string) {
		mustRun(t, codes, append([]string{"--store", store, "--lake", "off", "ingest"}, args...)...)
	}

	ingest([]int{0}, formattest.Testdata(t, "elf/separate"))
	symbolicated := func() string {
		out, _ := mustRun(t, []int{0}, "--store", store, "symbolicate", stack)
		return out
	}
	if out := symbolicated(); strings.Contains(out, "engine.cpp") {
		t.Fatalf("answered already:\n%s", out)
	}
	ingest([]int{3}, first.Source, second.Source)
	if out := symbolicated(); !strings.Contains(out, "engine.cpp") {
		t.Errorf("not answered:\n%s", out)
	}
	path := func(id, kind string) string { return "/buildid/" + id + "/" + kind }
	asked := first.Asked()
	for _, want := range []string{path(game, "debuginfo"), path(game, "executable"), path(other, "debuginfo"), path(other, "executable")} {
		if !slices.Contains(asked, want) {
			t.Errorf("the first server was not asked for %s: %q", want, asked)
		}
	}
	if asked := second.Asked(); slices.ContainsFunc(asked, func(p string) bool { return strings.Contains(p, strings.Repeat("cd", 16)) }) || slices.Contains(asked, path(game, "executable")) {
		t.Errorf("the second server was asked for too much: %q", asked)
	}
	ledger := ledgerOf(t, store)
	for url, want := range map[string]string{
		first.Source + path(game, "debuginfo"):   "gone the server does not have it",
		second.Source + path(game, "debuginfo"):  "loaded",
		second.Source + path(other, "debuginfo"): "gone the server does not have it",
	} {
		if got := ledger[url]; got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if got := ledger[first.Source+path(other, "executable")]; !strings.HasPrefix(got, "rejected") || !strings.Contains(got, "the build "+other+" that was asked for") {
		t.Errorf("another build: %q", got)
	}
	// No server is asked again before the pause is over, but for an answer that was of no use.
	ingest([]int{0}, first.Source, second.Source)
	if asked := slices.Concat(first.Asked(), second.Asked()); slices.ContainsFunc(asked, func(p string) bool { return p != path(other, "executable") }) {
		t.Errorf("asked again: %q", asked)
	}
	// A file by its name needs no demand; its name is the server's.
	ingest([]int{0}, "--force", second.Source+path(game, "debuginfo"))
	out, _ := mustRun(t, []int{0}, "--store", store, "artifacts", game, "--json")
	if !strings.Contains(out, `"libgame.so.debug"`) || strings.Contains(out, `"debuginfo"`) {
		t.Errorf("names: %s", out)
	}
	_, errText := mustRun(t, []int{1}, "--store", store, "ingest", second.Source+path(other, "debuginfo"))
	if !strings.Contains(errText, "no such object") {
		t.Errorf("a build that is not there: %s", errText)
	}
}

// missing returns the companions that an artifact lacks.
func missing(t *testing.T, store, name string) []string {
	t.Helper()
	out, _ := mustRun(t, []int{0}, "--store", store, "artifacts", name, "--json")
	var a struct {
		Quality struct {
			Missing []string `json:"missing_parts"`
		}
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a.Quality.Missing
}

// A file that dwz made smaller brings the file that it shares entries with, at once or in a later run.
func TestDebuginfodDWZ(t *testing.T) {
	t.Parallel()
	const one, common = dwzOne, dwzCommon
	for _, late := range []bool{false, true} {
		s := debuginfodtest.Start(t)
		store := filepath.Join(t.TempDir(), "data")
		s.Put(one, "debuginfo", "libone.so", elfData(t, "dwz-dw4/libone.so"))
		if !late {
			s.Put(common, "debuginfo", "common.debug", elfData(t, "dwz-dw4/common.debug"))
		}
		ingest := func(place string) {
			mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", place)
		}
		ingest(s.Source + "/buildid/" + one)
		lacks := missing(t, store, one)
		if late != (len(lacks) == 1 && lacks[0] == "dwz:"+common) {
			t.Errorf("late %v: lacks %q", late, lacks)
		}
		if late {
			s.Put(common, "debuginfo", "common.debug", elfData(t, "dwz-dw4/common.debug"))
			ingest(s.Source)
			if lacks := missing(t, store, one); len(lacks) > 0 {
				t.Errorf("lacks %q still", lacks)
			}
		}
	}
}

// Clients of debuginfod learn from serve that it keeps no files, with a token or without one.
func TestDebuginfodServe(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("profiler first-token-000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--tokens", tokens)
	for _, path := range []string{game + "/debuginfo", game + "/executable", game + "/source/usr/src/engine.cpp", game + "/section/.text", "", "x"} {
		res, err := http.Get(s.url + "/buildid/" + path)
		if err != nil {
			t.Fatal(err)
		}
		var said struct{ Error string }
		err = json.NewDecoder(res.Body).Decode(&said)
		res.Body.Close()
		if res.StatusCode != http.StatusNotFound || res.Header.Get("Symlake-Reason") != "not-kept" || err != nil || !strings.Contains(said.Error, "symlake keeps no debuginfo") {
			t.Errorf("%s: %d %v %+v %v", path, res.StatusCode, res.Header, said, err)
		}
	}
	if code, _ := s.ask(t, "POST", "/buildid/"+game+"/debuginfo", "text/plain", "x"); code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", code)
	}
	find, err := exec.LookPath("debuginfod-find")
	if err != nil {
		return // part of another package than the server
	}
	cmd := exec.Command(find, "debuginfo", game)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS="+s.url, "DEBUGINFOD_CACHE_PATH="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "No such file") {
		t.Errorf("debuginfod-find: %v %s", err, out)
	}
}

// The server of elfutils gives what symlake asks for.
func TestDebuginfodOracle(t *testing.T) {
	t.Parallel()
	program := formattest.Tool(t, "debuginfod", "apt-get install debuginfod")
	dir := t.TempDir()
	files := filepath.Join(dir, "files")
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"libgame.so": "libgame-arm64-dw5.so", "one.so": "dwz-dw4/libone.so", "common.debug": "dwz-dw4/common.debug"} {
		if err := os.WriteFile(filepath.Join(files, name), elfData(t, from), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	run := exec.Command(program, "-p", fmt.Sprint(port), "-d", filepath.Join(dir, "index.sqlite"), "-F", files)
	run.Env = append(os.Environ(), "DEBUGINFOD_URLS=", "HOME="+dir)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Process.Kill(); run.Wait() })
	server := fmt.Sprintf("127.0.0.1:%d", port)
	has := func(path string) bool {
		res, err := http.Get("http://" + server + path)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		io.Copy(io.Discard, res.Body)
		return res.StatusCode == http.StatusOK
	}
	for _, path := range []string{game + "/debuginfo", dwzOne + "/debuginfo", dwzCommon + "/debuginfo"} {
		formattest.Await(t, "debuginfod has indexed "+path, func() bool { return has("/buildid/" + path) })
	}
	store := filepath.Join(dir, "data")
	source := "debuginfod+http://" + server
	for _, id := range []string{game, dwzOne} {
		mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", source+"/buildid/"+id+"/debuginfo")
		if lacks := missing(t, store, id); len(lacks) > 0 {
			t.Errorf("%s lacks %q", id, lacks)
		}
	}
	if got := ledgerOf(t, store)[source+"/buildid/"+game+"/debuginfo"]; got != "loaded" {
		t.Errorf("%s: %s", game, got)
	}
	cmd := symlake(t, "--store", store, "--lake", "off", "ingest", "debuginfod:") // nothing is wanted
	cmd.Env = append(cmd.Env, "DEBUGINFOD_URLS=http://"+server)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
