package iceberg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
)

// server is a REST catalog in this process. fault may answer in its place; it returns false to let the server answer.
type server struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	spaces map[string]bool
	tables map[string]map[string]any // metadata
	fault  func(w http.ResponseWriter, r *http.Request, answer func()) bool
	seen   []*http.Request
	closed chan struct{}
}

func newServer(t *testing.T) *server {
	s := &server{t: t, spaces: map[string]bool{}, tables: map[string]map[string]any{}, closed: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { close(s.closed); s.Close() })
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := s.fault
	s.seen = append(s.seen, r)
	s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	answer := func() { s.answer(w, r, body) }
	if fault == nil || !fault(w, r, answer) {
		answer()
	}
}

func refuse(w http.ResponseWriter, status int, kind string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":"refused","type":%q,"code":%d}}`, kind, status)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/v1/")
	switch {
	case path == "config":
		fmt.Fprintf(w, `{"defaults":{"prefix":"p"},"overrides":{}}`)
	case path == "oauth/tokens":
		if err := r.ParseForm(); err != nil {
			s.t.Error(err)
		}
		fmt.Fprintf(w, `{"access_token":"t%d","token_type":"bearer","expires_in":3600}`, len(s.seen))
	case path == "p/namespaces":
		var ask struct{ Namespace []string }
		if err := json.Unmarshal(body, &ask); err != nil {
			s.t.Error(err)
		}
		name := strings.Join(ask.Namespace, "%1F")
		if s.spaces[name] {
			refuse(w, http.StatusConflict, "AlreadyExistsException")
			return
		}
		s.spaces[name] = true
		fmt.Fprint(w, `{}`)
	default:
		space, table, ok := strings.Cut(strings.TrimPrefix(path, "p/namespaces/"), "/tables/")
		if m := s.tables[table]; !ok || !s.spaces[space] || r.Method == http.MethodGet && m == nil {
			refuse(w, http.StatusNotFound, "NoSuchTableException")
		} else if r.Method == http.MethodPost && !s.commit(table, body) {
			refuse(w, http.StatusConflict, "CommitFailedException")
		} else if err := json.NewEncoder(w).Encode(map[string]any{"metadata-location": "x", "metadata": s.tables[table]}); err != nil {
			s.t.Error(err)
		}
	}
}

// commit does what a commit says, and reports whether its requirements hold.
func (s *server) commit(table string, body []byte) bool {
	var ask message
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	if err := d.Decode(&ask); err != nil {
		s.t.Error(err)
		return false
	}
	m := s.tables[table]
	for _, q := range ask.Requirements {
		switch q["type"] {
		case "assert-create":
			if m != nil {
				return false
			}
			m = map[string]any{"current-snapshot-id": json.Number("-1"), "last-sequence-number": json.Number("0"), "current-schema-id": json.Number("0")}
		case "assert-table-uuid":
			if m["table-uuid"] != q["uuid"] {
				return false
			}
		case "assert-ref-snapshot-id":
			want := fmt.Sprint(q["snapshot-id"])
			if q["snapshot-id"] == nil {
				want = "-1"
			}
			if fmt.Sprint(m["current-snapshot-id"]) != want {
				return false
			}
		}
	}
	for _, u := range ask.Updates {
		switch u["action"] {
		case "assign-uuid":
			m["table-uuid"] = u["uuid"]
		case "upgrade-format-version":
			m["format-version"] = u["format-version"]
		case "add-schema":
			m["schemas"] = []any{u["schema"]}
		case "set-location":
			m["location"] = u["location"]
		case "set-properties":
			m["properties"] = u["updates"]
		case "add-snapshot":
			all, _ := m["snapshots"].([]any)
			m["snapshots"] = append(all, u["snapshot"])
			m["last-sequence-number"] = u["snapshot"].(map[string]any)["sequence-number"]
		case "set-snapshot-ref":
			m["current-snapshot-id"] = u["snapshot-id"]
		case "remove-snapshots":
			gone := map[string]bool{}
			for _, id := range u["snapshot-ids"].([]any) {
				gone[fmt.Sprint(id)] = true
			}
			var kept []any
			for _, x := range m["snapshots"].([]any) {
				if !gone[fmt.Sprint(x.(map[string]any)["snapshot-id"])] {
					kept = append(kept, x)
				}
			}
			m["snapshots"] = kept
		}
	}
	s.tables[table] = m
	return true
}

