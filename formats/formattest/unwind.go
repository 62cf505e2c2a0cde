package formattest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// checkUnwind says how u breaks what symbol.Unwind and the limits promise.
func checkUnwind(u *symbol.Unwind, lim *formats.Limits) error {
	switch {
	case u.Rank < symbol.UnwindDebug || u.Rank > symbol.UnwindCompact:
		return fmt.Errorf("call frame information of rank %d", u.Rank)
	case len(u.Ranges) == 0:
		return fmt.Errorf("call frame information without ranges")
	case len(u.Ranges) > lim.RunRanges:
		return fmt.Errorf("%d ranges of call frame information, limit %d", len(u.Ranges), lim.RunRanges)
	case len(u.Rules) == 0 || u.Rules[0] != "":
		return fmt.Errorf("rules 0 are not empty")
	}
	for i, coded := range u.Rules {
		if len(coded) > unwind.MaxBytes {
			return fmt.Errorf("rules %d take %d bytes, limit %d", i, len(coded), unwind.MaxBytes)
		}
		r, err := unwind.Decode(coded)
		if err != nil {
			return fmt.Errorf("rules %d: %w", i, err)
		}
		if again := r.Append(nil); coded != "" && string(again) != coded {
			return fmt.Errorf("rules %d are %x, and coded again %x", i, coded, again)
		}
	}
	for i, g := range u.Ranges {
		if g.Start >= g.End || g.End == math.MaxUint64 {
			return fmt.Errorf("range %d of call frame information is [%#x, %#x)", i, g.Start, g.End)
		}
		if int(g.Rules) >= len(u.Rules) {
			return fmt.Errorf("range %d has rules %d of %d", i, g.Rules, len(u.Rules))
		}
	}
	return nil
}

// unwinds reads the call frame information of an artifact under Guard, as ingest does.
func unwinds(ctx context.Context, f *formats.Format, a *formats.Artifact, emit func(*symbol.Unwind) error) (q symbol.Quality, err error) {
	err = formats.Guard(f.Name, func() (err error) {
		q, err = a.Unwind(ctx, emit)
		return err
	})
	return q, err
}

// unwindDigest checks the call frame information of an artifact, and returns a digest of it in the order in which it came.
func unwindDigest(ctx context.Context, f *formats.Format, a *formats.Artifact, lim *formats.Limits) (string, error) {
	h := sha256.New()
	ranges := 0
	q, err := unwinds(ctx, f, a, func(u *symbol.Unwind) error {
		if err := checkUnwind(u, lim); err != nil {
			return &malformedError{err}
		}
		ranges += len(u.Ranges)
		b := []byte{byte(u.Rank)}
		for _, g := range u.Ranges {
			b = binary.BigEndian.AppendUint64(b, g.Start)
			b = binary.BigEndian.AppendUint64(b, g.End)
			b = binary.AppendUvarint(b, uint64(len(u.Rules[g.Rules])))
			b = append(b, u.Rules[g.Rules]...)
		}
		h.Write(b)
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d ranges of call frame information %x %+v", ranges, h.Sum(nil)[:8], q), nil
}

// Unwound is the call frame information of an artifact with overlaps settled: the lowest rank wins, then the piece that came
// first. It is the plainest thing that gives answers, to hold real ones against.
type Unwound struct {
	Arch   *unwind.Arch         // nil: the artifact's cannot be unwound
	Ranges []symbol.UnwindRange // disjoint and ascending; neighbors have unlike rules; none has rules 0
	Rules  []string             // coded; index 0 is ""
}

// UnwindOf reads all call frame information of an artifact, which must have some.
func UnwindOf(t testing.TB, f *formats.Format, a *formats.Artifact) *Unwound {
	t.Helper()
	if a.Unwind == nil {
		t.Fatalf("%s %s has no call frame information", f.Name, a.Canonical)
	}
	lim := formats.Limits{}.WithDefaults()
	w := &Unwound{Arch: unwind.ArchOf(a.Arch), Rules: []string{""}}
	number := map[string]uint32{"": 0}
	var pieces []unwindPiece
	_, err := unwinds(context.Background(), f, a, func(u *symbol.Unwind) error {
		if err := checkUnwind(u, &lim); err != nil {
			return &malformedError{err}
		}
		for _, g := range u.Ranges {
			n, known := number[u.Rules[g.Rules]]
			if !known {
				n = uint32(len(w.Rules))
				coded := strings.Clone(u.Rules[g.Rules])
				w.Rules, number[coded] = append(w.Rules, coded), n
			}
			pieces = append(pieces, unwindPiece{symbol.UnwindRange{Start: g.Start, End: g.End, Rules: n}, u.Rank})
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: call frame information of %s: %v", f.Name, a.Canonical, err)
	}
	w.settle(pieces)
	return w
}

type unwindPiece struct {
	symbol.UnwindRange
	rank symbol.UnwindRank
}

// settle gives each cell between two neighboring borders to the first piece, in order of precedence, that covers it.
func (w *Unwound) settle(pieces []unwindPiece) {
	var borders []uint64
	for _, p := range pieces {
		borders = append(borders, p.Start, p.End)
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	cells := make([]uint32, len(borders))
	next := make([]int, len(borders)+1) // the first cell at or after that nothing covers
	for i := range next {
		next[i] = i
	}
	free := func(i int) int {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	pieces = slices.DeleteFunc(pieces, func(p unwindPiece) bool { return p.Rules == 0 }) // they say nothing
	slices.SortStableFunc(pieces, func(a, b unwindPiece) int { return cmp.Compare(a.rank, b.rank) })
	for _, p := range pieces {
		from, _ := slices.BinarySearch(borders, p.Start)
		to, _ := slices.BinarySearch(borders, p.End)
		for k := free(from); k < to; k = free(k) {
			cells[k], next[k] = p.Rules, k+1
		}
	}
	for i, rules := range cells {
		if rules == 0 {
			continue
		}
		g := symbol.UnwindRange{Start: borders[i], End: borders[i+1], Rules: rules}
		if n := len(w.Ranges); n > 0 && w.Ranges[n-1].End == g.Start && w.Ranges[n-1].Rules == rules {
			w.Ranges[n-1].End = g.End
			continue
		}
		w.Ranges = append(w.Ranges, g)
	}
}

// At returns the coded rules at a position; "": nothing is known there.
func (w *Unwound) At(pos uint64) string {
	i, ok := slices.BinarySearchFunc(w.Ranges, pos, func(g symbol.UnwindRange, pos uint64) int { return cmp.Compare(g.Start, pos) })
	if !ok {
		i--
	}
	if i < 0 || pos >= w.Ranges[i].End {
		return ""
	}
	return w.Rules[w.Ranges[i].Rules]
}

// Text returns the rules at a position as Breakpad writes them; "": nothing is known there.
func (w *Unwound) Text(pos uint64) string { return w.text(w.At(pos)) }

func (w *Unwound) text(coded string) string {
	r, err := unwind.Decode(coded)
	if err != nil {
		return err.Error()
	}
	if w.Arch == nil {
		return fmt.Sprintf("%x", coded)
	}
	return r.Text(w.Arch)
}

// String lists all ranges with their rules, a line each, for a golden.
func (w *Unwound) String() string {
	var b strings.Builder
	for _, g := range w.Ranges {
		fmt.Fprintf(&b, "%x-%x %s\n", g.Start, g.End, w.text(w.Rules[g.Rules]))
	}
	return b.String()
}
