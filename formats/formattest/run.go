package formattest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// Run is the conformance suite: what every format must do with every object,
// sound or not. paths are objects that the format claims; those it rejects
// must be rejected the same way each time.
func Run(t *testing.T, f *formats.Format, paths ...string) {
	t.Helper()
	if len(paths) == 0 {
		t.Fatal("no objects")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			in := func() *formats.Input { return InputOf(filepath.Base(path), b, formats.Limits{}) }
			t.Run("same", func(t *testing.T) { testSame(t, f, in) })
			t.Run("concurrent", func(t *testing.T) { testConcurrent(t, f, in) })
			t.Run("errors", func(t *testing.T) { testErrors(t, f, in) })
			t.Run("limits", func(t *testing.T) { testLimits(t, f, filepath.Base(path), b) })
			t.Run("truncated", func(t *testing.T) { testTruncated(t, f, filepath.Base(path), b) })
			t.Run("damaged", func(t *testing.T) { testDamaged(t, f, filepath.Base(path), b) })
		})
	}
}

// testSame: how the bytes are reached and in which order the parts are
// exploded changes nothing.
func testSame(t *testing.T, f *formats.Format, in func() *formats.Input) {
	ctx := context.Background()
	first, err := contentOf(ctx, f, in(), forward)
	if err == nil && first == nil {
		t.Fatalf("%s does not claim it", f.Name)
	}
	checkRejects(t, err)
	for _, other := range []struct {
		how   string
		in    *formats.Input
		order func(int) []int
	}{
		{"again", in(), forward},
		{"backward", in(), backward},
		{"unmapped", Unmapped(in()), forward},
	} {
		c, err2 := contentOf(ctx, f, other.in, other.order)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%s: error %v, at first %v", other.how, err2, err)
		}
		if err == nil {
			equal(t, other.how, c, first)
		}
	}
}

func equal(t *testing.T, how string, got, want *content) {
	t.Helper()
	if got.identity != want.identity {
		t.Fatalf("%s: identity differs:\n%s\nat first:\n%s", how, got.identity, want.identity)
	}
	if !slices.Equal(got.parts, want.parts) {
		for i := range got.parts {
			if i >= len(want.parts) || got.parts[i] != want.parts[i] {
				t.Fatalf("%s: part %d of %d (%d at first) differs", how, i, len(got.parts), len(want.parts))
			}
		}
		t.Fatalf("%s: %d parts, at first %d", how, len(got.parts), len(want.parts))
	}
}

// checkRejects checks that an object's own error rejects it, comes from a
// parser, and is no panic.
func checkRejects(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var panicked *formats.PanicError
	if errors.As(err, &panicked) {
		t.Fatalf("%v\n%s", err, panicked.Stack)
	}
	var malformed *malformedError
	var fault *formats.Error
	if errors.As(err, &malformed) || !formats.Rejects(err) || !errors.As(err, &fault) {
		t.Fatalf("error %v is no *formats.Error that rejects the object", err)
	}
}

