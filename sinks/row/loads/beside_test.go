package loads

import (
	"errors"
	"fmt"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// With another goroutine, a load has the same content and the same rows, in the same order.
func TestBeside(t *testing.T) {
	t.Parallel()
	ring, _ := newRing(t)
	strs, runs := rowtest.Synthetic(6000, 8) // 19 blocks
	a := artifact(1 << 30)
	want := encode(t, ring, a, strs, runs)
	got, steps := &load{ring: ring, art: a, runs: runs}, 0
	e, err := NewEncoderBeside(ring, &a, want.out.Load, tableOf(strs, runs), func(r sinks.Row) error {
		got.rows = append(got.rows, r)
		return nil
	}, func(step func() error) error { steps++; return step() })
	if err != nil {
		t.Fatal(err)
	}
	defer e.Abort()
	for _, r := range runs {
		if err := e.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if got.out, err = e.Close(); err != nil {
		t.Fatal(err)
	}
	if got.out.Digest != want.out.Digest || got.out.Bytes != want.out.Bytes || got.out.Ranges != want.out.Ranges {
		t.Errorf("%d ranges of %d bytes, digest %x; want %d of %d, %x", got.out.Ranges, got.out.Bytes, got.out.Digest, want.out.Ranges, want.out.Bytes, want.out.Digest)
	}
	if len(got.rows) != len(want.rows) || steps != len(want.rows) || steps <= 2*aheadBlocks {
		t.Fatalf("%d rows in %d steps, want %d", len(got.rows), steps, len(want.rows))
	}
	for i := range want.rows {
		if string(got.rows[i].Key) != string(want.rows[i].Key) {
			t.Fatalf("row %d is %x, want %x", i, got.rows[i].Key, want.rows[i].Key)
		}
	}
	got.open(t)
}

// An error of the store, or of guard, ends the encoder, and stays. An encoder that is given up ends its goroutine.
func TestBesideFails(t *testing.T) {
	t.Parallel()
	ring, _ := newRing(t)
	strs, runs := rowtest.Synthetic(6000, 8)
	a := artifact(1 << 30)
	full := errors.New("disk full")
	for _, last := range []int{0, 1, 5, 18} {
		for _, guards := range []bool{false, true} {
			t.Run(fmt.Sprint(last, guards), func(t *testing.T) {
				t.Parallel()
				n := 0
				fail := func() error {
					if n++; n > last {
						return full
					}
					return nil
				}
				write, guard := func(sinks.Row) error { return fail() }, func(step func() error) error { return step() }
				if guards {
					write, guard = func(sinks.Row) error { return nil }, func(step func() error) error { return errors.Join(step(), fail()) }
				}
				e, err := NewEncoderBeside(ring, &a, sinks.Load{1}, tableOf(strs, runs), write, guard)
				if err != nil {
					t.Fatal(err)
				}
				var failed error
				for _, r := range runs {
					if failed = e.Add(r); failed != nil {
						break
					}
				}
				if failed != nil && !errors.Is(failed, full) {
					t.Errorf("Add: %v", failed)
				}
				for range 2 {
					if _, err := e.Close(); !errors.Is(err, full) {
						t.Errorf("Close: %v", err)
					}
				}
				e.Abort()
				if e.beside != nil {
					<-e.beside.ended
				}
				if n != last+1 {
					t.Errorf("%d rows after the one that failed", n-last-1)
				}
			})
		}
	}
	e, err := NewEncoderBeside(ring, &a, sinks.Load{1}, tableOf(strs, runs), func(sinks.Row) error { return nil }, func(step func() error) error { return step() })
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Add(runs[0]); err != nil {
		t.Fatal(err)
	}
	e.Abort()
	e.Abort()
	<-e.beside.ended
}
