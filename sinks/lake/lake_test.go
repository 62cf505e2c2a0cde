package lake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

var testKeys = sinks.LakeKeys{Names: []byte("names"), Newest: 1, Master: func(_ context.Context, v uint32) ([]byte, error) {
	return bytes.Repeat([]byte{byte(v)}, 32), nil
}}

func testLake(t *testing.T, dir, profile string) *Lake {
	t.Helper()
	b, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return Open(Options{Bucket: b, Profile: profile, Keys: testKeys, Scratch: t.TempDir()})
}

func testLoad(n byte) *sinks.LakeLoad {
	a := symbol.Artifact{Kind: symbol.ELF, Canonical: string('a' + rune(n)), Names: []symbol.Name{{Kind: symbol.NameApp, Text: "secret-shop@1"}}}
	a.ID = symbol.NewID(a.Kind, a.Canonical)
	return &sinks.LakeLoad{Artifact: a, Load: sinks.Load{1, 0, 0, 0, 0, n}, At: time.Unix(1, 0).UTC(), URL: "s3://secret-object"}
}

// testRun has one range a name, from start on, 16 positions each, all inlined into secret_main.
func testRun(start uint64, names ...string) *symbol.Run {
	r := &symbol.Run{Rank: symbol.RankDWARF, Strings: append([]string{"", "secret_main", "source/a.c"}, names...), Scopes: []symbol.Scope{{Parent: -1, Function: 1}}}
	for i := range names {
		r.Scopes = append(r.Scopes, symbol.Scope{Parent: 0, Function: uint32(3 + i), Call: symbol.Site{File: 2, Line: 7}})
		r.Ranges = append(r.Ranges, symbol.Range{Start: start + uint64(i)*16, End: start + uint64(i)*16 + 16, Scope: int32(1 + i), At: symbol.Site{File: 2, Line: uint32(i)}})
	}
	return r
}

func write(t *testing.T, l *Lake, x *sinks.LakeLoad, runs ...*symbol.Run) (sinks.LakeCommitted, error) {
	t.Helper()
	b, err := l.Begin(t.Context())
	if err != nil {
		return sinks.LakeCommitted{}, err
	}
	defer b.Abort()
	if err := b.Load(&x.Artifact, x.Load); err != nil {
		return sinks.LakeCommitted{}, err
	}
	for _, r := range runs {
		if err := b.Write(r); err != nil {
			return sinks.LakeCommitted{}, err
		}
	}
	return b.Commit(t.Context(), []*sinks.LakeLoad{x})
}

