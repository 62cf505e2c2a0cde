package all_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
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
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"", "file:", "none", "file:/none/at/all", path + "/x", pipe, os.DevNull} {
		if _, _, err := all.Open(t.Context(), url, all.Options{}); err == nil || url != "" && url != "file:" && !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, url := range []string{"gs://bucket/x", "file://host/x", "s3://", "s3:///key"} {
		if _, _, err := all.Open(t.Context(), url, all.Options{}); err == nil {
			t.Errorf("%q is fine", url)
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
	// Who may not look finds out by listing, where the answer says why.
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	if _, key, err := all.Open(t.Context(), "s3://symbols/android", all.Options{Endpoint: srv.Endpoint}); err != nil || key != "" {
		t.Errorf("%q, %v", key, err)
	}
}
