// Package debuginfod is a bucket of a debuginfod server: files of ELF builds by their build-id. Its Store is one of a
// symbol server of Windows: images, PDBs and Breakpad's files by the name and the id of a module.
//
// A server cannot list its files, so List emits nothing. bucket.ByBuildID gives the keys of a build.
// Servers give neither ETags nor ranges. An object's ETag is its size: a build's file does not change.
package debuginfod

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
)

// The kinds of files that are asked for.
const (
	debugInfo  = "debuginfo"
	executable = "executable"
)

// The schemes of URLs: Scheme asks over https.
const (
	Scheme      = "debuginfod"
	schemeHTTPS = Scheme + "+https"
	schemeHTTP  = Scheme + "+http"
)

// maxAnswers bounds the answers that a bucket remembers, each with the head of its file.
const maxAnswers = 128

// Options are for tests. The zero Options are a program's.
type Options struct {
	Client *http.Client    // nil: one with this package's time-outs
	Pauses []time.Duration // before each repeated request; nil: half a second and two seconds
}

// Bucket is one server. Safe for concurrent use.
type Bucket struct {
	root   string // of objects' URLs, with a slash at the end
	server string // where requests go, with a slash at the end
	client *http.Client
	pauses []time.Duration
	word   string            // in errors
	isKey  func(string) bool // keys that are worth a request
	file   func(string) string

	mu      sync.Mutex
	answers map[string]*answer // by key
}

// answer tells what the server has under a key.
type answer struct {
	bucket.Entry
	head []byte // of its bytes
}

var (
	_ bucket.Bucket    = (*Bucket)(nil)
	_ bucket.Fetcher   = (*Bucket)(nil)
	_ bucket.ByBuildID = (*Bucket)(nil)
)

// Is reports whether a URL is a debuginfod server's, or names a file there.
func Is(place string) bool {
	scheme, _, ok := strings.Cut(place, ":")
	return ok && (scheme == Scheme || scheme == schemeHTTP || scheme == schemeHTTPS)
}

// Open returns the bucket of debuginfod://HOST[:PORT][/PATH], which asks over https, or of
// debuginfod+http://…. If the path ends with buildid/ID or buildid/ID/FILE, key is that file's. Open
// sends no request. The error is bucket.ErrUsage.
func Open(place string, o Options) (b *Bucket, key string, err error) {
	u, err := url.Parse(place)
	switch {
	case err != nil:
		return nil, "", bucket.Usage("%s: %w", place, err)
	case !Is(place):
		return nil, "", bucket.Usage("%s: want debuginfod://HOST or debuginfod+http://HOST", place)
	case u.Host == "":
		return nil, "", bucket.Usage("%s: the name of the server is missing: want debuginfod://HOST, or set DEBUGINFOD_URLS", place)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, "", bucket.Usage("%s://%s: want HOST[:PORT][/PATH] alone: a server of debuginfod takes no password and no query", u.Scheme, u.Host)
	}
	path := strings.Trim(u.Path, "/")
	if at := strings.LastIndex("/"+path, "/buildid/"); at >= 0 {
		file := path[at:]
		if strings.Count(file, "/") == 1 {
			file += "/" + debugInfo
		}
		if key = strings.ToLower(file); !isKey(key) {
			return nil, "", bucket.Usage("%s: want buildid/ID/debuginfo or buildid/ID/executable behind the server, with a build-id in hex", place)
		}
		path = strings.Trim(path[:at], "/")
	}
	if path != "" {
		path += "/"
	}
	return newBucket(u, Scheme, path, o, isKey, buildFile), key, nil
}

// newBucket returns the bucket of a server; path ends with a slash or is empty.
func newBucket(u *url.URL, word, path string, o Options, isKey func(string) bool, file func(string) string) *Bucket {
	b := &Bucket{client: o.Client, pauses: o.Pauses, answers: map[string]*answer{}, word: word, isKey: isKey, file: file, root: word}
	scheme := "https"
	if strings.HasSuffix(u.Scheme, "+http") {
		scheme = "http"
		b.root += "+http"
	}
	b.root += "://" + u.Host + "/" + path
	b.server = (&url.URL{Scheme: scheme, Host: u.Host, Path: "/" + path}).String()
	if b.client == nil {
		b.client = newClient()
	}
	if b.pauses == nil {
		b.pauses = []time.Duration{500 * time.Millisecond, 2 * time.Second}
	}
	return b
}

// buildFile returns the name of a build's file where the server says none.
func buildFile(key string) string {
	id, file, _ := strings.Cut(strings.TrimPrefix(key, "buildid/"), "/")
	if file == debugInfo {
		id += ".debug"
	}
	return id
}

// FromEnvironment returns the URLs of the servers that DEBUGINFOD_URLS lists, in its order, as Open takes them.
func FromEnvironment(list string) (urls []string) {
	for _, word := range strings.Fields(list) {
		scheme, rest, ok := strings.Cut(word, "://")
		switch {
		case ok && scheme == "https":
			urls = append(urls, Scheme+"://"+rest)
		case ok && scheme == "http":
			urls = append(urls, schemeHTTP+"://"+rest)
		}
	}
	return urls
}

// isKey reports whether a key is a file of a build.
func isKey(key string) bool {
	id, file, ok := strings.Cut(strings.TrimPrefix(key, "buildid/"), "/")
	return ok && strings.HasPrefix(key, "buildid/") && (file == debugInfo || file == executable) && isBuildID(id)
}

// isBuildID reports whether text is a build-id of 2 to 64 bytes, in lower-case hex.
func isBuildID(text string) bool {
	return len(text) >= 4 && len(text) <= 128 && len(text)%2 == 0 && strings.Trim(text, "0123456789abcdef") == ""
}

// Keys implements bucket.ByBuildID: debug information first, then the program.
func (b *Bucket) Keys(id string) []string {
	if !isBuildID(id) {
		return nil
	}
	return []string{"buildid/" + id + "/" + debugInfo, "buildid/" + id + "/" + executable}
}

// BuildID implements bucket.ByBuildID.
func (b *Bucket) BuildID(key string) string {
	if !isKey(key) {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(key, "buildid/"), "/")
	return id
}

// URL implements bucket.Bucket.
func (b *Bucket) URL(key string) string { return b.root + key }

// List implements bucket.Bucket. A server cannot list.
func (b *Bucket) List(ctx context.Context, _, _ string, _ func(bucket.Entry) error) error {
	return ctx.Err()
}

// Create implements bucket.Bucket.
func (b *Bucket) Create(_ context.Context, key, _ string, _ io.Reader) error {
	return fmt.Errorf("%s: create %s: the server takes no files", b.word, b.URL(key))
}

// Delete implements bucket.Bucket.
func (b *Bucket) Delete(_ context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return fmt.Errorf("%s: delete %s: the server removes no files", b.word, b.URL(keys[0]))
}
