package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/bucket"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
	"github.com/symlake/symlake/sinks/internal/opentable"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/sinktest"
)

// sinkWorld is a store, and a table of a format with snapshots.
type sinkWorld struct {
	t      *testing.T
	client *answer.Client
	format string
	in     bucket.Bucket
	first  int64 // an older snapshot
}

func newSinkWorld(t *testing.T, format string) *sinkWorld {
	t.Helper()
	w := newWorld(t, 1, 10)
	in, err := file.Open(formattest.Testdata(t, "rest/"+format))
	must(t, err)
	return &sinkWorld{t, answer.New(lookup.New(w.store, w.kek, lookup.Options{CacheBytes: 1 << 20})), format, in, map[string]int64{"delta": 1, "iceberg": 4348559448817372752}[format]}
}

func (w *sinkWorld) run(out bucket.Bucket, snapshot int64, change func(*Options)) (*Report, error) {
	w.t.Helper()
	o := Options{Client: w.client, Input: w.in, Tables: true, Snapshot: snapshot, Output: out, OutputTable: w.format, Scratch: w.t.TempDir(), Run: "run"}
	if change != nil {
		change(&o)
	}
	return Run(w.t.Context(), o)
}

// rows are the addresses of the rows of a table's snapshot, sorted, with the partition, and how their row was answered.
func rows(t *testing.T, b bucket.Bucket, snapshot int64) (all []string) {
	t.Helper()
	x, err := opentable.Open(t.Context(), b, snapshot)
	must(t, err)
	if x == nil {
		return nil
	}
	for _, f := range x.Files {
		name := strings.TrimPrefix(b.URL(f.Key), "file:")
		if s, ok := b.(*s3Folder); ok {
			name = filepath.Join(s.root, f.Key)
		}
		for _, r := range readRows(t, name) {
			all = append(all, fmt.Sprintf("%d %s %s", r.Address, f.Values["day"], r.Status))
		}
	}
	slices.Sort(all)
	return all
}

type sinkRow struct {
	Address int64  `parquet:"address"`
	Status  string `parquet:"status"`
}

func readRows(t *testing.T, name string) []sinkRow {
	t.Helper()
	r, err := pq.ReadFile[sinkRow](name)
	must(t, err)
	return r
}

// want are the rows of the source as rows gives them once they are answered.
func (w *sinkWorld) want(snapshot int64) []string {
	all := rows(w.t, w.in, snapshot)
	for i := range all {
		all[i] += "no-artifact"
	}
	return all
}

func folderBucket(t *testing.T) *file.Bucket {
	t.Helper()
	b, err := file.Open(t.TempDir())
	must(t, err)
	return b
}

// s3Folder is a prefix of a bucket on a real server of S3. Its objects are files below root.
type s3Folder struct {
	bucket.Bucket
	root string
}

// newFolders gives functions that make empty folders, by the kind of their bucket.
func newFolders(t *testing.T) map[string]func() bucket.Bucket {
	t.Helper()
	server := s3test.Start(t)
	server.Make(t, "tables")
	made := 0
	return map[string]func() bucket.Bucket{
		"file": func() bucket.Bucket { return folderBucket(t) },
		"s3": func() bucket.Bucket {
			made++
			name := fmt.Sprintf("tables/%d/", made)
			b, _, err := bucketall.Open(t.Context(), "s3://"+name, bucketall.Options{Endpoint: server.Endpoint, Region: s3test.Region, PathStyle: true})
			must(t, err)
			return &s3Folder{b, filepath.Join(server.Root, name)}
		},
	}
}

// inEach runs a test for each format and each kind of bucket.
func inEach(t *testing.T, test func(t *testing.T, format string, newFolder func() bucket.Bucket)) {
	folders := newFolders(t)
	for _, format := range []string{"delta", "iceberg"} {
		for kind, newFolder := range folders {
			t.Run(format+"/"+kind, func(t *testing.T) { test(t, format, newFolder) })
		}
	}
}

func (w *sinkWorld) check(when string, out bucket.Bucket, snapshot int64) {
	w.t.Helper()
	if got, want := rows(w.t, out, Newest), w.want(snapshot); !slices.Equal(got, want) {
		w.t.Fatalf("%s: rows %q, want %q", when, got, want)
	}
}

