package opentable

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

func FuzzDeltaCommit(f *testing.F) {
	for n := range 6 {
		text, err := os.ReadFile(formattest.Testdata(f, fmt.Sprintf("rest/delta/_delta_log/%020d.json", n)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newDelta()
		if err := s.commit(b); err != nil && !errors.Is(err, ErrTable) {
			t.Fatal(err)
		}
	})
}