func rangesOf(t *testing.T, l *Lake) map[symbol.ID]uint64 {
	t.Helper()
	counts := map[symbol.ID]uint64{}
	err := l.Verify(t.Context(), func(id symbol.ID, _ sinks.Load, n uint64) { counts[id] = n }, func(where string, err error) { t.Errorf("%s: %v", where, err) })
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// No name, place or bound of one stands in a sealed file, also not where the library would write the bounds of a
// column in clear: of names between 2 and 4 KB.
func TestSealedLeaksNothing(t *testing.T) {
	for _, size := range []int{20, 900, 2100, 3000, 4000, 5000, 1 << 20} {
		dir := t.TempDir()
		l := testLake(t, dir, sinks.LakeSealed)
		names := []string{"secretname" + strings.Repeat("x", size), "secretname" + strings.Repeat("y", size)}
		if _, err := write(t, l, testLoad(1), testRun(0, names...)); err != nil {
			t.Fatal(err)
		}
		if n := rangesOf(t, l)[testLoad(1).Artifact.ID]; n != 2 {
			t.Errorf("%d rows", n)
		}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			// Words of four letters stand in sealed bytes by chance.
			for _, secret := range []string{"secretname", "xxxxxxxx", "source/a.c", "secret_main", "secret-shop", "secret-object"} {
				if bytes.Contains(text, []byte(secret)) {
					t.Errorf("names of %d bytes: %s holds %q in clear", size, path, secret)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What no engine could hold as it is: long names, NUL bytes, no UTF-8, positions from 2^63 on, no ranges at all.
func TestOddInput(t *testing.T) {
	for _, profile := range []string{sinks.LakeSealed, sinks.LakePlain} {
		l := testLake(t, t.TempDir(), profile)
		odd := testRun(0, strings.Repeat("n", 1<<20), "a\x00b", "\xff\\x", "")
		odd.Ranges = append(odd.Ranges, symbol.Range{Start: math.MaxInt64 - 1, End: math.MaxInt64, Scope: 1}, symbol.Range{Start: math.MaxInt64, End: 1 << 63, Scope: 1})
		if _, err := write(t, l, testLoad(1), odd); err != nil {
			t.Fatal(err)
		}
		if _, err := write(t, l, testLoad(2)); err != nil {
			t.Fatal(err)
		}
		counts := rangesOf(t, l)
		if n := counts[testLoad(1).Artifact.ID]; n != 5 {
			t.Errorf("%s: %d rows, want all but the one above 2^63", profile, n)
		}
		if n, ok := counts[testLoad(2).Artifact.ID]; n != 0 || !ok {
			t.Errorf("%s: a load without ranges has %d rows (%v)", profile, n, ok)
		}
	}
	for in, want := range map[string]string{"plain": "plain", "é\\": "é\\", "\xff\\x": `\xff\\x`, "a\x00": "a\x00"} {
		if got := pqfile.Printable(in); got != want || !utf8.ValidString(got) {
			t.Errorf("%q is printed as %q, want %q", in, got, want)
		}
	}
}

// fickle fails in the middle of the n-th object that is created.
type fickle struct {
	bucket.Bucket
	left int
}

var errFickle = errors.New("the disk is full")

func (f *fickle) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if f.left--; f.left == 0 {
		r = io.MultiReader(io.LimitReader(r, 100), brokenReader{})
	}
	return f.Bucket.Create(ctx, key, etag, r)
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errFickle }

// A bucket that fails in the middle of any file leaves the lake as it was; the next attempt finishes.
func TestFailingBucket(t *testing.T) {
	for n := 1; n <= 4; n++ {
		dir := t.TempDir()
		good := testLake(t, dir, sinks.LakePlain)
		if _, err := write(t, good, testLoad(1), testRun(0, "first")); err != nil {
			t.Fatal(err)
		}
		bad := testLake(t, dir, sinks.LakePlain)
		bad.b = &fickle{good.b, n}
		if _, err := write(t, bad, testLoad(2), testRun(0, "second")); !errors.Is(err, errFickle) {
			t.Fatalf("file %d failed: %v", n, err)
		}
		if counts := rangesOf(t, testLake(t, dir, sinks.LakePlain)); len(counts) != 1 {
			t.Errorf("file %d failed: the lake names %d artifacts", n, len(counts))
		}
		if _, err := write(t, good, testLoad(2), testRun(0, "second")); err != nil {
			t.Fatal(err)
		}
		if counts := rangesOf(t, good); len(counts) != 2 {
			t.Errorf("after file %d failed: %d artifacts", n, len(counts))
		}
	}
}

// Two writers at once: each names its own, and rows of one load never count twice.
func TestTwoWriters(t *testing.T) {
	dir := t.TempDir()
	one, two := testLake(t, dir, sinks.LakeSealed), testLake(t, dir, sinks.LakeSealed)
	first, err := one.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x, y := testLoad(1), testLoad(2)
	for _, l := range []*sinks.LakeLoad{x, y} {
		if err := errors.Join(first.Load(&l.Artifact, l.Load), first.Write(testRun(0, "f"))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write(t, two, testLoad(3), testRun(0, "g")); err != nil {
		t.Fatal(err)
	}
	if _, err := write(t, two, y, testRun(0, "f")); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Commit(t.Context(), []*sinks.LakeLoad{x, y}); !errors.Is(err, sinks.ErrConflict) {
		t.Errorf("a load was put there twice: %v", err)
	}
	if _, err := write(t, one, x, testRun(0, "f")); err != nil {
		t.Fatal(err)
	}
	if counts := rangesOf(t, one); len(counts) != 3 {
		t.Errorf("%d artifacts, want 3", len(counts))
	}
}

// overtaken lets another writer go first, once, when an entry is to be put.
type overtaken struct {
	bucket.Bucket
	by func()
}

func (o *overtaken) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if by := o.by; by != nil && strings.HasPrefix(key, journal.EntryDir) {
		o.by = nil
		by()
	}
	return o.Bucket.Create(ctx, key, etag, r)
}

// Two writers that make the same change at once: the slower one leaves the files of the faster one alone.
func TestSameChange(t *testing.T) {
	dir := t.TempDir()
	one, two := testLake(t, dir, sinks.LakeSealed), testLake(t, dir, sinks.LakeSealed)
	for n := range byte(2) {
		if _, err := write(t, one, testLoad(n), testRun(0, "f")); err != nil {
			t.Fatal(err)
		}
	}
	gone := []symbol.ID{testLoad(0).Artifact.ID}
	one.b = &overtaken{one.b, func() {
		if err := two.Drop(t.Context(), gone); err != nil {
			t.Error(err)
		}
	}}
	if err := one.Drop(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if counts := rangesOf(t, testLake(t, dir, sinks.LakeSealed)); len(counts) != 1 {
		t.Errorf("%d artifacts, want 1", len(counts))
	}
}

// A compaction names no row twice if another writer moves its rows, or tells its facts anew.
func TestTwoCompactions(t *testing.T) {
	for _, c := range []struct {
		name      string
		meanwhile func(t *testing.T, two *Lake, export func(context.Context, symbol.ID, sinks.LakeBatch) (*sinks.LakeLoad, error))
	}{
		{"another compaction", func(t *testing.T, two *Lake, export func(context.Context, symbol.ID, sinks.LakeBatch) (*sinks.LakeLoad, error)) {
			if _, err := write(t, two, testLoad(3), testRun(0, "f")); err != nil {
				t.Fatal(err)
			}
			if _, err := two.Compact(t.Context(), sinks.LakeCompact{Export: export}); err != nil {
				t.Fatal(err)
			}
		}},
		{"new facts", func(t *testing.T, two *Lake, _ func(context.Context, symbol.ID, sinks.LakeBatch) (*sinks.LakeLoad, error)) {
			x := testLoad(1)
			x.Artifact.Names = append(x.Artifact.Names, symbol.Name{Kind: symbol.NameApp, Text: "secret-shop@2"})
			b, err := two.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Commit(t.Context(), []*sinks.LakeLoad{x}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			one, two := testLake(t, dir, sinks.LakeSealed), testLake(t, dir, sinks.LakeSealed)
			for n := range byte(3) {
				if _, err := write(t, one, testLoad(n), testRun(0, "f")); err != nil {
					t.Fatal(err)
				}
			}
			export := func(_ context.Context, id symbol.ID, b sinks.LakeBatch) (*sinks.LakeLoad, error) {
				for n := range byte(4) {
					if x := testLoad(n); x.Artifact.ID == id {
						if b == nil {
							return x, nil
						}
						return x, errors.Join(b.Load(&x.Artifact, x.Load), b.Write(testRun(0, "f")))
					}
				}
				return nil, nil
			}
			other := c.meanwhile
			done, err := one.Compact(t.Context(), sinks.LakeCompact{Export: func(ctx context.Context, id symbol.ID, b sinks.LakeBatch) (*sinks.LakeLoad, error) {
				if other != nil {
					other(t, two, export)
					other = nil
				}
				return export(ctx, id, b)
			}})
			if err != nil {
				t.Fatalf("%+v, %v", done, err)
			}
			for id, n := range rangesOf(t, testLake(t, dir, sinks.LakeSealed)) {
				if n != 1 {
					t.Errorf("%s has %d rows, want 1", id, n)
				}
			}
		})
	}
}

// careless overwrites what must be new.
type careless struct{ bucket.Bucket }

func (c careless) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if err := c.Delete(ctx, []string{key}); err != nil {
		return err
	}
	return c.Bucket.Create(ctx, key, "", r)
}

// A bucket that ignores If-None-Match is refused, unless somebody says that there is one writer.
func TestCarelessBucket(t *testing.T) {
	l := testLake(t, t.TempDir(), sinks.LakeSealed)
	l.b = careless{l.b}
	if _, err := write(t, l, testLoad(1), testRun(0, "f")); !errors.Is(err, sinks.ErrLakeUnsafe) {
		t.Fatal(err)
	}
	l.o.SingleWriter = true
	if _, err := write(t, l, testLoad(1), testRun(0, "f")); err != nil {
		t.Fatal(err)
	}
}

// A compaction merges files, drops files without a name in the log, converts the profile, and deletes after the grace only.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	l := testLake(t, dir, sinks.LakeSealed)
	for n := range byte(5) {
		if _, err := write(t, l, testLoad(n), testRun(0, "f", "g")); err != nil {
			t.Fatal(err)
		}
	}
	o := sinks.LakeCompact{Profile: sinks.LakePlain, Export: func(_ context.Context, id symbol.ID, b sinks.LakeBatch) (*sinks.LakeLoad, error) {
		for n := range byte(4) {
			if x := testLoad(n); x.Artifact.ID == id {
				if b != nil {
					return x, errors.Join(b.Load(&x.Artifact, x.Load), b.Write(testRun(0, "f", "g")))
				}
				return x, nil
			}
		}
		return nil, nil
	}}
	done, err := l.Compact(t.Context(), o)
	if err != nil || done.Rewritten != 15 || done.Written != 3 || done.Dropped != 1 || done.Deleted != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	o.Profile, o.Now = "", func() time.Time { return time.Now().Add(25 * time.Hour) }
	plain := testLake(t, dir, sinks.LakePlain)
	foreign := []string{
		"ranges/_delta_log/00000000000000000010.checkpoint.parquet",
		"ranges/kind=elf/day=2026-01-02/part-0.snappy.parquet",
		"artifacts/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef.parquet",
		"notes/0123456789abcdef0123456789abcdef.parquet",
	}
	for _, key := range foreign {
		file := filepath.Join(dir, filepath.FromSlash(key))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("PAR1"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if done, err = plain.Compact(t.Context(), o); err != nil || done.Rewritten != 0 || done.Deleted < 15 {
		t.Fatalf("after the grace: %+v, %v", done, err)
	}
	for _, key := range foreign {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(key))); err != nil {
			t.Errorf("a foreign file: %v", err)
		}
	}
	if counts := rangesOf(t, plain); len(counts) != 4 {
		t.Errorf("%d artifacts, want 4", len(counts))
	}
	if _, err := l.Begin(t.Context()); !errors.Is(err, sinks.ErrLakeProfile) {
		t.Errorf("a sealed writer on a plain lake: %v", err)
	}
}
