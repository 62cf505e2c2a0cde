package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// windows runs the program for Windows.
type windows struct {
	t               *testing.T
	wine, exe, home string
}

// newWindows builds the program, and finds Wine and the folder that make wine has made.
func newWindows(t *testing.T) *windows {
	t.Helper()
	how := "apt-get install wine64, then make wine; set SYMLAKE_WINE to its folder, as make test does"
	folder := os.Getenv("SYMLAKE_WINE")
	if _, err := os.Stat(filepath.Join(folder, "drive_c")); folder == "" || err != nil {
		formattest.Missing(t, "wine", how)
	}
	var wine string
	for _, name := range []string{"wine64", "/usr/lib/wine/wine64", "wine"} {
		if path, err := exec.LookPath(name); err == nil {
			wine = cmp.Or(wine, path)
		}
	}
	if wine == "" {
		formattest.Missing(t, "wine", how)
	}
	w := &windows{t: t, wine: wine, exe: filepath.Join(t.TempDir(), "symlake.exe"), home: t.TempDir()}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", w.exe, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build for Windows: %v\n%s", err, out)
	}
	return w
}

// command is one run of the program in the home folder.
func (w *windows) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), w.wine, append([]string{w.exe}, args...)...)
	cmd.Dir = w.home
	cmd.Env = append(os.Environ(), "WINEPREFIX="+os.Getenv("SYMLAKE_WINE"), "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=")
	return cmd
}

// run runs the program to its end, and wants its exit code. The program says why it fails: a failure without a word is one of
// Wine, which happens on a busy host, and the command runs again.
func (w *windows) run(code int, in string, args ...string) (stdout, stderr string) {
	w.t.Helper()
	for try := 1; ; try++ {
		cmd := w.command(args...)
		var out, errOut bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &errOut
		err := cmd.Run()
		got := cmd.ProcessState.ExitCode()
		switch {
		case got == code:
			return out.String(), errOut.String()
		case out.Len()+errOut.Len() > 0 || try == 3:
			w.t.Fatalf("symlake.exe %v: exit code %d, want %d: %v\n%s%s", args, got, code, err, out.String(), errOut.String())
		}
		w.t.Logf("symlake.exe %v: exit code %d without a word: it runs again", args, got)
	}
}

// want wants a text in an output.
func (w *windows) want(what, text, part string) {
	w.t.Helper()
	if !strings.Contains(text, part) {
		w.t.Errorf("%s: no %q in:\n%s", what, part, text)
	}
}

// TestWindows: the program for Windows makes a store in files, loads it in a worker process, reads it, tidies it, and answers over HTTP
// while another process loads.
func TestWindows(t *testing.T) {
	w := newWindows(t)
	for _, name := range []string{"elf/libgame-arm64-dw5.so", "elf/libgame-x64-dw5.so", "stacks/monitor.txt"} {
		text, err := os.ReadFile(formattest.Testdata(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.home, filepath.Base(name)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const artifact, position, function = "564bb6c8be48eea9d9db622b8689806eea5af3c7", "0x4748", "game::dot(game::Vec3 const&, game::Vec3 const&)"

	out, _ := w.run(0, "", "--version")
	w.want("--version", out, "symlake ")
	w.run(2, "", "no-such-command")
	w.run(0, "", "init")
	out, _ = w.run(0, "", "ingest", `.\libgame-arm64-dw5.so`, "--report", "-")
	w.want("ingest", out, `"loaded":1,`)
	out, _ = w.run(0, "", "lookup", artifact, position)
	w.want("lookup", out, function)
	out, _ = w.run(0, artifact+" "+position+"\n", "lookup", "--stdin")
	w.want("lookup --stdin", out, function)
	out, _ = w.run(0, "", "symbolicate", "monitor.txt")
	w.want("symbolicate", out, "game::Engine::step(int)")

	// A server reads while the next ingest loads and gc removes: files go while they are open.
	address := w.serve()
	ask := func() string {
		resp, err := http.Get("http://" + address + "/v1/lookup?artifact=" + artifact + "&position=" + position)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	w.want("serve", ask(), "game::dot")
	w.run(0, "", "ingest", "--force", `.\libgame-arm64-dw5.so`, `.\libgame-x64-dw5.so`)
	w.run(0, "", "gc", "--grace", "0s")
	w.want("serve after gc", ask(), "game::dot")
	w.run(0, "", "compact")
	out, _ = w.run(0, "", "verify")
	w.want("verify", out, " 0 problems")
	out, _ = w.run(0, "", "keys", "list")
	w.want("keys list", out, "keyset:")
	w.run(0, "", "status")
}

// serve starts a server and returns its address. It ends with the test.
func (w *windows) serve() string {
	w.t.Helper()
	cmd := w.command("serve", "--listen", "127.0.0.1:0")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	var said strings.Builder
	lines := bufio.NewScanner(pipe)
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			go io.Copy(io.Discard, pipe)
			return line.Address
		}
	}
	w.t.Fatalf("serve does not listen: %s", said.String())
	return ""
}