// rows are the rows of a table of the server, by what its snapshot's summary counts.
func (s *server) rows(table string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, _ := s.tables[table]["snapshots"].([]any)
	for _, x := range all {
		x := x.(map[string]any)
		if fmt.Sprint(x["snapshot-id"]) == fmt.Sprint(s.tables[table]["current-snapshot-id"]) {
			summary := x["summary"].(map[string]any)
			return fmt.Sprint(summary["total-records"], "-", summary["total-position-deletes"])
		}
	}
	return "none"
}

func (s *server) want(t *testing.T, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for name := range want {
		got[name] = s.rows(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got)\n%s", diff)
	}
}

// A REST catalog gets tables, commits and expiry; another lake's tables are left alone.
func TestREST(t *testing.T) {
	s, w := newServer(t), newWorld(t)
	c := Catalog{URL: s.URL, Namespace: "a.b"}
	w.add("one", "elf", "a", "b", "c")
	w.publish(w.open(c))
	s.want(t, map[string]string{"one": "3-0", "two": "none"})
	for n := range 40 {
		w.now = w.now.Add(time.Minute)
		w.add("two", "elf", fmt.Sprint(n))
		w.cut(len(w.all)-1, 0)
		w.all = w.all[:len(w.all)-1]
		w.add("two", "elf", fmt.Sprint(n))
		w.publish(w.open(c))
	}
	w.cut(0, 1)
	w.publish(w.open(c))
	s.want(t, map[string]string{"one": "3-1", "two": "40-0"})
	if n := len(s.tables["two"]["snapshots"].([]any)); n > keepNewest+graceSlots+1 {
		t.Errorf("%d snapshots", n)
	}
	other := newWorld(t)
	other.add("one", "elf", "x")
	for _, r := range other.try(other.open(c)) {
		if !errors.Is(r.Err, ErrForeign) {
			t.Errorf("the tables of another lake: %+v", r)
		}
	}
}

// Faults of a catalog leave a table as it was or as it is meant to be, are reported, and the next run brings it up.
func TestRESTFaults(t *testing.T) {
	isCommit := func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/tables/")
	}
	once := func(f func(w http.ResponseWriter, r *http.Request, answer func())) func(http.ResponseWriter, *http.Request, func()) bool {
		var mu sync.Mutex
		done := map[string]bool{}
		return func(w http.ResponseWriter, r *http.Request, answer func()) bool {
			mu.Lock()
			first := isCommit(r) && !done[r.URL.Path]
			if first {
				done[r.URL.Path] = true
			}
			mu.Unlock()
			if first {
				f(w, r, answer)
			}
			return first
		}
	}
	for _, c := range []struct {
		name   string
		fault  func(s *server) func(http.ResponseWriter, *http.Request, func()) bool
		behind bool
	}{
		{"conflict", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return once(func(w http.ResponseWriter, _ *http.Request, _ func()) { refuse(w, 409, "CommitFailedException") })
		}, false},
		{"lost answer", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return once(func(w http.ResponseWriter, r *http.Request, answer func()) {
				answer()
				panic(http.ErrAbortHandler) // the connection breaks
			})
		}, false},
		{"lost request", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return once(func(w http.ResponseWriter, _ *http.Request, _ func()) { refuse(w, 500, "ServerError") })
		}, false},
		{"gateway", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return func(w http.ResponseWriter, r *http.Request, _ func()) bool {
				if isCommit(r) {
					w.WriteHeader(504)
				}
				return isCommit(r)
			}
		}, true},
		{"forbidden", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return func(w http.ResponseWriter, _ *http.Request, _ func()) bool {
				refuse(w, 403, "ForbiddenException")
				return true
			}
		}, true},
		{"hang", func(s *server) func(http.ResponseWriter, *http.Request, func()) bool {
			return func(_ http.ResponseWriter, r *http.Request, _ func()) bool {
				select {
				case <-r.Context().Done():
				case <-s.closed:
				}
				return true
			}
		}, true},
		{"no JSON", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return func(w http.ResponseWriter, _ *http.Request, _ func()) bool { fmt.Fprint(w, "<html>"); return true }
		}, true},
		{"other JSON", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return func(w http.ResponseWriter, r *http.Request, _ func()) bool {
				if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/tables/") {
					fmt.Fprint(w, `{"metadata":{"format-version":2,"table-uuid":"u","location":"l","current-snapshot-id":5}}`)
					return true
				}
				return false
			}
		}, true},
		{"endless", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return func(w http.ResponseWriter, r *http.Request, _ func()) bool {
				chunk := []byte(strings.Repeat(" ", 1<<20))
				for range maxAnswer>>20 + 8 {
					if _, err := w.Write(chunk); err != nil {
						break
					}
				}
				return true
			}
		}, true},
		{"another host", func(*server) func(http.ResponseWriter, *http.Request, func()) bool {
			return func(w http.ResponseWriter, r *http.Request, _ func()) bool {
				fmt.Fprint(w, `{"overrides":{"uri":"http://127.0.0.2:9/x"}}`)
				return strings.HasSuffix(r.URL.Path, "config")
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, w := newServer(t), newWorld(t)
			w.add("one", "elf", "a", "b", "c")
			w.add("two", "elf", "x")
			at := Catalog{URL: s.URL, Timeout: 5 * time.Second}
			if c.name == "hang" {
				at.Timeout = 50 * time.Millisecond
			}
			w.publish(w.open(Catalog{URL: s.URL}))
			w.cut(0, 1)
			w.add("two", "elf", "y")
			s.mu.Lock()
			s.fault = c.fault(s)
			s.mu.Unlock()
			for _, r := range w.try(w.open(at)) {
				if (r.Err != nil) != c.behind {
					t.Errorf("%+v", r)
				}
			}
			s.mu.Lock()
			s.fault = nil
			s.mu.Unlock()
			if c.behind {
				s.want(t, map[string]string{"one": "3-0", "two": "1-0"})
			}
			w.publish(w.open(Catalog{URL: s.URL}))
			s.want(t, map[string]string{"one": "3-1", "two": "2-0"})
		})
	}
}