// A table follows its source from snapshot to snapshot: rows come and go, each is there once, and older snapshots stay.
func TestSink(t *testing.T) {
	for _, format := range []string{"delta", "iceberg"} {
		t.Run(format, func(t *testing.T) {
			w := newSinkWorld(t, format)
			out := folderBucket(t)
			r, err := w.run(out, w.first, nil)
			must(t, err)
			w.check("a new table", out, w.first)
			made := r.Output.Snapshot
			r, err = w.run(out, Newest, nil)
			must(t, err)
			w.check("the newest snapshot", out, Newest)
			if r.Files.Written == 0 || r.Output.Snapshot == made {
				t.Errorf("%+v, %+v", r.Output, r.Files)
			}
			if got, want := rows(t, out, made), w.want(w.first); !slices.Equal(got, want) {
				t.Errorf("the snapshot before has %q, want %q", got, want)
			}
			newest := r.Output.Snapshot
			if r, err = w.run(out, Newest, nil); err != nil || r.Files.Written > 0 || r.Output.Snapshot != newest {
				t.Errorf("nothing is new: %v, %+v, %+v", err, r.Output, r.Files)
			}
			if r, err = w.run(out, Newest, func(o *Options) { o.Force = true }); err != nil || r.Files.Written != r.Files.Seen {
				t.Errorf("all again: %v, %+v", err, r.Files)
			}
			w.check("all again", out, Newest)
			// The names of the added columns may change: rows of before have none.
			_, err = w.run(out, w.first, func(o *Options) { o.Prefix = "x_" })
			must(t, err)
			x, err := opentable.Open(t.Context(), out, Newest)
			must(t, err)
			text := []byte(nil)
			if x.Delta != nil {
				text = []byte(x.Delta.Metadata.Schema)
			} else {
				text = x.Iceberg.Metadata
			}
			if !strings.Contains(string(text), `x_function`) || !strings.Contains(string(text), `function`) {
				t.Errorf("the schema is %s", text)
			}
		})
	}
}

// Whenever the process dies, readers see the table of before or the new one, and the next run ends it.
func TestDeaths(t *testing.T) {
	inEach(t, func(t *testing.T, format string, newFolder func() bucket.Bucket) {
		w := newSinkWorld(t, format)
		for _, after := range []bool{false, true} {
			for at := 1; ; at++ {
				out := newFolder()
				m := &sinktest.Mortal{At: at, After: after}
				mortal := m.Bucket(out)
				_, err := w.run(mortal, w.first, nil)
				if err == nil {
					_, err = w.run(mortal, Newest, nil)
				}
				if err == nil {
					break
				}
				if !errors.Is(err, sinktest.ErrDead) {
					t.Fatalf("death at write %d: %v", at, err)
				}
				seen := rows(t, out, Newest)
				if len(seen) > 0 && !slices.Equal(seen, w.want(w.first)) && !slices.Equal(seen, w.want(Newest)) {
					t.Fatalf("death at write %d: readers see %q", at, seen)
				}
				_, err = w.run(out, Newest, nil)
				must(t, err)
				w.check(fmt.Sprintf("death at write %d, after %t", at, after), out, Newest)
			}
		}
	})
}

// interrupted calls another writer before the first object is created that makes a commit.
type interrupted struct {
	bucket.Bucket
	commit func(key string) bool
	other  func()
}

// interrupt returns a bucket that is interrupted, and creates objects in the way of b.
func interrupt(b bucket.Bucket, commit func(key string) bool, other func()) bucket.Bucket {
	i := &interrupted{b, commit, other}
	if d, ok := b.(bucket.Drafter); ok {
		return struct {
			*interrupted
			bucket.Drafter
		}{i, d}
	}
	return i
}

func (b *interrupted) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if b.other != nil && b.commit(key) {
		other := b.other
		b.other = nil
		other()
	}
	return b.Bucket.Create(ctx, key, etag, r)
}

// Another writer commits first: both have their rows in the table, or the same rows are there once.
func TestSinkRace(t *testing.T) {
	inEach(t, func(t *testing.T, format string, newFolder func() bucket.Bucket) {
		w := newSinkWorld(t, format)
		commit := func(key string) bool {
			return strings.HasPrefix(key, "_delta_log/") || strings.HasSuffix(key, ".metadata.json")
		}
		same := newFolder()
		_, err := w.run(interrupt(same, commit, func() {
			_, err := w.run(same, Newest, nil)
			must(t, err)
		}), Newest, nil)
		must(t, err)
		w.check("another run of the same rows", same, Newest)

		another := *w
		another.in = copied(t, w.in, format)
		out := newFolder()
		_, err = w.run(out, w.first, nil)
		must(t, err)
		_, err = w.run(interrupt(out, commit, func() {
			_, err := another.run(out, w.first, nil)
			must(t, err)
		}), Newest, nil)
		must(t, err)
		want := append(w.want(w.first), w.want(Newest)...)
		slices.Sort(want)
		if got := rows(t, out, Newest); !slices.Equal(got, want) {
			t.Errorf("two sources: %q, want %q", got, want)
		}

		// Two runs bring the same source to different snapshots.
		out = newFolder()
		_, err = w.run(out, w.first, nil)
		must(t, err)
		middle := map[string]int64{"delta": 3, "iceberg": 6204263875298424336}[format]
		_, err = w.run(interrupt(out, commit, func() {
			_, err := w.run(out, middle, nil)
			must(t, err)
		}), Newest, nil)
		if err == nil || !strings.Contains(err.Error(), "run it again") {
			t.Errorf("another snapshot: %v", err)
		}
		w.check("another snapshot", out, middle)
	})
}

