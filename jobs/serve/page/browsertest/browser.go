// Package browsertest drives a real Chromium and a real Firefox in tests, by WebDriver BiDi, which both speak.
//
// A test calls [Each], which starts a browser for each kind and runs the test's function with it. The test
// is skipped where a browser is missing. Browsers are headless, have an empty profile and end with the test.
//
//	browsertest.Each(t, false, func(t *testing.T, b *browsertest.Browser) {
//		b.Go(url)
//		b.Await(`document.querySelector("h1") !== null`)
//		b.Click("button.primary")
//		b.Clean()        // no violation of the policy, no error, no request to another host
//		b.Axe("a page")  // no finding of axe-core
//		b.Picture("page") // a PNG in the folder SYMLAKE_PICTURES, if that is set
//	})
//
// Expressions are JavaScript; they may be promises. Methods end the test on an error. To start a browser takes seconds: a
// test with several parts opens one with [Each], and a tab for each part with [Browser.Tab].
package browsertest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// Browser is a tab of a browser. One goroutine.
type Browser struct {
	Kind string // chromium or firefox
	Dark bool   // whether it prefers dark pages

	t       testing.TB
	session *session
	context string   // the tab
	homes   []string // hosts of the pages under test

	mu       sync.Mutex
	requests []string
	errors   []string
}

// session is a running browser.
type session struct {
	wire *wire

	mu   sync.Mutex
	tabs map[string]*Browser // by context
}

// size of the window, in pixels.
const width, height = 1280, 900

// Kinds are the browsers of tests.
var Kinds = []string{"chromium", "firefox"}

// Each runs a test in every kind of browser.
func Each(t *testing.T, dark bool, test func(t *testing.T, b *Browser)) {
	for _, kind := range Kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, Open(t, kind, dark))
		})
	}
}

// Open starts a browser of this kind until the test ends.
func Open(t testing.TB, kind string, dark bool) *Browser {
	t.Helper()
	b := &Browser{Kind: kind, Dark: dark, t: t, session: &session{tabs: map[string]*Browser{}}}
	var address string
	how := "apt-get install chromium chromium-driver firefox-esr"
	switch kind {
	case "chromium":
		program := formattest.Tool(t, "chromium", how)
		address = chromium(t, program, formattest.Tool(t, "chromedriver", how), dark)
	case "firefox":
		address = firefox(t, formattest.Tool(t, "firefox-esr", how), dark)
	default:
		t.Fatalf("no browser %q", kind)
	}
	var err error
	if b.session.wire, err = dial(t.Context(), address, b.session.hear); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.session.wire.close)
	if kind == "firefox" {
		b.send("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	}
	b.send("session.subscribe", map[string]any{"events": []string{"network.beforeRequestSent", "log.entryAdded"}}, nil)
	b.send("script.addPreloadScript", map[string]any{"functionDeclaration": `() => {
		window.violations = [];
		document.addEventListener("securitypolicyviolation", (e) => window.violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample));
	}`}, nil)
	b.open() // the first tab of Firefox never gets the focus, and buttons without it hear no key
	return b
}

// Tab opens a tab in the same browser, for a test within the test that opened the browser, and closes it at the end of
// that. Use the tab that was opened last.
func (b *Browser) Tab(t testing.TB) *Browser {
	t.Helper()
	tab := &Browser{Kind: b.Kind, Dark: b.Dark, t: t, session: b.session}
	tab.open()
	t.Cleanup(func() {
		if err := tab.session.wire.send(context.Background(), "browsingContext.close", map[string]any{"context": tab.context}, nil); err != nil {
			t.Error(err)
		}
	})
	return tab
}

// open opens the tab.
func (b *Browser) open() {
	b.t.Helper()
	var tab struct{ Context string }
	b.send("browsingContext.create", map[string]any{"type": "tab"}, &tab)
	b.context = tab.Context
	b.session.mu.Lock()
	b.session.tabs[b.context] = b
	b.session.mu.Unlock()
	b.Size(width, height)
}

// send sends a command, and ends the test if the browser refuses it.
func (b *Browser) send(method string, params map[string]any, to any) {
	b.t.Helper()
	if err := b.session.wire.send(b.t.Context(), method, params, to); err != nil {
		b.t.Fatal(err)
	}
}

// hear notes requests and errors of a tab.
func (s *session) hear(method string, params json.RawMessage) {
	var event struct {
		Context     string
		Source      struct{ Context string }
		Request     struct{ URL string }
		Level, Text string
	}
	if json.Unmarshal(params, &event) != nil {
		return
	}
	s.mu.Lock()
	b := s.tabs[cmp.Or(event.Context, event.Source.Context)]
	s.mu.Unlock()
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case method == "network.beforeRequestSent":
		b.requests = append(b.requests, event.Request.URL)
	case event.Level == "error":
		b.errors = append(b.errors, event.Text)
	}
}

