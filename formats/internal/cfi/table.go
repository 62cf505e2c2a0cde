package cfi

import (
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

const (
	pieceRanges = 64 << 10 // ranges that are handed out at once
	pieceBytes  = 8 << 20  // coded rules that are kept for one piece
	maxWarnings = 4        // of a table
)

// Table gathers the ranges of an image with their rules. Its user sets Rank before a source, and calls Flush after the
// last one.
type Table struct {
	Rank symbol.UnwindRank
	// Quality counts functions in Units, and damaged ones among them in UnitsBroken. Its Warnings name the first few.
	Quality symbol.Quality

	base  uint64
	code  []native.Span
	most  int // ranges of a piece
	emit  func(*symbol.Unwind) error
	err   error // of emit
	out   symbol.Unwind
	index map[string]uint32
	size  int // bytes of out.Rules

	current uint32 // index of the last range's; 0: there is none yet
	room    []byte // of Add
}

// NewTable returns a table of an image. base is subtracted from addresses. code is ascending and disjoint.
func NewTable(base uint64, code []native.Span, lim *formats.Limits, emit func(*symbol.Unwind) error) *Table {
	t := &Table{base: base, code: code, most: min(lim.RunRanges, pieceRanges), emit: emit}
	t.reset()
	return t
}

func (t *Table) reset() {
	t.out.Rules, t.out.Ranges = []string{""}, t.out.Ranges[:0]
	t.index = map[string]uint32{}
	t.size, t.current = 0, 0
}

// Has reports whether code lies at an address.
func (t *Table) Has(addr uint64) bool {
	_, ok := t.span(addr)
	return ok
}

func (t *Table) span(addr uint64) (native.Span, bool) {
	image := native.Image{Code: t.code}
	return image.Span(addr)
}

// Add adds the rules of [start, end). Code of the image ends where the span ends that start lies in. Rules that say
// nothing are passed over. The error is the taker's.
func (t *Table) Add(start, end uint64, r *unwind.Rules) error {
	if r.CFA.How == unwind.Unsaid && r.Windows == nil {
		return nil
	}
	if t.room = r.Append(t.room[:0]); len(t.room) > unwind.MaxBytes {
		t.Drop("rules", start, fmt.Sprintf("at most %d bytes", unwind.MaxBytes))
		return nil
	}
	return t.add(start, end, t.room)
}

// add adds a range with coded rules.
func (t *Table) add(start, end uint64, coded []byte) error {
	span, ok := t.span(start)
	if !ok || start >= end {
		return nil
	}
	end = min(end, span.End)
	if len(t.out.Ranges) >= t.most || t.size >= pieceBytes || t.out.Rank != t.Rank {
		if err := t.Flush(); err != nil {
			return err
		}
		t.out.Rank = t.Rank
	}
	if t.current == 0 || t.out.Rules[t.current] != string(coded) {
		t.current = t.intern(coded)
	}
	start, end = start-t.base, end-t.base
	if n := len(t.out.Ranges); n > 0 {
		if last := &t.out.Ranges[n-1]; last.End == start && last.Rules == t.current {
			last.End = end
			return nil
		}
	}
	t.out.Ranges = append(t.out.Ranges, symbol.UnwindRange{Start: start, End: end, Rules: t.current})
	return nil
}

func (t *Table) intern(coded []byte) uint32 {
	if i, ok := t.index[string(coded)]; ok {
		return i
	}
	i := uint32(len(t.out.Rules))
	own := string(coded)
	t.out.Rules = append(t.out.Rules, own)
	t.index[own] = i
	t.size += len(own)
	return i
}

// Flush hands out the ranges that are left.
func (t *Table) Flush() error {
	if len(t.out.Ranges) == 0 {
		return nil
	}
	t.err = t.emit(&t.out)
	t.reset()
	return t.err
}

// Err returns the taker's error, if it has returned one.
func (t *Table) Err() error { return t.err }

// Drop counts damage that costs a function, or all that is left of a section, and says where it is.
func (t *Table) Drop(section string, off uint64, want string) {
	t.Quality.UnitsBroken++
	if len(t.Quality.Warnings) < maxWarnings {
		t.Quality.Warnings = append(t.Quality.Warnings, fmt.Sprintf("%s+%#x: want %s", section, off, want))
	}
}

// Tell counts an error that rejects a section, and returns any other.
func (t *Table) Tell(section string, err error) error {
	if t.err == nil && formats.Rejects(err) {
		t.Drop(section, 0, err.Error())
		return nil
	}
	return err
}
