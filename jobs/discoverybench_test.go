//go:build unix

package jobs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	formatsall "github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks/bucket"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/stores"
)

// TestBenchDiscovery measures a run over a bucket of a million keys (SYMLAKE_BENCH_KEYS) with nothing new in
// it, beside a bare LIST of it. It wants TMPDIR on a file system with user xattrs; see make bench.
func TestBenchDiscovery(t *testing.T) {
	formattest.Bench(t)
	keys := 1_000_000
	if s := os.Getenv("SYMLAKE_BENCH_KEYS"); s != "" {
		var err error
		if keys, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	s := s3test.Start(t)
	s.Make(t, "many")
	fillBucket(t, filepath.Join(s.Root, "many"), keys)
	store := filepath.Join(t.TempDir(), "store")
	t.Chdir(t.TempDir()) // init writes a configuration
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "init")
	b, _, err := bucketall.Open(t.Context(), "s3://many/", bucketall.Options{Endpoint: s.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	listed := fillLedger(t, store, b)
	if listed != keys {
		t.Fatalf("%d keys listed, want %d", listed, keys)
	}
	for range 3 {
		start := time.Now()
		n := 0
		if err := b.List(t.Context(), "", "", func(bucket.Entry) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		bare := time.Since(start)
		cmd := symlake(t, "--store", store, "--lake", "off", "ingest", "s3://many/", "--endpoint", s.Endpoint, "--report", "-")
		start = time.Now()
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		whole := time.Since(start)
		use := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		t.Logf("%d keys: bare LIST %.1f s; run with nothing new %.1f s (%.2fx), %.1f s of its own processor, %d MiB", n, bare.Seconds(), whole.Seconds(),
			whole.Seconds()/bare.Seconds(), cmd.ProcessState.UserTime().Seconds()+cmd.ProcessState.SystemTime().Seconds(), use.Maxrss>>10)
		if !bytes.Contains(out, []byte(fmt.Sprintf(`"seen":%d,"new":0,`, keys))) {
			t.Fatalf("%.600s", out)
		}
	}
}

// fillBucket makes empty objects in a bucket's folder, a thousand a prefix, as the server keeps them.
func fillBucket(t *testing.T, dir string, keys int) {
	t.Helper()
	var wg sync.WaitGroup
	for lane := range 4 {
		wg.Go(func() {
			for p := lane; p*1000 < keys; p += 4 {
				folder := filepath.Join(dir, fmt.Sprintf("%02x", p*37%256), fmt.Sprintf("%04d", p))
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Error(err)
					return
				}
				for i := range min(1000, keys-p*1000) {
					name := filepath.Join(folder, fmt.Sprintf("%032x.so", uint64(p*1000+i)*0x9e3779b97f4a7c15))
					err := os.WriteFile(name, nil, 0o644)
					if err == nil {
						err = unix.Setxattr(name, "user.etag", []byte(`"d41d8cd98f00b204e9800998ecf8427e"`), 0)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// fillLedger notes every object of a bucket as seen and skipped.
func fillLedger(t *testing.T, dir string, b bucket.Bucket) (n int) {
	t.Helper()
	ctx := context.Background()
	s, err := stores.Open(ctx, dir, stores.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k, err := kek.OpenKeyset(ctx, filepath.Join(dir, settings.DefaultKeyset), nil)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := row.OpenKeyring(ctx, s.Catalog, k)
	if err != nil {
		t.Fatal(err)
	}
	cat := catalog.New(s.Catalog, ring)
	parsers := map[string]int{}
	for _, f := range formatsall.Formats() {
		if f.Name == "elf" {
			parsers[f.Name] = f.Version // an older one would be a reason to look again
		}
	}
	work := make(chan bucket.Entry, 1000)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for e := range work {
				now := time.Now()
				o := &catalog.Object{URL: b.URL(e.Key), ETag: e.ETag, Size: e.Size, Modified: e.Modified, State: catalog.ObjectSkipped, Reason: "no-symbols",
					First: now, Last: now, Seconds: 0.0013, Run: "20260101T000000Z-ABCDEF", Parsers: parsers}
				if err := cat.Ledger.Swap(ctx, nil, o); err != nil {
					t.Error(err)
				}
			}
		})
	}
	err = b.List(ctx, "", "", func(e bucket.Entry) error { n++; work <- e; return nil })
	close(work)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