// Size sets the size of the page in pixels.
func (b *Browser) Size(width, height int) {
	b.t.Helper()
	b.send("browsingContext.setViewport", map[string]any{"context": b.context, "viewport": map[string]any{"width": width, "height": height}}, nil)
}

// Go opens an address and waits until it has loaded.
func (b *Browser) Go(address string) {
	b.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.homes = append(b.homes, u.Host)
	b.send("browsingContext.navigate", map[string]any{"context": b.context, "url": address, "wait": "complete"}, nil)
}

// Reload loads the page again.
func (b *Browser) Reload() {
	b.t.Helper()
	b.send("browsingContext.reload", map[string]any{"context": b.context, "wait": "complete"}, nil)
}

// Eval decodes the value of an expression into to, which may be nil. The expression may be a promise.
func (b *Browser) Eval(expression string, to any) {
	b.t.Helper()
	if err := b.eval("(async () => JSON.stringify(await ("+expression+")) ?? \"null\")()", to); err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
}

func (b *Browser) eval(code string, to any) error {
	var answer struct {
		Type             string
		Result           struct{ Value json.RawMessage }
		ExceptionDetails struct{ Text string }
	}
	if err := b.session.wire.send(b.t.Context(), "script.evaluate", map[string]any{"expression": code, "awaitPromise": true, "userActivation": true,
		"target": map[string]any{"context": b.context}}, &answer); err != nil {
		return err
	}
	if answer.Type == "exception" {
		return fmt.Errorf("%s", answer.ExceptionDetails.Text)
	}
	if to == nil {
		return nil
	}
	var text string
	if err := json.Unmarshal(answer.Result.Value, &text); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), to)
}

// Await waits until an expression is true. It may be false or fail meanwhile.
func (b *Browser) Await(expression string) {
	b.t.Helper()
	formattest.Await(b.t, b.Kind+": "+expression, func() bool {
		var met bool
		return b.eval("(async () => JSON.stringify(!!(await ("+expression+"))))()", &met) == nil && met
	})
}

// Fail notes that the page is not as it should be.
func (b *Browser) Fail(format string, args ...any) {
	b.t.Helper()
	b.t.Errorf("%s, dark %v: %s", b.Kind, b.Dark, fmt.Sprintf(format, args...))
}

// Text returns the text of the first element that a selector finds, as it is shown.
func (b *Browser) Text(selector string) (text string) {
	b.t.Helper()
	b.Eval(fmt.Sprintf("document.querySelector(%q).innerText", selector), &text)
	return text
}

// node returns the element that a selector finds, as commands want it.
func (b *Browser) node(selector string) map[string]any {
	b.t.Helper()
	var found struct {
		Nodes []struct {
			SharedID string `json:"sharedId"`
		}
	}
	b.send("browsingContext.locateNodes", map[string]any{"context": b.context, "locator": map[string]any{"type": "css", "value": selector}, "maxNodeCount": 1}, &found)
	if len(found.Nodes) == 0 {
		b.t.Fatalf("%s: no element is %s", b.Kind, selector)
	}
	return map[string]any{"sharedId": found.Nodes[0].SharedID}
}

// Click clicks with the mouse into the middle of an element.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.Eval(fmt.Sprintf(`document.querySelector(%q).scrollIntoView({block: "center", behavior: "instant"})`, selector), nil)
	b.send("input.performActions", map[string]any{"context": b.context, "actions": []any{map[string]any{
		"type": "pointer", "id": "mouse", "parameters": map[string]any{"pointerType": "mouse"}, "actions": []any{
			map[string]any{"type": "pointerMove", "x": 0, "y": 0, "origin": map[string]any{"type": "element", "element": b.node(selector)}},
			map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0},
		}}}}, nil)
}

