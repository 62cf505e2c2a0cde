package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
)

// A listing read in pieces finds the same as one read from end to end, for all kinds of keys.
func TestSpans(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for name, key := range map[string]func(i int) string{
		"hex":     func(int) string { return fmt.Sprintf("%016x.so", rng.Uint64()) },
		"dates":   func(i int) string { return fmt.Sprintf("2026/%02d/%02d/%d.so", 1+i%12, 1+i%28, i) },
		"builds":  func(i int) string { return fmt.Sprintf("app/%d/arm64/lib%d.so", i/10, i) },
		"unicode": func(i int) string { return fmt.Sprintf("Größe/%c/%d", 'à'+rune(i%100), i) },
		"flat":    func(i int) string { return fmt.Sprintf("%0200d", i) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var keys []string
			for i := range 400 {
				keys = append(keys, key(i))
			}
			slices.Sort(keys)
			var want, gone []string
			for i, k := range slices.Compact(keys) {
				switch {
				case i%7 == 0:
					o := &catalog.Object{URL: w.src.Bucket.URL(k), State: catalog.ObjectLoaded}
					if err := w.cat.Ledger.Swap(t.Context(), nil, o); err != nil {
						t.Fatal(err)
					}
					gone = append(gone, o.URL)
				default:
					w.put(k, "x")
					want = append(want, w.src.Bucket.URL(k))
					if i%5 == 0 {
						w.put(k+discover.SidecarSuffix, "{}")
					}
				}
			}
			newRemote(w)
			s, err := discover.NewSource(w.src)
			if err != nil {
				t.Fatal(err)
			}
			l := newJob(w.o).lister
			l.RoundObjects, l.SplitKeys = 90, 1+rng.IntN(8)
			var got, gotGone []string
			sidecars, seen := 0, 0
			err = l.List(t.Context(), s, func(_ context.Context, r *discover.Round) error {
				for _, x := range r.Tasks {
					got = append(got, x.URL)
					if x.Sidecar {
						sidecars++
					}
				}
				for _, o := range r.Gone {
					gotGone = append(gotGone, o.URL)
				}
				seen += r.Seen
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			slices.Sort(gotGone)
			if !slices.Equal(got, want) || !slices.Equal(gotGone, gone) {
				t.Fatalf("%d of %d found, %d of %d gone", len(got), len(want), len(gotGone), len(gone))
			}
			n := 0
			for i, k := range slices.Compact(keys) {
				if i%7 != 0 && i%5 == 0 && k != "" {
					n++
				}
			}
			if sidecars != n || seen != len(want) {
				t.Fatalf("%d sidecars, want %d; %d seen of %d", sidecars, n, seen, len(want))
			}
		})
	}
}

// Only the last days of a source with dates are listed, and everything once a day.
func TestDates(t *testing.T) {
	w := newWorld(t)
	w.src.Dates, w.src.LookBack, w.src.Full = "%Y/%m/%d/", 2, 24*time.Hour
	for _, day := range []string{"2025/12/30", "2025/12/31", "2026/01/02", "2026/01/03", "2026/01/04"} {
		w.put(day+"/a.txt", "x")
	}
	if r := w.run(); r.Objects.Seen != 5 {
		t.Fatalf("the first time: %+v", r.Objects)
	}
	w.put("2025/12/01/late.txt", "x")
	w.now = w.now.Add(time.Hour)
	if r := w.run(); r.Objects.Seen != 3 || r.Objects.New != 0 || r.Objects.Gone != 0 {
		t.Fatalf("an hour later: %+v", r.Objects)
	}
	w.now = w.now.Add(23 * time.Hour)
	if r := w.run(); r.Objects.Seen != 6 || r.Objects.New != 1 {
		t.Fatalf("a day later: %+v", r.Objects)
	}
	w.src.Dates = "*/%Y"
	if _, err := Run(t.Context(), []discover.Source{w.src}, w.o); err == nil {
		t.Fatal("a pattern is no prefix")
	}
}

// shutFolder is a bucket with one folder that cannot be listed.
type shutFolder struct {
	bucket.Bucket
	folder string
}

func (b shutFolder) List(ctx context.Context, prefix, after string, emit func(bucket.Entry) error) error {
	err := b.Bucket.List(ctx, prefix, after, func(e bucket.Entry) error {
		if strings.HasPrefix(e.Key, b.folder) {
			return nil
		}
		return emit(e)
	})
	return cmp.Or(err, fmt.Errorf("%w: open %s: permission denied", bucket.ErrPartial, b.folder))
}

// A folder that cannot be listed fails the run when all else is done, of other sources too; its objects are not gone.
func TestPartialListing(t *testing.T) {
	w := newWorld(t)
	w.put("m/shut/a.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.run()
	w.put("z.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	other := discover.Source{Bucket: folder(t, t.TempDir())}
	if err := other.Bucket.Create(t.Context(), "c.so", "", strings.NewReader("FAKE\nid "+idC+"\nf 0 8 c 1\n")); err != nil {
		t.Fatal(err)
	}
	shut := w.src
	shut.Bucket = shutFolder{w.src.Bucket, "m/shut/"}
	r, err := Run(t.Context(), []discover.Source{shut, other}, w.o)
	if !errors.Is(err, bucket.ErrPartial) || r.Objects.Loaded != 2 || r.Objects.Gone != 0 {
		t.Errorf("%+v, %v", r.Objects, err)
	}
	w.is("m/shut/a.so", catalog.ObjectLoaded)
	w.is("z.so", catalog.ObjectLoaded)
	if _, _, err := Plan(t.Context(), []discover.Source{shut}, w.o, 10); !errors.Is(err, bucket.ErrPartial) {
		t.Errorf("plan: %v", err)
	}
	// Listed again, it is as it was.
	if r := w.run(); r.Objects.New != 0 || r.Objects.Gone != 0 {
		t.Errorf("%+v", r.Objects)
	}
}

// brokenBucket ends its listing with an error after some keys.
type brokenBucket struct {
	bucket.Bucket
	keys int
}

func (b brokenBucket) List(ctx context.Context, prefix, after string, emit func(bucket.Entry) error) error {
	n := 0
	broken := errors.New("the server is busy")
	return cmp.Or(b.Bucket.List(ctx, prefix, after, func(e bucket.Entry) error {
		if n++; n > b.keys {
			return broken
		}
		return emit(e)
	}), broken)
}

// A source with a listing that fails fails the run after its listed objects, and other sources, are done; nothing of it is gone.
func TestBrokenListing(t *testing.T) {
	w := newWorld(t)
	w.put("b.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.run()
	w.put("a.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	other := discover.Source{Bucket: folder(t, t.TempDir())}
	if err := other.Bucket.Create(t.Context(), "c.so", "", strings.NewReader("FAKE\nid "+idC+"\nf 0 8 c 1\n")); err != nil {
		t.Fatal(err)
	}
	broken := w.src
	broken.Bucket = brokenBucket{w.src.Bucket, 1}
	r, err := Run(t.Context(), []discover.Source{broken, other}, w.o)
	if err == nil || !strings.HasSuffix(err.Error(), "the server is busy") || r.Objects.Loaded != 2 || r.Objects.Gone != 0 {
		t.Errorf("%+v, %v", r.Objects, err)
	}
	w.is("b.so", catalog.ObjectLoaded)

	// Nor is an object to blame that cannot be read meanwhile, however often.
	w.put("b.so", "FAKE\nid "+idA+"\nfail\n")
	broken.Bucket = brokenBucket{w.src.Bucket, 2}
	for range 4 {
		if r, err := Run(t.Context(), []discover.Source{broken}, w.o); err == nil || r.Objects.Failed != 1 {
			t.Errorf("%+v, %v", r.Objects, err)
		}
	}
	w.is("b.so", catalog.ObjectFailed)
}
