package formattest

import "testing"

func TestAwait(t *testing.T) {
	asked := 0
	Await(t, "the third time", func() bool { asked++; return asked == 3 })
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}
