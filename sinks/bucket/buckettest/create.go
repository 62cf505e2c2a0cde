package buckettest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket"
)

func createConditions(t *testing.T, b bucket.Bucket) {
	one := create(t, b, "k", []byte("one"))
	if err := b.Create(t.Context(), "k", "", strings.NewReader("x")); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("new where one is: %v", err)
	}
	if err := b.Create(t.Context(), "none", one.ETag, strings.NewReader("x")); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("replace nothing: %v", err)
	}
	if err := b.Create(t.Context(), "k", one.ETag, strings.NewReader("two")); err != nil {
		t.Fatal(err)
	}
	if err := b.Create(t.Context(), "k", one.ETag, strings.NewReader("three")); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("replace what is gone: %v", err)
	}
	e, _, err := b.Stat(t.Context(), "k")
	if err != nil || e.Size != 3 {
		t.Fatalf("%+v, %v", e, err)
	}
	if got := list(t, b, "", ""); !slices.Equal(got, []string{"k"}) {
		t.Errorf("left behind: %q", got)
	}
}

const racers = 32

func createRace(t *testing.T, b bucket.Bucket) {
	race(t, b, "")
	if got := list(t, b, "", ""); !slices.Equal(got, []string{"k"}) {
		t.Errorf("left behind: %q", got)
	}
}

func replaceRace(t *testing.T, b bucket.Bucket) { race(t, b, create(t, b, "k", []byte("old")).ETag) }

// race has many writers with one condition: exactly one wins, and its bytes stand.
func race(t *testing.T, b bucket.Bucket, etag string) {
	t.Helper()
	var wins atomic.Int32
	var winner atomic.Value
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range racers {
		wg.Go(func() {
			<-start
			body := fmt.Sprintf("writer %02d", i)
			switch err := b.Create(context.WithoutCancel(t.Context()), "k", etag, strings.NewReader(body)); {
			case err == nil:
				wins.Add(1)
				winner.Store(body)
			case !errors.Is(err, bucket.ErrChanged):
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	if wins.Load() != 1 {
		t.Fatalf("%d of %d writers won", wins.Load(), racers)
	}
	e, _, err := b.Stat(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Open(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(io.NewSectionReader(r, 0, e.Size))
	if err != nil || string(got) != winner.Load().(string) {
		t.Fatalf("%q stands, %q won, %v", got, winner.Load(), err)
	}
}

// createWhole: a source that fails leaves nothing, neither new nor replaced.
func createWhole(t *testing.T, b bucket.Bucket) {
	broken := errors.New("source broke")
	source := func() io.Reader {
		return io.MultiReader(bytes.NewReader(random(100_000)), readerFunc(func([]byte) (int, error) { return 0, broken }))
	}
	if err := b.Create(t.Context(), "d/k", "", source()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if got := list(t, b, "", ""); len(got) != 0 {
		t.Fatalf("left behind: %q", got)
	}
	e := create(t, b, "d/k", []byte("old"))
	if err := b.Create(t.Context(), "d/k", e.ETag, source()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if now, _, err := b.Stat(t.Context(), "d/k"); err != nil || now.ETag != e.ETag {
		t.Fatalf("%+v, %v", now, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func deleteKeys(t *testing.T, b bucket.Bucket) {
	for _, k := range []string{"a/1", "a/2", "b"} {
		create(t, b, k, []byte("x"))
	}
	if err := b.Delete(t.Context(), []string{"a/1", "none", "a/none/x", "b", "b"}); err != nil {
		t.Fatal(err)
	}
	if got := list(t, b, "", ""); !slices.Equal(got, []string{"a/2"}) {
		t.Fatalf("left: %q", got)
	}
	if err := b.Delete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	create(t, b, "b", []byte("again"))
}

// draft tries that a draft is an object once it is published, not before, and replaces none.
func draft(t *testing.T, b bucket.Bucket) {
	d, ok := b.(bucket.Drafter)
	if !ok {
		return
	}
	write := func(text, key string) error {
		f, err := d.Draft("a/b")
		if err != nil {
			t.Fatal(err)
		}
		if f == nil {
			formattest.Missing(t, "a file system with files without a name", "put TMPDIR on ext4, xfs, btrfs or tmpfs")
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if got := list(t, b, "a/b/"+text, ""); len(got) > 0 {
			t.Errorf("there before it is published: %q", got)
		}
		if key == "" {
			return nil
		}
		return d.Publish(f, key)
	}
	if err := errors.Join(write("one", "a/b/one"), write("two", "")); err != nil {
		t.Fatal(err)
	}
	if err := write("three", "a/b/one"); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("published where one is: %v", err)
	}
	if got := list(t, b, "", ""); !slices.Equal(got, []string{"a/b/one"}) {
		t.Errorf("left behind: %q", got)
	}
	if e, _, err := b.Stat(t.Context(), "a/b/one"); err != nil || e.Size != int64(len("one")) {
		t.Errorf("%+v, %v", e, err)
	}
	if err := write("four", "../one"); err == nil {
		t.Error("published outside of the bucket")
	}
}
