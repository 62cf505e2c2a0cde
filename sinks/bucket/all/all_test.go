package all_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "lib.so")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, c := range []struct{ url, root, key string }{
		{dir, dir, ""}, {"file:" + dir, dir, ""}, {"file://" + dir, dir, ""}, {dir + "/", dir, ""}, {".", dir, ""}, {"sub", dir + "/sub", ""},
		{path, dir + "/sub", "lib.so"}, {"file:" + path, dir + "/sub", "lib.so"}, {"sub/lib.so", dir + "/sub", "lib.so"}, {"file:sub/lib.so", dir + "/sub", "lib.so"},
	} {
		b, key, err := all.Open(t.Context(), c.url, all.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if key != c.key || b.URL("") != "file:"+c.root {
			t.Errorf("%s: %s, %q", c.url, b.URL(""), key)
		}
		if key != "" {
			if _, _, err := b.Stat(t.Context(), key); err != nil {
				t.Error(err)
			}
		}
	}
	pipe := makePipe(t, filepath.Join(dir, "pipe"))
	for _, url := range []string{"", "file:", "none", "file:/none/at/all", path + "/x", pipe, os.DevNull} {
		if _, _, err := all.Open(t.Context(), url, all.Options{}); err == nil || url != "" && url != "file:" && !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, url := range []string{"gs://bucket/x", "file://host/x", "s3://", "s3:///key"} {
		if _, _, err := all.Open(t.Context(), url, all.Options{}); !errors.Is(err, bucket.ErrUsage) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestS3(t *testing.T) {
	srv := s3test.Start(t)
	srv.Make(t, "symbols")
	srv.Put(t, "symbols", "android/1/lib.so", []byte("x"), nil)
	for _, c := range []struct{ url, root, key string }{
		{"s3://symbols", "s3://symbols/", ""},
		{"s3://symbols/", "s3://symbols/", ""},
		{"s3://symbols/android", "s3://symbols/android/", ""},
		{"s3://symbols/android/", "s3://symbols/android/", ""},
		{"s3://symbols/android/1/lib.so", "s3://symbols/android/1/", "lib.so"},
		{"s3://symbols/later", "s3://symbols/later/", ""},
	} {
		b, key, err := all.Open(t.Context(), c.url, all.Options{Endpoint: srv.Endpoint})
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if key != c.key || b.URL("") != c.root {
			t.Errorf("%s: %s, %q", c.url, b.URL(""), key)
		}
	}
	// A caller without the right to look finds out by listing, where the answer says why.
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	if _, key, err := all.Open(t.Context(), "s3://symbols/android", all.Options{Endpoint: srv.Endpoint}); err != nil || key != "" {
		t.Errorf("%q, %v", key, err)
	}
}

// The answer to HEAD says no reason: that to a listing does, and whether there is such an object.
func TestRefused(t *testing.T) {
	page := func(key string) string {
		return "<ListBucketResult><Contents><Key>" + key + "</Key><Size>1</Size></Contents></ListBucketResult>"
	}
	for _, c := range []struct {
		name         string
		head, status int
		list         string
		said         string // "": it may be a folder
	}{
		{"object that may not be read", http.StatusForbidden, http.StatusOK, page("p/lib.so"), "access denied"},
		{"folder", http.StatusForbidden, http.StatusOK, page("p/lib.so/x"), ""},
		{"neither may be looked at", http.StatusForbidden, http.StatusForbidden, "<Error><Code>AccessDenied</Code></Error>", ""},
		{"the listing says why", http.StatusBadRequest, http.StatusBadRequest, "<Error><Code>ExpiredToken</Code></Error>", ""},
		{"another region", http.StatusMovedPermanently, http.StatusMovedPermanently, "<Error><Code>PermanentRedirect</Code></Error>", ""},
		{"no bucket", http.StatusBadRequest, http.StatusNotFound, "<Error><Code>NoSuchBucket</Code></Error>", "no such bucket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s3test.Environment(t)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					w.WriteHeader(c.head)
					return
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.list)
			}))
			defer srv.Close()
			_, key, err := all.Open(t.Context(), "s3://b/p/lib.so", all.Options{Endpoint: srv.URL, Anonymous: true})
			if key != "" || (err == nil) != (c.said == "") || err != nil && !strings.Contains(err.Error(), c.said) {
				t.Errorf("%q, %v; want %q", key, err, c.said)
			}
		})
	}
}