// careless is a bucket that ignores If-None-Match.
type careless struct{ bucket.Bucket }

func (b careless) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if etag == "" {
		if err := b.Delete(ctx, []string{key}); err != nil {
			return err
		}
	}
	return b.Bucket.Create(ctx, key, etag, r)
}

// A bucket that ignores conditions is refused before anything is written to the table.
func TestSinkCareless(t *testing.T) {
	for _, format := range []string{"delta", "iceberg"} {
		w := newSinkWorld(t, format)
		out := folderBucket(t)
		_, err := w.run(careless{out}, Newest, nil)
		if err == nil || !strings.Contains(err.Error(), "ignores If-None-Match") {
			t.Errorf("%s: %v", format, err)
		}
		must(t, out.List(t.Context(), "", "", func(e bucket.Entry) error {
			t.Errorf("%s: %s was written", format, e.Key)
			return nil
		}))
	}
}

// copied is a table like another one, with an id of its own.
func copied(t *testing.T, in bucket.Bucket, format string) bucket.Bucket {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(strings.TrimPrefix(in.URL(""), "file:"))))
	replace := map[string][2]string{"delta": {"9f7e05a7", "0f7e05a7"}, "iceberg": {"f9fe1b1c", "09fe1b1c"}}[format]
	must(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".json" {
			return err
		}
		text, err := os.ReadFile(name)
		must(t, err)
		return os.WriteFile(name, []byte(strings.ReplaceAll(string(text), replace[0], replace[1])), 0o600)
	}))
	b, err := file.Open(dir)
	must(t, err)
	return b
}

// What cannot be kept is refused in words, and the table stays as it was.
func TestSinkRefuses(t *testing.T) {
	w := newSinkWorld(t, "delta")
	refused := func(words string, out bucket.Bucket, format string) {
		t.Helper()
		_, err := w.run(out, Newest, func(o *Options) { o.OutputTable = format })
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("the error is %v, want %q", err, words)
		}
	}
	refused("the input is a table of delta", folderBucket(t), "iceberg")
	out := folderBucket(t)
	_, err := newSinkWorld(t, "iceberg").run(out, Newest, nil)
	must(t, err)
	refused("there is a table of iceberg already", out, "delta")
	refused("a copy of it", w.in, "delta")
	for line, words := range map[string]string{
		`{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["rowTracking"]}}`:                                                                                                                                                    "rowTracking",
		`{"protocol":{"minReaderVersion":1,"minWriterVersion":8}}`:                                                                                                                                                                                     "writers of version 8",
		`{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}`:                                                                                        "is partitioned by",
		`{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":["day","platform"],"configuration":{"delta.constraints.c":"a > 1"}}}`:                                           "delta.constraints.c",
		`{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"line\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["day","platform"],"configuration":{}}}`: "column line is",
	} {
		out := folderBucket(t)
		_, err := w.run(out, w.first, nil)
		must(t, err)
		must(t, out.Create(t.Context(), fmt.Sprintf("_delta_log/%020d.json", 1), "", strings.NewReader(line+"\n")))
		before := rows(t, out, Newest)
		refused(words, out, "delta")
		if got := rows(t, out, Newest); !slices.Equal(got, before) {
			t.Errorf("%s: the table changed", words)
		}
	}
	// Another writer has compacted the rows of files that the source gave up.
	out = folderBucket(t)
	_, err = w.run(out, 2, nil)
	must(t, err)
	x, err := opentable.Open(t.Context(), out, Newest)
	must(t, err)
	line := ""
	for _, f := range x.Files {
		line += fmt.Sprintf(`{"remove":{"path":%q,"dataChange":false}}`+"\n", f.Key)
	}
	must(t, out.Create(t.Context(), fmt.Sprintf("_delta_log/%020d.json", 1), "", strings.NewReader(line)))
	if _, err = w.run(out, 3, nil); err == nil || !strings.Contains(err.Error(), "another writer has rewritten") {
		t.Errorf("compacted: %v", err)
	}
}