// A request proves its identity, and an error tells no secret.
func TestRESTIdentity(t *testing.T) {
	for _, c := range []struct {
		name  string
		c     Catalog
		proof string
	}{
		{"token", Catalog{Token: "secret"}, "Bearer secret"},
		{"credential", Catalog{Credential: "me:secret"}, "Bearer t"},
		{"signed", Catalog{Sign: "glue", Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("AK", "secret", "")}, "AWS4-HMAC-SHA256 Credential=AK/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, w := newServer(t), newWorld(t)
			c.c.URL = s.URL
			w.add("one", "elf", "a")
			tables := w.open(c.c)
			w.publish(tables)
			expired := false
			for _, r := range s.seen {
				if !strings.HasSuffix(r.URL.Path, "oauth/tokens") && !strings.HasPrefix(r.Header.Get("Authorization"), c.proof) {
					t.Errorf("%s %s: Authorization is %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
				}
			}
			s.fault = func(w http.ResponseWriter, r *http.Request, _ func()) bool {
				if expired || strings.HasSuffix(r.URL.Path, "oauth/tokens") {
					return false
				}
				expired = true
				refuse(w, 401, "NotAuthorizedException")
				return true
			}
			w.add("one", "elf", "b")
			for _, r := range w.try(tables) {
				if c.c.Credential != "" && r.Err != nil {
					t.Errorf("a token that ended: %v", r.Err)
				}
				if r.Err != nil && strings.Contains(r.Err.Error(), "secret") {
					t.Errorf("it tells the secret: %v", r.Err)
				}
			}
		})
	}
	for _, c := range []Catalog{{URL: "ftp://x"}, {URL: "https://"}, {URL: "https://u:p@x"}, {URL: "https://x", Token: "t", Credential: "a:b"}, {URL: "https://x", Credential: "a"},
		{URL: "https://x", Sign: "glue"}, {URL: "https://x", Sign: "glue", Region: "r", Credentials: aws.CredentialsProvider(nil)}} {
		if _, err := newREST(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if _, err := newREST(Catalog{URL: "https://x", Sign: "glue", Region: "r", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, nil })}); err != nil {
		t.Error(err)
	}
}
