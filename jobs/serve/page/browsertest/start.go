package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// profile switches off all that a new profile of Firefox asks its maker for.
const profile = `user_pref("app.normandy.enabled", false);
user_pref("app.update.enabled", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.newtabpage.enabled", false);
user_pref("browser.safebrowsing.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage", "about:blank");
user_pref("browser.startup.page", 0);
user_pref("browser.topsites.contile.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("dom.events.testing.asyncClipboard", true);
user_pref("extensions.getAddons.cache.enabled", false);
user_pref("extensions.systemAddon.update.enabled", false);
user_pref("extensions.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("layout.css.prefers-color-scheme.content-override", %d);
`

// taken stands in the message of a driver if another process took its port meanwhile.
const taken = "Address already in use"

// run starts a program that says where it listens, until the test ends. It returns what the expression finds, "" if
// another process took the program's port.
func run(t testing.TB, found *regexp.Regexp, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "MOZ_HEADLESS=1", "MOZ_CRASHREPORTER_DISABLE=1")
	group(cmd)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = in, in
	started, waited := make(chan error), make(chan struct{})
	go func() {
		defer close(waited)
		runtime.LockOSThread() // the process ends with this thread
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	in.Close()
	at, ended := make(chan string, 1), make(chan struct{})
	var said bytes.Buffer
	go func() {
		defer close(ended)
		lines := bufio.NewReader(out)
		for told := false; ; {
			line, err := lines.ReadString('\n')
			if m := found.FindStringSubmatch(line); m != nil && !told {
				at <- m[1]
				told = true
			}
			if !told {
				said.WriteString(line)
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		end(cmd)
		<-waited
		out.Close()
		<-ended
	})
	select {
	case address := <-at:
		return address
	case <-ended:
		if !strings.Contains(said.String(), taken) {
			t.Fatalf("%s ended: %s", program, said.String())
		}
	case <-time.After(formattest.Patience):
		t.Fatalf("%s does not say where it listens", program)
	}
	return ""
}

var (
	driverPort = regexp.MustCompile(`started successfully on port (\d+)`)
	bidiURL    = regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`)
)

// chromium starts Chromium by its driver and returns the address of its session.
func chromium(t testing.TB, program, driver string, dark bool) string {
	t.Helper()
	port := ""
	for port == "" {
		port = run(t, driverPort, driver, "--port=0")
	}
	scheme := "1"
	if dark {
		scheme = "0"
	}
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(), "--blink-settings=preferredColorScheme=" + scheme}
	body, err := json.Marshal(map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "webSocketUrl": true, "goog:chromeOptions": map[string]any{"binary": program, "args": args}}}})
	if err != nil {
		t.Fatal(err)
	}
	base := "http://127.0.0.1:" + port + "/session"
	var answer struct {
		Value struct {
			SessionID    string `json:"sessionId"`
			Message      string
			Capabilities struct {
				WebSocketURL string `json:"webSocketUrl"`
			}
		}
	}
	text := request(t, http.MethodPost, base, string(body))
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Value.SessionID == "" {
		t.Fatalf("the driver starts no session: %v %s", err, text)
	}
	t.Cleanup(func() { request(t, http.MethodDelete, base+"/"+answer.Value.SessionID, "") })
	return answer.Value.Capabilities.WebSocketURL
}

// request asks the driver, also while a test ends.
func request(t testing.TB, method, url, body string) string {
	r, err := http.NewRequest(method, url, strings.NewReader(body)) //nolint:noctx // the driver outlives the test's context
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// firefox starts Firefox and returns the address where sessions begin.
func firefox(t testing.TB, program string, dark bool) string {
	t.Helper()
	dir := t.TempDir()
	scheme := 1
	if dark {
		scheme = 0
	}
	if err := os.WriteFile(filepath.Join(dir, "user.js"), fmt.Appendf(nil, profile, scheme), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, bidiURL, program, "--headless", "--no-remote", "--profile", dir, "--remote-debugging-port", "0") + "/session"
}
