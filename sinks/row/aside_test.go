package row

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
)

// Blocks that are written aside are those that are written at once, one after the other, and what fails there fails the load.
func TestAside(t *testing.T) {
	k, _ := newRing(t)
	strs, runs := synthetic(1000, 60)
	last := runs[len(runs)-1].Ranges
	a := artifact(last[len(last)-1].End + 100)
	want := encode(t, k, a, strs, runs)

	broken := errors.New("broken")
	for fails := range 4 { // 0: none
		var aside sync.WaitGroup
		got, started, written := &load{ring: k, art: a, runs: runs}, 0, 0
		e, err := NewEncoder(k, &a, want.out.Load, tableOf(strs, runs), func(r sinks.Row) error {
			if written++; written == fails+1 && fails > 0 { // the first is the dictionary
				return broken
			}
			got.rows = append(got.rows, r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		e.Aside(func(write func()) {
			started++
			aside.Go(func() {
				time.Sleep(time.Millisecond)
				write()
			})
		})
		for _, r := range runs {
			if err = e.Add(r); err != nil {
				break
			}
		}
		if err == nil {
			got.out, err = e.Close()
		}
		aside.Wait()
		if fails > 0 {
			if !errors.Is(err, broken) || written != fails+1 {
				t.Errorf("write %d fails: %v after %d writes", fails+1, err, written)
			}
			continue
		}
		if err != nil || started != len(got.rows)-1 || started < 4 {
			t.Fatalf("%d blocks aside, %d rows: %v", started, len(got.rows), err)
		}
		if got.out.Digest != want.out.Digest || got.out.Bytes != want.out.Bytes || got.out.Rows != want.out.Rows || !slices.Equal(got.out.Fence, want.out.Fence) {
			t.Errorf("%+v, want %+v", got.out, want.out)
		}
		for i, r := range got.rows {
			if string(r.Key) != string(want.rows[i].Key) || len(r.Value) != len(want.rows[i].Value) {
				t.Errorf("row %d: %x of %d bytes, want %x of %d", i, r.Key, len(r.Value), want.rows[i].Key, len(want.rows[i].Value))
			}
		}
	}
}
