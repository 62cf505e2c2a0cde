package bulk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

// Each file system, as a bulk load uses it. (HDFS is tried with a real HBase on it.)
func TestFileSystems(t *testing.T) {
	for name, root := range map[string]func(*testing.T) (string, FileOptions){
		"local": func(t *testing.T) (string, FileOptions) { return "file:" + t.TempDir(), FileOptions{} },
		"path":  func(t *testing.T) (string, FileOptions) { return t.TempDir(), FileOptions{} },
		"s3a": func(t *testing.T) (string, FileOptions) {
			s := s3test.Start(t)
			s.Make(t, "hbase")
			return "s3a://hbase/root/staging/token", FileOptions{Remote: Remote{S3: func(ctx context.Context, name string) (bucket.Bucket, error) {
				b, _, err := all.Open(ctx, "s3://"+name, all.Options{Endpoint: s.Endpoint})
				return b, err
			}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, o := root(t)
			files, err := OpenFileSystem(t.Context(), dir, o)
			if err != nil {
				t.Fatal(err)
			}
			body := make([]byte, 20<<20) // above any part of an upload
			rand.NewChaCha8([32]byte{}).Read(body)
			path := dir + "/" + family + "/" + FileName()
			w, err := files.Create(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			for rest := body; len(rest) > 0; rest = rest[min(len(rest), 70_000):] {
				if _, err := w.Write(rest[:min(len(rest), 70_000)]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			w.Abort() // does nothing
			in, err := files.Open(t.Context(), path)
			if err != nil || in.Size() != int64(len(body)) {
				t.Fatal(in, err)
			}
			got, err := io.ReadAll(io.NewSectionReader(in, 0, in.Size()))
			if err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
			if _, err := files.Create(t.Context(), path); err == nil && !strings.HasPrefix(dir, "s3a:") { // S3 says so at Close
				t.Error("a file was made twice")
			}
			given := dir + "/" + family + "/" + FileName()
			if w, err = files.Create(t.Context(), given); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(body[:1000]); err != nil {
				t.Fatal(err)
			}
			w.Abort()
			for range 2 {
				if err := files.Remove(t.Context(), dir); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range []string{path, given} {
				if _, err := files.Open(t.Context(), p); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", p, err)
				}
			}
		})
	}
}

// What lies there has to be read by HBase's own user, under every umask of the loader.
func TestLocalModes(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/" + family + "/" + FileName()
	w, err := local{}.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]os.FileMode{path: 0o666, dir + "/" + family: 0o777} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", p, info.Mode(), err, want)
		}
	}
	if _, err := (local{}).Create(t.Context(), "file:"+dir+"/elsewhere/b/x"); !errors.Is(err, errElsewhere) {
		t.Error(err)
	}
}

func TestUnknownFileSystem(t *testing.T) {
	for _, p := range []string{"abfs://c@account/x", "gs://b/x", "hdfs://\x7f/", "s3a:///x"} {
		if _, err := OpenFileSystem(t.Context(), p, FileOptions{}); err == nil {
			t.Errorf("%s was opened", p)
		}
	}
	if _, err := (local{}).Open(t.Context(), "file:x"); err == nil {
		t.Error("a relative path was opened")
	}
}
