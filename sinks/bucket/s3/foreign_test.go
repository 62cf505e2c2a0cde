package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/s3"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

// foreign is a bucket of a server, or of something before one, that answers as it likes.
func foreign(t *testing.T, answer http.HandlerFunc) *s3.Bucket {
	t.Helper()
	s3test.Environment(t)
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	b, err := s3.Open(t.Context(), "b", "", s3.Options{Endpoint: srv.URL, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// listPage is a page of one key after another, and more, which says whether and how to go on.
func listPage(more string, keys ...string) string {
	s := "<ListBucketResult>" + more
	for _, k := range keys {
		s += "<Contents><Key>" + k + "</Key><LastModified>2026-01-02T03:04:05Z</LastModified><ETag>&quot;e&quot;</ETag><Size>1</Size></Contents>"
	}
	return s + "</ListBucketResult>"
}

// A listing that does not come to its end is an error: what it does not name would be taken for gone.
func TestListEnds(t *testing.T) {
	truncated := "<IsTruncated>true</IsTruncated>"
	token := func(s string) string { return "<NextContinuationToken>" + s + "</NextContinuationToken>" }
	for _, c := range []struct {
		name, first string
		said        string
		keys        int
	}{
		{"whole", listPage("<IsTruncated>false</IsTruncated>", "a"), "", 1},
		{"next", listPage(truncated+token("1"), "a"), "", 2},
		{"only a token", listPage(token("1"), "a"), "", 2},
		{"of the first version", listPage(truncated+"<NextMarker>a</NextMarker>", "a"), "does not know ListObjectsV2", 1},
		{"empty token", listPage(truncated+"<NextContinuationToken/>", "a"), "does not know ListObjectsV2", 1},
		{"same token", listPage(truncated+token("again"), "a"), "go on in the same place", 2},
		{"no size", strings.Replace(listPage("", "a"), "<Size>1</Size>", "", 1), `no size of key "a"`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := foreign(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Query().Get("continuation-token") {
				case "":
					fmt.Fprint(w, c.first)
				case "again":
					fmt.Fprint(w, listPage(truncated+token("again"), "b"))
				default:
					fmt.Fprint(w, listPage("<IsTruncated>false</IsTruncated>", "b"))
				}
			})
			keys := 0
			err := b.List(t.Context(), "", "", func(bucket.Entry) error { keys++; return nil })
			if (err == nil) != (c.said == "") || err != nil && !strings.Contains(err.Error(), c.said) || keys != c.keys {
				t.Errorf("%d keys, %v; want %d, %q", keys, err, c.keys, c.said)
			}
		})
	}
}

// A page that breaks off, and an answer that asks for patience, are asked for again. Anything but a page is not.
func TestListAgain(t *testing.T) {
	whole := listPage("<IsTruncated>false</IsTruncated>", "a", strings.Repeat("b", 900), strings.Repeat("c", 900))
	for _, c := range []struct {
		name     string
		spoil    func(w http.ResponseWriter)
		times    int32
		said     string
		requests int32
	}{
		{"broken off", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
			fmt.Fprint(w, whole[:500])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, 2, "", 3},
		{"short", func(w http.ResponseWriter) { fmt.Fprint(w, whole[:500]) }, 1, "", 2},
		{"always short", func(w http.ResponseWriter) { fmt.Fprint(w, whole[:500]) }, 100, "s3: list s3://b/: page of a listing: byte 500: unexpected EOF", 3},
		{"busy", func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, 2, "", 3},
		{"no page", func(w http.ResponseWriter) { fmt.Fprint(w, "<html></html>") }, 100, `s3: list s3://b/: page of a listing: byte 5: "html", want one ListBucketResult`, 1},
		{"no server", func(w http.ResponseWriter) { http.Error(w, "<html></html>", http.StatusNotFound) }, 100, "s3: list s3://b/: no such bucket, or the endpoint is no S3 server's (NotFound)", 1},
		{"another region", func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "<Error><Code>AuthorizationHeaderMalformed</Code><Message>expecting 'eu-west-3'</Message></Error>")
		}, 100, "the bucket is in another region: expecting 'eu-west-3'", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var requests atomic.Int32
			b := foreign(t, func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) <= c.times {
					c.spoil(w)
					return
				}
				fmt.Fprint(w, whole)
			})
			keys := 0
			err := b.List(t.Context(), "", "", func(bucket.Entry) error { keys++; return nil })
			switch {
			case c.said == "" && (err != nil || keys != 3):
				t.Errorf("%d keys, %v", keys, err)
			case c.said != "" && (err == nil || !strings.Contains(err.Error(), c.said) || errors.Is(err, bucket.ErrNotFound)):
				t.Errorf("%v, want %s", err, c.said)
			case requests.Load() != c.requests:
				t.Errorf("%d requests, want %d", requests.Load(), c.requests)
			}
		})
	}
}

