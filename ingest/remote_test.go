package ingest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
)

// remote is a folder that behaves like a bucket across a network: nothing is
// mapped, whole objects come in pieces and out of order, and it has metadata.
type remote struct {
	bucket.Bucket
	mu      sync.Mutex
	fetched []string
	read    int64
	meta    map[string]string
	before  func(key string) // an object is about to be fetched
}

type remoteReader struct {
	bucket.Reader
	b *remote
}

func (r remoteReader) Mapped() []byte { return nil }

func (r remoteReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.Reader.ReadAt(p, off)
	r.b.mu.Lock()
	r.b.read += int64(n)
	r.b.mu.Unlock()
	return n, err
}

func (b *remote) Open(ctx context.Context, e bucket.Entry) (bucket.Reader, error) {
	r, err := b.Bucket.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	return remoteReader{r, b}, nil
}

func (b *remote) Stat(ctx context.Context, key string) (bucket.Entry, map[string]string, error) {
	e, _, err := b.Bucket.Stat(ctx, key)
	return e, b.meta, err
}

func (b *remote) Fetch(ctx context.Context, e bucket.Entry, dst io.WriterAt) error {
	b.mu.Lock()
	b.fetched = append(b.fetched, e.Key)
	b.mu.Unlock()
	if b.before != nil {
		b.before(e.Key)
	}
	r, err := b.Bucket.Open(ctx, e)
	if err != nil {
		return err
	}
	const piece = 50_000
	for _, again := range []bool{false, true} { // some pieces come twice
		for off := (e.Size - 1) / piece * piece; off >= 0; off -= piece {
			if again && off%3 != 0 {
				continue
			}
			p := make([]byte, min(piece, e.Size-off))
			if _, err := r.ReadAt(p, off); err != nil && err != io.EOF {
				return err
			}
			if _, err := dst.WriteAt(p, off); err != nil {
				return err
			}
		}
	}
	return r.Close()
}

func newRemote(w *world) *remote {
	b := &remote{Bucket: w.src.Bucket}
	w.src.Bucket = b
	return b
}

// What a format claims is fetched whole, to memory or to scratch; of what
// no format knows only the head is read.
func TestRemote(t *testing.T) {
	var digests []string
	for _, memory := range []int64{64 << 20, 1 << 20} {
		w := newWorld(t)
		w.o.MemoryBytes = memory
		b := newRemote(w)
		b.meta = map[string]string{"symlake-app": "shop", "symlake-build": "9"}
		var text strings.Builder
		text.WriteString("FAKE\nid " + idA + "\n")
		for i := range 30_000 {
			fmt.Fprintf(&text, "f %d %d name%d %d\n", i*16, i*16+16, i, i)
		}
		w.put("big.so", text.String())
		w.put("z.zip", zipped(t, "a.so", strings.Replace(text.String(), idA, idB, 1)))
		w.put("video.mp4", strings.Repeat("x", 3<<20))
		if r := w.run(); r.Objects.Loaded != 2 {
			t.Fatalf("%+v %+v", r, r.Rejected)
		}
		if slices.Sort(b.fetched); !slices.Equal(b.fetched, []string{"big.so", "z.zip"}) {
			t.Fatal(b.fetched)
		}
		if b.read > 4*formats.HeadBytes {
			t.Fatalf("%d bytes were read besides", b.read)
		}
		w.answers(idB, 29_999*16, "name29999:29999")
		if refs, err := w.cat.Names.Find(t.Context(), "shop@9", 0); err != nil || len(refs) != 2 {
			t.Fatalf("%v %v", refs, err)
		}
		digests = append(digests, w.verify())
	}
	if digests[0] != digests[1] {
		t.Fatal("what was staged in scratch reads differently")
	}
}