// testConcurrent: the parts of one artifact may be exploded at once.
func testConcurrent(t *testing.T, f *formats.Format, in func() *formats.Input) {
	ctx := context.Background()
	for _, input := range []*formats.Input{in(), Unmapped(in())} {
		obj, err := open(ctx, f, input)
		if err != nil || obj == nil {
			return
		}
		for i := range obj.Artifacts {
			a := &obj.Artifacts[i]
			want := make([]string, a.Parts)
			got := make([]string, a.Parts)
			errs := make([]error, a.Parts)
			var wg sync.WaitGroup
			gate := make(chan struct{}, 4)
			for p := range a.Parts {
				gate <- struct{}{}
				wg.Go(func() {
					defer func() { <-gate }()
					got[p], errs[p] = digest(ctx, f, a, p, input.Limits, &checker{})
				})
			}
			wg.Wait()
			for p := range a.Parts {
				var err error
				want[p], err = digest(ctx, f, a, p, input.Limits, &checker{})
				if (err == nil) != (errs[p] == nil) || got[p] != want[p] {
					t.Fatalf("part %d: %s (%v) together with others, %s (%v) alone", p, got[p], errs[p], want[p], err)
				}
			}
		}
		if obj.Close != nil {
			if err := obj.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// each calls f for each piece of an artifact.
func each(f func() error) formats.Takers {
	return formats.Takers{
		Run:    func(*symbol.Run) error { return f() },
		Script: func(*symbol.Script) error { return f() },
		Class:  func(*symbol.Class) error { return f() },
	}
}

// testErrors: emit's error comes back unchanged and ends the part; a context
// that has ended ends the work.
func testErrors(t *testing.T, f *formats.Format, in func() *formats.Input) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	obj, err := open(ctx, f, in())
	if err != nil || obj == nil {
		return
	}
	if obj.Close != nil {
		defer obj.Close()
	}
	enough := errors.New("enough")
	for i := range obj.Artifacts {
		a := &obj.Artifacts[i]
		for p := range a.Parts {
			calls := 0
			_, err := explode(ctx, f, a, p, each(func() error {
				calls++
				return enough
			}))
			if calls > 1 || calls == 1 && err != enough {
				t.Fatalf("part %d: %d calls after emit's error, which came back as %v", p, calls, err)
			}
		}
		if a.Unwind == nil {
			continue
		}
		calls := 0
		_, err := unwinds(ctx, f, a, func(*symbol.Unwind) error {
			calls++
			return enough
		})
		if calls > 1 || calls == 1 && err != enough {
			t.Fatalf("call frame information: %d calls after emit's error, which came back as %v", calls, err)
		}
	}
	cancel()
	for i := range obj.Artifacts {
		if _, err := explode(ctx, f, &obj.Artifacts[i], 0, each(func() error { return nil })); !errors.Is(err, context.Canceled) {
			t.Fatalf("part 0 of a canceled context: %v", err)
		}
		if a := &obj.Artifacts[i]; a.Unwind != nil {
			if _, err := unwinds(ctx, f, a, func(*symbol.Unwind) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Fatalf("call frame information of a canceled context: %v", err)
			}
		}
	}
	if obj, err := open(ctx, f, in()); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("opening in a canceled context: %v", err)
	} else if obj != nil && obj.Close != nil {
		if err := obj.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// testLimits: each limit is kept or rejects the object; none is passed over.
func testLimits(t *testing.T, f *formats.Format, name string, b []byte) {
	for _, l := range []struct {
		name string
		lim  formats.Limits
	}{
		{"SectionBytes", formats.Limits{SectionBytes: 100}},
		{"SpoolBytes", formats.Limits{SpoolBytes: 100}},
		{"NameBytes", formats.Limits{NameBytes: 8}},
		{"Units", formats.Limits{Units: 1}},
		{"Files", formats.Limits{Files: 1}},
		{"Symbols", formats.Limits{Symbols: 1}},
		{"InlineDepth", formats.Limits{InlineDepth: 1}},
		{"RunRanges", formats.Limits{RunRanges: 3}},
	} {
		in := InputOf(name, b, l.lim)
		_, err := contentOf(context.Background(), f, in, forward)
		if err != nil {
			t.Logf("%s: %v", l.name, err)
		}
		checkRejects(t, err)
	}
	in := InputOf(name, b, formats.Limits{ObjectBytes: int64(len(b)) - 1})
	if _, err := contentOf(context.Background(), f, in, forward); !errors.Is(err, formats.ErrLimit) {
		t.Fatalf("an object above ObjectBytes: %v", err)
	}
}

// testTruncated: an object that ends early is opened or rejected, at a cost
// in proportion to its size.
func testTruncated(t *testing.T, f *formats.Format, name string, b []byte) {
	const steps = 48
	lengths := []int{0, 1, 4, 5, 6, 15, 16, 51, 52, 53, 63, 64, 65}
	for i := range steps {
		lengths = append(lengths, len(b)*i/steps)
	}
	lengths = append(lengths, len(b)-1)
	for _, n := range lengths {
		if n >= 0 && n < len(b) {
			survive(t, f, name, b[:n:n], fmt.Sprintf("%d of %d bytes", n, len(b)))
		}
	}
}

// testDamaged: so is an object with bytes changed, at places that are the
// same in each run of the test.
func testDamaged(t *testing.T, f *formats.Format, name string, b []byte) {
	steps := 64
	if len(b) > 1<<20 || testing.Short() {
		steps = 16
	}
	for i := range steps {
		at := (len(b)*i/steps + i*i*7) % max(len(b), 1)
		damaged := slices.Clone(b)
		for j := at; j < min(at+8, len(b)); j++ {
			damaged[j] = ^damaged[j]
		}
		survive(t, f, name, damaged, fmt.Sprintf("bytes changed at %#x", at))
	}
}

const (
	// spentBytes and spentRatio bound what reading an object twice may allocate
	// in all, garbage included: so much (an xz dictionary alone is 64 MiB), and
	// so many times the object's size.
	spentBytes = 192 << 20
	spentRatio = 256
)

// survive reads all of b, which may be damaged.
func survive(t *testing.T, f *formats.Format, name string, b []byte, how string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lim := formats.Limits{SectionBytes: 64 << 20, SpoolBytes: 64 << 20}
	for _, in := range []*formats.Input{InputOf(name, b, lim), Unmapped(InputOf(name, b, lim))} {
		_, err := contentOf(context.Background(), f, in, forward)
		var malformed *malformedError
		if errors.As(err, &malformed) {
			t.Fatalf("%s: %v", how, err)
		}
		checkRejects(t, err)
	}
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > spentBytes+spentRatio*uint64(len(b)) {
		t.Fatalf("%s: %d bytes allocated for an object of %d", how, spent, len(b))
	}
}