// What does not know conditions or ranges gives other bytes than were asked for: none of them come through.
func TestOtherAnswers(t *testing.T) {
	body := pattern(3 << 20)
	for _, c := range []struct {
		name   string
		header map[string]string
		whole  bool // ranges are ignored
		off    int
		n      int // bytes that come; 0: as asked
		size   int64
		want   error // nil: the bytes
		said   string
	}{
		{name: "no ETag", size: 3 << 20},
		{name: "weak ETag", header: map[string]string{"Etag": `W/"e"`}, size: 3 << 20},
		{name: "no length", header: map[string]string{"Transfer-Encoding": "chunked"}, size: 3 << 20},
		{name: "no length, and too long", header: map[string]string{"Transfer-Encoding": "chunked"}, n: 2<<20 + 1, size: 3 << 20, want: errAny, said: "more than the 1048576 bytes"},
		{name: "another ETag", header: map[string]string{"Etag": `"other"`}, size: 3 << 20, want: bucket.ErrChanged, said: "ETag other where e"},
		{name: "another range", header: map[string]string{"Content-Range": "bytes 7-1048582/3145728"}, off: 7, size: 3 << 20, want: errAny, said: "the bytes 7-1048582 where 0-1048575 were asked for"},
		{name: "ranges ignored", whole: true, size: 3 << 20, want: errAny, said: "3145728 bytes where 1048576"},
		{name: "not empty", whole: true, want: bucket.ErrChanged, said: "3145728 bytes where none"},
		{name: "not empty, another ETag", header: map[string]string{"Etag": `"other"`}, n: 1, want: bucket.ErrChanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := foreign(t, func(w http.ResponseWriter, r *http.Request) {
				var from, to int
				fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
				part := body[from+c.off : to+1+c.off]
				if c.whole {
					part = body
				} else if c.n > 0 {
					part = body[:c.n]
				}
				w.Header().Set("Content-Length", strconv.Itoa(len(part)))
				for k, v := range c.header {
					w.Header().Set(k, v)
					if k == "Transfer-Encoding" {
						w.Header().Del("Content-Length")
					}
				}
				if !c.whole && r.Method == http.MethodGet {
					w.WriteHeader(http.StatusPartialContent)
				}
				if r.Method == http.MethodGet {
					w.Write(part)
				}
			})
			r, err := b.Open(t.Context(), bucket.Entry{Key: "k", ETag: "e", Size: c.size})
			got := make([]byte, min(c.size, 1<<20))
			if err == nil {
				_, err = r.ReadAt(got, 0)
				r.Close()
			}
			switch {
			case c.want == nil && (err != nil || !bytes.Equal(got, body[:len(got)])):
				t.Error(err)
			case c.want != nil && (err == nil || c.want != errAny && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.said)):
				t.Errorf("%v, want %v, %q", err, c.want, c.said)
			}
		})
	}
}

// A large object, too, with pieces that are all of another state.
func TestOtherLargeObject(t *testing.T) {
	body := pattern(17 << 20)
	b := foreign(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"other"`)
		r.Header.Del("If-Match")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
	e := bucket.Entry{Key: "k", ETag: "e", Size: int64(len(body))}
	if err := b.Fetch(t.Context(), e, make(buffer, len(body))); !errors.Is(err, bucket.ErrChanged) {
		t.Error(err)
	}
	e.ETag = "other"
	got := make(buffer, len(body))
	if err := b.Fetch(t.Context(), e, got); err != nil || !bytes.Equal(got, body) {
		t.Error(err)
	}
}
