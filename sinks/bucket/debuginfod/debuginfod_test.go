package debuginfod_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/debuginfod"
	"github.com/symlake/symlake/sinks/bucket/debuginfod/debuginfodtest"
)

const build = "564bb6c8be48eea9d9db622b8689806eea5af3c7"

func open(t *testing.T, place string) *debuginfod.Bucket {
	t.Helper()
	b, _, err := debuginfod.Open(place, debuginfod.Options{Pauses: []time.Duration{0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func TestOpen(t *testing.T) {
	for _, c := range []struct{ place, url, key, fault string }{
		{"debuginfod://debuginfod.debian.net", "debuginfod://debuginfod.debian.net/", "", ""},
		{"debuginfod+https://host/", "debuginfod://host/", "", ""},
		{"debuginfod+http://host:8002/deep/er/", "debuginfod+http://host:8002/deep/er/", "", ""},
		{"debuginfod://host/x/buildid/ABCD12/debuginfo", "debuginfod://host/x/", "buildid/abcd12/debuginfo", ""},
		{"debuginfod://host/buildid/abcd12/executable", "debuginfod://host/", "buildid/abcd12/executable", ""},
		{"debuginfod://host/buildid/abcd12", "debuginfod://host/", "buildid/abcd12/debuginfo", ""},
		{"debuginfod://", "", "", "the name of the server is missing"},
		{"debuginfod:", "", "", "DEBUGINFOD_URLS"},
		{"debuginfod+ftp://host", "", "", "want debuginfod://HOST"},
		{"debuginfod://u:secret@host", "", "", "debuginfod://host: want HOST"},
		{"debuginfod://host/?q=1", "", "", "want HOST"},
		{"debuginfod://host/buildid/xyz/debuginfo", "", "", "a build-id in hex"},
		{"debuginfod://host/buildid/abc/debuginfo", "", "", "a build-id in hex"},
		{"debuginfod://host/buildid/abcd/source/x.c", "", "", "a build-id in hex"},
	} {
		b, key, err := debuginfod.Open(c.place, debuginfod.Options{})
		switch {
		case c.fault != "":
			if !errors.Is(err, bucket.ErrUsage) || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", c.place, err)
			}
		case err != nil || b.URL("") != c.url || key != c.key:
			t.Errorf("%s: %v %q, %v", c.place, b, key, err)
		}
	}
	got := debuginfod.FromEnvironment("ima:enforcing https://a.example/ http://b:8002 nonsense")
	if want := []string{"debuginfod://a.example/", "debuginfod+http://b:8002"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A file is found, read in pieces and fetched. The server is asked no more than it must be.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 100, 64 << 10, 300_000} {
		s := debuginfodtest.Start(t)
		want := noise(size)
		s.Put(build, "debuginfo", "/usr/lib/debug/.build-id/56/4bb6.debug", want)
		b := open(t, s.Source)
		keys := b.Keys(build)
		e, _, err := b.Stat(t.Context(), keys[0])
		if err != nil || e.Size != int64(size) || e.File != "4bb6.debug" || e.ETag != fmt.Sprintf("size-%d", size) || e.Modified.Unix() != 1_700_000_000 {
			t.Fatalf("%d: %+v %v", size, e, err)
		}
		if _, _, err := b.Stat(t.Context(), keys[1]); !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("executable: %v", err)
		}
		for _, key := range []string{keys[0] + ".symlake.json", "x", "buildid/zz/debuginfo", ""} {
			if _, _, err := b.Stat(t.Context(), key); !errors.Is(err, bucket.ErrNotFound) {
				t.Errorf("%s: %v", key, err)
			}
		}
		r, err := b.Open(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(r, 0, e.Size))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d: read %d bytes, %v", size, len(got), err)
		}
		s.Asked()
		whole := make(memory, size)
		if err := b.Fetch(t.Context(), e, whole); err != nil || !bytes.Equal(whole, want) {
			t.Errorf("%d: %v", size, err)
		}
		if _, _, err := b.Stat(t.Context(), keys[0]); err != nil {
			t.Error(err)
		}
		if asked := s.Asked(); len(asked) != 1 {
			t.Errorf("%d: asked %q", size, asked)
		}
		e.ETag = "size-7"
		if _, err := b.Open(t.Context(), e); !errors.Is(err, bucket.ErrChanged) {
			t.Errorf("another size: %v", err)
		}
	}
}

type memory []byte

func (m memory) WriteAt(p []byte, off int64) (int, error) { return copy(m[off:], p), nil }

// Answers of other servers, and bad ones.
func TestAnswers(t *testing.T) {
	t.Parallel()
	want := noise(200_000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(want)
	z.Close()
	send := func(header string, value string, body []byte) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.Write(body)
		}
	}
	for _, c := range []struct {
		what   string
		answer func(http.ResponseWriter, *http.Request)
		times  int32 // how often it comes; then the file
		fault  string
		asked  int32 // by Stat
	}{
		{"packed, though it was not asked for", send("Content-Encoding", "gzip", packed.Bytes()), 9, "", 1},
		{"packed, with the size", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-DEBUGINFOD-SIZE", "200000")
			send("Content-Encoding", "gzip", packed.Bytes())(w, r)
		}, 9, "", 1},
		{"packed otherwise", send("Content-Encoding", "br", want), 9, "Content-Encoding br", 1},
		{"packed badly", send("Content-Encoding", "gzip", want), 9, "gzip", 3},
		{"packed and cut", send("Content-Encoding", "gzip", packed.Bytes()[:1000]), 9, "unexpected EOF", 3},
		{"without a length", func(w http.ResponseWriter, _ *http.Request) {
			w.Write(want[:7])
			w.(http.Flusher).Flush()
			w.Write(want[7:])
		}, 9, "", 1},
		{"a range", func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(want))
		}, 9, "", 1},
		{"busy twice", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) }, 2, "", 3},
		{"busy", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "come\nagain", http.StatusServiceUnavailable)
		}, 9, "503 Service Unavailable: come\nagain", 3},
		{"too many", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusTooManyRequests) }, 1, "", 2},
		{"forbidden", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }, 9, "403 Forbidden: no", 1},
		{"cut", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "200000")
			w.Write(want[:1000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, 1, "", 2},
		{"always cut", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "200000")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, 99, "unexpected EOF", 3},
		{"a name that is none", send("X-DEBUGINFOD-FILE", "a/b\tc", want), 9, "", 1},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			s := debuginfodtest.Start(t)
			s.Put(build, "debuginfo", "x/y.debug", want)
			var asked atomic.Int32
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if asked.Add(1) > c.times {
					return false
				}
				c.answer(w, r)
				return true
			}
			b := open(t, s.Source)
			e, _, err := b.Stat(t.Context(), b.Keys(build)[0])
			if got := asked.Load(); got != c.asked {
				t.Errorf("asked %d times, want %d", got, c.asked)
			}
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), s.Source+"/buildid/"+build) {
					t.Fatalf("%v, want %s", err, c.fault)
				}
				return
			}
			if err != nil || e.Size != int64(len(want)) || e.File == "" {
				t.Fatalf("%+v %v", e, err)
			}
			got := make(memory, len(want))
			if err := b.Fetch(t.Context(), e, got); err != nil || !bytes.Equal(got, want) {
				t.Error(err)
			}
			r, err := b.Open(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			piece := make([]byte, 1000)
			if n, err := r.ReadAt(piece, 150_000); n != len(piece) || err != nil || !bytes.Equal(piece, want[150_000:151_000]) {
				t.Errorf("a piece: %d, %v", n, err)
			}
			if n, err := r.ReadAt(piece, 199_900); n != 100 || err != io.EOF {
				t.Errorf("the end: %d, %v", n, err)
			}
		})
	}
}

