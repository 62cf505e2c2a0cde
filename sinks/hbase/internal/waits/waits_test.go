package waits

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestWaits(t *testing.T) {
	var told []string
	w := Waits{Notice: func(s string) { told = append(told, s) }}
	began := time.Unix(1000, 0)
	a, b := Place{"region a of table t", ""}, Place{"region b of table t", "s:1"}
	at := func(s float64, p Place, cause string) {
		w.failed(p, began, cause, began.Add(time.Duration(s*float64(time.Second))))
	}
	at(1, a, "refused")
	at(1, b, "refused")
	at(3.9, a, "refused")
	w.answered(b, began.Add(3*time.Second))
	if len(told) != 0 || w.waiting.Load() != 1 {
		t.Fatal(told)
	}
	for s := range 15 {
		at(float64(4+s), a, "refused")
		if s%2 == 0 { // another call
			at(float64(4+s), a, "refused")
		}
	}
	at(20, a, "no answer")
	at(21, a, "refused")
	for s := range 60 {
		at(float64(22+s), a, "no answer")
	}
	w.answered(a, began.Add(90*time.Second))
	at(91, a, "refused")
	want := []string{"waiting for region a of table t: refused", "waiting for region a of table t: no answer",
		"waiting for region a of table t: no answer", "region a of table t answers again, after 1m30s",
		"waiting for region a of table t: refused"}
	if !slices.Equal(told, want) {
		t.Errorf("%q\nwant\n%q", told, want)
	}
	var none Waits
	none.Failed(a, began, errors.New("refused"))
	if none.waiting.Load() != 0 {
		t.Error("noted for nobody")
	}
}