// An object that changes while it is fetched is taken with its new bytes; one
// that vanishes is gone.
func TestChangesWhileRead(t *testing.T) {
	w := newWorld(t)
	b := newRemote(w)
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 before 1\n")
	w.put("b.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	changed := false
	b.before = func(key string) {
		switch {
		case key == "b.so":
			os.Remove(filepath.Join(w.dir, "b.so"))
		case !changed:
			changed = true
			w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 afterwards 2\n")
		}
	}
	if r := w.run(); r.Objects.Loaded != 1 || r.Objects.Gone != 1 {
		t.Fatalf("%+v %+v", r.Objects, r.Failed)
	}
	w.answers(idA, 0, "afterwards:2")
	w.is("b.so", catalog.ObjectGone)
	if o := w.object("a.so"); o.ETag != w.record(idA).Published.Source.ETag {
		t.Fatalf("%+v", o)
	}
	// An object that never stands still fails, and is taken again later.
	n := 0
	b.before = func(string) {
		n++
		w.put("a.so", fmt.Sprintf("FAKE\nid %s\nf 0 8 v%d 1\n%*s", idA, n, n, ""))
	}
	w.put("a.so", "FAKE\nid "+idA+"\nf 0 8 again 1 \n")
	if r := w.run(); r.Objects.Failed != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	b.before = nil
	w.run()
	w.answers(idA, 0, fmt.Sprintf("v%d:1", n))
	w.verify()
}

// A long listing is worked off in rounds, and nothing is lost between them.
func TestRounds(t *testing.T) {
	w := newWorld(t)
	for i := range 10 {
		w.put(fmt.Sprintf("lib%d.so", i), "x")
	}
	for _, key := range []string{"lib2.so.symlake.json", "lib2.so-1", "lib9.so.symlake.json"} {
		w.put(key, "{}")
	}
	for _, key := range []string{"aaa.so", "lib5.so5", "zzz.so"} { // listed before, not now
		o := &catalog.Object{URL: w.src.Bucket.URL(key), State: catalog.ObjectLoaded, ETag: "e"}
		if err := w.cat.Ledger.Swap(t.Context(), nil, o); err != nil {
			t.Fatal(err)
		}
	}
	s, err := discover.NewSource(w.src)
	if err != nil {
		t.Fatal(err)
	}
	l := newJob(w.o).lister
	l.RoundObjects = 3
	var keys, gone, sidecars []string
	rounds, seen := 0, 0
	err = l.List(t.Context(), s, func(_ context.Context, r *discover.Round) error {
		for _, x := range r.Tasks {
			keys = append(keys, x.Entry.Key)
			if x.Sidecar {
				sidecars = append(sidecars, x.Entry.Key)
			}
		}
		for _, o := range r.Gone {
			gone = append(gone, filepath.Base(o.URL))
		}
		rounds++
		seen += r.Seen
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != 11 || rounds != 4 || seen != 11 {
		t.Fatal(keys, rounds)
	}
	if !slices.Equal(gone, []string{"aaa.so", "lib5.so5", "zzz.so"}) || !slices.Equal(sidecars, []string{"lib2.so", "lib9.so"}) {
		t.Fatal(gone, sidecars)
	}
}

// Real objects, all formats: the same store for any number of workers and any memory.
func TestRealObjects(t *testing.T) {
	dir := formattest.Testdata(t, "elf")
	var digests []string
	for _, c := range []struct {
		workers int
		memory  int64
	}{{1, 64 << 20}, {4, 64 << 20}, {2, 300 << 10}} {
		w := newWorld(t)
		w.dir = dir
		w.src = discover.Source{Bucket: folder(t, dir), Exclude: []string{"**/*.json"}}
		w.o.Formats, w.o.Workers, w.o.MemoryBytes = all.Formats(), c.workers, c.memory
		r := w.run()
		if r.Artifacts < 20 || len(r.Rejected)+len(r.Failed) > 0 {
			t.Fatalf("%+v", r)
		}
		digests = append(digests, w.verify())
	}
	if digests[0] != digests[1] || digests[0] != digests[2] {
		t.Fatal(digests)
	}
}

// goneBucket lists and finds an object that cannot be opened.
type goneBucket struct {
	bucket.Bucket
	gone string
}

func (b *goneBucket) Open(ctx context.Context, e bucket.Entry) (bucket.Reader, error) {
	if e.Key == b.gone {
		return nil, bucket.ErrNotFound
	}
	return b.Bucket.Open(ctx, e)
}

// A companion that goes between being found and being read does not make its asker gone.
func TestCompanionGone(t *testing.T) {
	w := newWorld(t)
	w.put("a.so", "FAKE\nid "+idA+"\nneed - c.part\nf 0 8 a 1\n")
	w.put("c.part", "FAKE\ncompanion c0\n")
	b := &goneBucket{w.src.Bucket, "c.part"}
	w.src.Bucket = b
	if r := w.run(); r.Objects.Failed != 1 || r.Objects.Gone != 1 {
		t.Errorf("%+v", r.Objects)
	}
	w.is("a.so", catalog.ObjectFailed)
	b.gone = ""
	w.run()
	w.is("a.so", catalog.ObjectLoaded)
}
