package swift

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// stormVariable raises the number of names of TestStorm.
const stormVariable = "SYMLAKE_STORM_NAMES"

// mutator damages names, the same ones in every run.
type mutator struct {
	from []answer
	seed uint64
	name []byte
}

func newMutator(from []answer) *mutator { return &mutator{from: from, seed: 1} }

func (m *mutator) random(n int) int {
	m.seed = m.seed*6364136223846793005 + 1442695040888963407
	return int((m.seed >> 33) % uint64(n))
}

// next gives a name that was changed in one to three places. It is valid until
// the next.
func (m *mutator) next() []byte {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$"
	name := append(m.name[:0], m.from[m.random(len(m.from))].name...)
	for range 1 + m.random(3) {
		at := m.random(len(name))
		switch m.random(4) {
		case 0:
			name[at] = letters[m.random(len(letters))]
		case 1:
			name = slices.Insert(name, at, letters[m.random(len(letters))])
		case 2:
			name = slices.Delete(name, at, at+1)
		case 3: // splice
			other := m.from[m.random(len(m.from))].name
			name = append(name[:at], other[m.random(len(other)):]...)
		}
		if len(name) == 0 {
			name = append(name, "$s"...)
		}
	}
	m.name = name
	return name
}

// TestStorm demangles many damaged names: none panics, none takes long.
func TestStorm(t *testing.T) {
	n := 100_000
	if s := os.Getenv(stormVariable); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	m := newMutator(answers(t, formattest.Testdata(t, "swift/answers.tsv.zst")))
	d := new(Demangler)
	taken, slowest := 0, time.Duration(0)
	for i := range n {
		name := string(m.next())
		start := time.Now()
		got, ok := d.Name(name, i%2 == 1, maxBytes)
		if took := time.Since(start); took > slowest {
			slowest = took
		}
		if len(got) > maxBytes {
			t.Fatalf("%q became %d bytes", name, len(got))
		}
		if ok {
			taken++
		}
	}
	t.Logf("%d names, %d taken for names of Swift, the slowest %v", n, taken, slowest)
	if slowest > formattest.Patience || taken < n/50 {
		t.Errorf("%d of %d taken, the slowest %v", taken, n, slowest)
	}
}