// Keys of WebDriver for Press.
const (
	Tab     = "\uE004"
	Enter   = "\uE006"
	Shift   = "\uE008"
	Control = "\uE009"
	Escape  = "\uE00C"
	Space   = " "
	Left    = "\uE012"
	Up      = "\uE013"
	Right   = "\uE014"
	Down    = "\uE015"
	Home    = "\uE011"
	End     = "\uE010"
)

// Press presses keys together, in order, and lets them go.
func (b *Browser) Press(keys ...string) {
	b.t.Helper()
	var actions []any
	for _, k := range keys {
		actions = append(actions, map[string]any{"type": "keyDown", "value": k})
	}
	for _, k := range slices.Backward(keys) {
		actions = append(actions, map[string]any{"type": "keyUp", "value": k})
	}
	b.send("input.performActions", map[string]any{"context": b.context, "actions": []any{map[string]any{"type": "key", "id": "keys", "actions": actions}}}, nil)
}

// Type types a short text, key by key.
func (b *Browser) Type(text string) {
	b.t.Helper()
	for _, r := range text {
		b.Press(string(r))
	}
}

// Files chooses files in a field for them.
func (b *Browser) Files(selector string, paths ...string) {
	b.t.Helper()
	b.send("input.setFiles", map[string]any{"context": b.context, "element": b.node(selector), "files": paths}, nil)
}

// Paste puts a text onto the clipboard and pastes it, by keys, where the focus is.
func (b *Browser) Paste(text string) {
	b.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Eval(fmt.Sprintf("navigator.clipboard.writeText(%s)", quoted), nil)
	b.Press(Control, "v")
}

// Clipboard returns the text of the clipboard, by pasting it into a field of its own.
func (b *Browser) Clipboard() (text string) {
	b.t.Helper()
	b.Eval(`(() => { const f = document.createElement("textarea"); f.id = "clipboard"; document.body.append(f); f.focus(); })()`, nil)
	b.Press(Control, "v")
	b.Eval(`(() => { const f = document.querySelector("#clipboard"), text = f.value; f.remove(); return text; })()`, &text)
	return text
}

// Drop drops a file onto an element.
func (b *Browser) Drop(selector, name string, content []byte) {
	b.t.Helper()
	b.Eval(fmt.Sprintf(`(() => { const d = new DataTransfer();
		d.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
		for (const kind of ["dragenter", "dragover", "drop"]) document.querySelector(%q).dispatchEvent(new DragEvent(kind, {dataTransfer: d, bubbles: true, cancelable: true})); })()`,
		base64.StdEncoding.EncodeToString(content), name, selector), nil)
}

// Requests returns the addresses that the browser has asked for.
func (b *Browser) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Clean wants no violation of the page's policy, no error in the console, and no request to another host.
func (b *Browser) Clean() {
	b.t.Helper()
	var violations []string
	b.Eval("window.violations", &violations)
	for _, v := range violations {
		b.t.Errorf("%s: the content security policy refused: %s", b.Kind, v)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("%s: the console has: %s", b.Kind, e)
	}
	for _, r := range b.requests {
		if u, err := url.Parse(r); err != nil || !slices.Contains(b.homes, u.Host) && strings.HasPrefix(u.Scheme, "http") {
			b.t.Errorf("%s: the page asked for %s", b.Kind, r)
		}
	}
}

// Expect takes errors off the console that contain the text: the test caused them.
func (b *Browser) Expect(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = slices.DeleteFunc(b.errors, func(e string) bool { return strings.Contains(e, text) })
}

// Picture writes a PNG of the whole page into the folder SYMLAKE_PICTURES, if that is set. Its name tells browser and scheme.
func (b *Browser) Picture(name string) {
	b.t.Helper()
	dir := os.Getenv("SYMLAKE_PICTURES")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	b.send("browsingContext.captureScreenshot", map[string]any{"context": b.context, "origin": "document"}, &shot)
	scheme := "light"
	if b.Dark {
		scheme = "dark"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	picture, err := smaller(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-%s.png", name, b.Kind, scheme)), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
