// Package remote asks a symlake serve over HTTP: look-up, symbolicate and artifacts without a store, and so
// without its keys, on this machine.
//
// It leaves the words to wire and the use of answers to its callers.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/jobs/wire"
)

// maxAnswerBytes bounds one answer of a server that is not what it should be.
const maxAnswerBytes = 1 << 30

// tries is how often a request is sent that the server has no time for.
const tries = 3

// Error is an answer other than 200, or an answer that the server began and did not finish.
type Error struct {
	Code   int
	Reason string
}

func (e *Error) Error() string {
	if e.Code == http.StatusOK {
		return "the server's answer breaks off: " + e.Reason
	}
	return fmt.Sprintf("the server says %d: %s", e.Code, e.Reason)
}

// Client asks one server. Safe for concurrent use.
type Client struct {
	base  string
	token string
	http  http.Client
}

// New makes a client of the server at a URL, http:// or https://. token is shown as a bearer's; "": none. It is never
// sent in clear to another machine.
func New(base, token string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("store %q: want https://HOST[:PORT]", base)
	}
	if u.Scheme == "http" && token != "" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("store %q: a token is sent over https only", base)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &Client{base: strings.TrimRight(base, "/"), token: token, http: http.Client{
		Transport: transport,
		Timeout:   5 * time.Minute,
		// A redirect to another host would take the question, if not the token, elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Query is one position of an artifact, as people write them.
type Query struct {
	Artifact string `json:"artifact"`
	Position string `json:"position"`
}

// Lookup is a question about artifacts.
type Lookup struct {
	Queries []Query `json:"queries"`
	App     string  `json:"app"`     // APP@BUILD that ambiguous names belong to
	Arch    string  `json:"arch"`    // architecture that they belong to
	Context uint32  `json:"context"` // lines of source before and behind each frame's
}

// Lookup answers positions, in the order asked.
func (c *Client) Lookup(ctx context.Context, l Lookup) ([]wire.Answer, error) {
	body, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	var out struct {
		Answers []wire.Answer `json:"answers"`
	}
	if err := c.ask(ctx, http.MethodPost, "/v1/lookup", "application/json", body, &out); err != nil {
		return nil, err
	}
	if len(out.Answers) != len(l.Queries) {
		return nil, fmt.Errorf("the server gave %d answers to %d questions", len(out.Answers), len(l.Queries))
	}
	return out.Answers, nil
}

// Symbolicate gives a text back with its frames replaced, or one record a line; options are the parameters of POST
// /v1/symbolicate. counts are of its frames, nil from an older server.
func (c *Client) Symbolicate(ctx context.Context, text []byte, options url.Values) (answer []byte, counts *wire.Summary, err error) {
	answer, about, err := c.send(ctx, http.MethodPost, "/v1/symbolicate?"+options.Encode(), "text/plain", text)
	if said := about.Get(wire.SummaryHeader); said != "" && err == nil {
		counts = new(wire.Summary)
		if err := json.Unmarshal([]byte(said), counts); err != nil {
			return nil, nil, fmt.Errorf("the server's %s: %w", wire.SummaryHeader, err)
		}
	}
	return answer, counts, err
}

// Artifacts returns the artifacts that a name leads to.
func (c *Client) Artifacts(ctx context.Context, name, app string) ([]wire.Artifact, error) {
	var page artifactsPage
	err := c.ask(ctx, http.MethodGet, "/v1/artifacts?"+url.Values{"name": {name}, "app": {app}}.Encode(), "", nil, &page)
	return page.Artifacts, err
}

type artifactsPage struct {
	Artifacts []wire.Artifact `json:"artifacts"`
	Next      string          `json:"next"`
}

// EachArtifact emits all of an app ("": all there are), in the order of their ids. emit's error comes back unchanged.
func (c *Client) EachArtifact(ctx context.Context, app string, emit func(wire.Artifact) error) error {
	q := url.Values{"app": {app}}
	for {
		var page artifactsPage
		if err := c.ask(ctx, http.MethodGet, "/v1/artifacts?"+q.Encode(), "", nil, &page); err != nil {
			return err
		}
		for _, a := range page.Artifacts {
			if err := emit(a); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		if page.Next <= q.Get("from") {
			return errors.New("the server's pages go in a circle")
		}
		q.Set("from", page.Next)
	}
}

// ask sends a request and reads a JSON answer.
func (c *Client) ask(ctx context.Context, method, path, kind string, body []byte, to any) error {
	text, _, err := c.send(ctx, method, path, kind, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("the server's answer: %w", err)
	}
	return nil
}

// send sends a request, again if the server has no time for it, and reads the answer, with its headers and trailers.
func (c *Client) send(ctx context.Context, method, path, kind string, body []byte) (text []byte, about http.Header, err error) {
	for n := 1; ; n++ {
		var wait time.Duration
		if text, about, wait, err = c.once(ctx, method, path, kind, body); wait == 0 || n == tries {
			return text, about, err
		}
		if err := pause(ctx, wait); err != nil {
			return nil, nil, err
		}
	}
}

// pause waits. The error is ctx's.
func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once sends a request; wait is how long to wait before it is sent again, 0: it is not.
func (c *Client) once(ctx context.Context, method, path, kind string, body []byte) (text []byte, about http.Header, wait time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, 0, err
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	res, err := c.do(r)
	if err != nil {
		return nil, nil, 0, err
	}
	defer res.Body.Close()
	if text, err = io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes+1)); err != nil {
		return nil, nil, 0, fmt.Errorf("read the server's answer: %w", err)
	}
	if len(text) > maxAnswerBytes {
		return nil, nil, 0, errors.New("the server's answer is too large")
	}
	if res.StatusCode == http.StatusOK {
		if why := res.Trailer.Get("Symlake-Error"); why != "" {
			return nil, nil, 0, &Error{http.StatusOK, why}
		}
		about = res.Header
		maps.Copy(about, res.Trailer)
		return text, about, 0, nil
	}
	wait, err = refused(res, text)
	return nil, nil, wait, err
}

// do sends a request with the token.
func (c *Client) do(r *http.Request) (*http.Response, error) {
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.http.Do(r)
}

// refused returns the error of an answer other than 200; wait is how long to wait before the request is sent again.
func refused(res *http.Response, text []byte) (wait time.Duration, err error) {
	var said struct{ Error string }
	if json.Unmarshal(text, &said) != nil || said.Error == "" {
		said.Error = http.StatusText(res.StatusCode)
	}
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		wait = time.Duration(min(max(seconds, 1), 10)) * time.Second
	}
	return wait, &Error{res.StatusCode, said.Error}
}
