// Package page holds the pages that a browser shows at / of symlake serve: HTML, one style sheet and
// modules of JavaScript, written by hand and embedded. Nothing is built, and nothing comes from another host.
//
// A page is one path, one link and one module. To add the page NAME:
//
//   - add NAME to Names: the server then answers /NAME with assets/index.html;
//   - add a link to the navigation of assets/index.html;
//   - write assets/NAME.js. It exports title, a string, and show(main), which fills the element main.
//     app.js imports it when the path is /NAME. State that a link should hold goes into location.hash.
//
// Modules share dom.js (elements, numbers, tables) and ask.js (requests, the token, errors in plain words).
// They make elements with el() alone: the content security policy refuses scripts and styles in HTML, and
// trusted types refuse innerHTML. assets/style.css names its colors once, for light and for dark.
//
// The token of a server that wants one stays in sessionStorage. Nothing else is kept: no text that a reader
// pastes reaches a store, a log or an address that a browser sends.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Names are the pages beside the first one, which reads a crash.
var Names = []string{"artifacts", "wanted", "runs", "objects", "api"}

// below is the page that also shows each path below its own: /runs/ID is one run. Schedulers link there, so the path
// stays.
const below = "runs"

//go:embed assets
var assets embed.FS

// policy is the content security policy of all pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// prefix is the path of assets.
const prefix = "/page/"

// kinds are the media types of assets.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// file is an asset as it is sent.
type file struct {
	kind, tag     string
	plain, packed []byte // packed by gzip
}

var files struct {
	sync.Mutex
	made map[string]*file
}

// Has reports whether a path is a page or an asset.
func Has(urlPath string) bool { return asset(urlPath) != "" }

// asset returns the name of the file that a path shows, "" if there is none.
func asset(urlPath string) string {
	if urlPath == "/" || slices.Contains(Names, strings.TrimPrefix(urlPath, "/")) || strings.HasPrefix(urlPath, "/"+below+"/") {
		return "assets/index.html"
	}
	name, ok := strings.CutPrefix(urlPath, prefix)
	if !ok || name == "" || strings.Contains(name, "/") || kinds[path.Ext(name)] == "" {
		return ""
	}
	if f, err := assets.Open("assets/" + name); err == nil {
		f.Close()
		return "assets/" + name
	}
	return ""
}

// load returns an asset. The first call for it packs it.
func load(name string) (*file, error) {
	files.Lock()
	defer files.Unlock()
	if f := files.made[name]; f != nil {
		return f, nil
	}
	text, err := assets.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	f := &file{kind: kinds[path.Ext(name)], tag: base64.RawURLEncoding.EncodeToString(sum[:12]), plain: text, packed: packed.Bytes()}
	if files.made == nil {
		files.made = map[string]*file{}
	}
	files.made[name] = f
	return f, nil
}

// Serve answers a GET or HEAD of a path that Has knows. Browsers keep assets and ask whether they changed.
func Serve(w http.ResponseWriter, r *http.Request) error {
	f, err := load(asset(r.URL.Path))
	if err != nil {
		return err
	}
	body, tag := f.plain, `"`+f.tag+`"`
	h := w.Header()
	if accepts(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, tag = f.packed, `"`+f.tag+`-gzip"`
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if r.TLS != nil { // elsewhere browsers ignore it, and say so
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Add("Vary", "Accept-Encoding")
	h.Set("ETag", tag)
	if match := r.Header.Get("If-None-Match"); match == "*" || strings.Contains(match, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = w.Write(body)
	return err
}

// accepts reports whether a caller reads gzip. A weight of zero refuses it.
func accepts(encodings string) bool {
	for one := range strings.SplitSeq(encodings, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			_, q, _ := strings.Cut(weight, "=")
			return strings.Trim(q, "0. ") != "" || weight == ""
		}
	}
	return false
}