// A file that changes between two requests is not mixed.
func TestChanged(t *testing.T) {
	t.Parallel()
	s := debuginfodtest.Start(t)
	s.Put(build, "debuginfo", "x", noise(100_000))
	b := open(t, s.Source)
	e, _, err := b.Stat(t.Context(), b.Keys(build)[0])
	if err != nil {
		t.Fatal(err)
	}
	s.Put(build, "debuginfo", "x", noise(100_001))
	if err := b.Fetch(t.Context(), e, make(memory, 100_000)); !errors.Is(err, bucket.ErrChanged) {
		t.Error(err)
	}
}

// The server is no place for other buckets' work.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	b := open(t, "debuginfod://host")
	if err := b.Create(t.Context(), "k", "", strings.NewReader("")); err == nil {
		t.Error("created")
	}
	if err := b.Delete(t.Context(), []string{"k"}); err == nil {
		t.Error("deleted")
	}
	if err := b.List(t.Context(), "", "", func(bucket.Entry) error { return errors.New("emitted") }); err != nil {
		t.Error(err)
	}
	if b.Keys("xyz") != nil || b.Keys("") != nil || b.BuildID(b.Keys("abcd")[1]) != "abcd" || b.BuildID("abcd") != "" {
		t.Error("keys")
	}
}
