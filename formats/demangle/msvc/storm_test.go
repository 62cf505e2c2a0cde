package msvc

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// stormVariable raises the number of names of TestStorm.
const stormVariable = "SYMLAKE_STORM_NAMES"

// TestStorm demangles many damaged names: none panics, none takes long.
func TestStorm(t *testing.T) {
	n := 50_000
	if s := os.Getenv(stormVariable); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$?@."
	from := answers(t)
	seed := uint64(1)
	random := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int((seed >> 33) % uint64(n))
	}
	d := new(Demangler)
	var name []byte
	taken, slowest, worst := 0, time.Duration(0), ""
	for i := range n {
		name = append(name[:0], from[random(len(from))].name...)
		for range 1 + random(3) {
			at := random(len(name))
			switch random(4) {
			case 0:
				name[at] = letters[random(len(letters))]
			case 1:
				name = slices.Insert(name, at, letters[random(len(letters))])
			case 2:
				name = slices.Delete(name, at, at+1)
			case 3: // splice
				other := from[random(len(from))].name
				name = append(name[:at], other[random(len(other)):]...)
			}
			if len(name) == 0 {
				name = append(name, "?f"...)
			}
		}
		s := string(name)
		start := time.Now()
		got, ok := d.Name(s, Form(i%3), maxBytes)
		if took := time.Since(start); took > slowest {
			slowest, worst = took, s
		}
		if len(got) > maxBytes {
			t.Fatalf("%q became %d bytes", s, len(got))
		}
		if ok {
			taken++
		}
	}
	t.Logf("%d names, %d taken for names, the slowest %v: %s", n, taken, slowest, worst)
	if slowest > formattest.Patience || taken < n/50 {
		t.Errorf("%d of %d taken, the slowest %v", taken, n, slowest)
	}
}

// TestCost: no kind of nesting or reference costs more than its length allows.
func TestCost(t *testing.T) {
	t.Parallel()
	d := new(Demangler)
	for what, shape := range map[string]func(n int) string{
		"arguments":  func(n int) string { return "??$f@" + strings.Repeat("H", n) + "@@YAXXZ" },
		"classes":    func(n int) string { return "??$f@" + strings.Repeat("VA@@", n/4) + "@@YAXXZ" },
		"parameters": func(n int) string { return "?f@@YAX" + strings.Repeat("PEAH", n/4) + "@Z" },
		"scopes":     func(n int) string { return "?f@" + strings.Repeat("ab@", n/3) + "@YAXXZ" },
		"locals":     func(n int) string { return "?f@" + strings.Repeat("?1??f@", n/6) + "@YAXXZ" },
		"templates": func(n int) string {
			return "?f@@YAX" + strings.Repeat("V?$A@", n/5) + strings.Repeat("H@@", n/5) + "@Z"
		},
		"pointers": func(n int) string { return "?f@@YAX" + strings.Repeat("PEA", n/3) + "H@Z" },
		"functions": func(n int) string {
			return "?f@@YAX" + strings.Repeat("P6AX", n/4) + "H" + strings.Repeat("@Z", n/4) + "@Z"
		},
		"results": func(n int) string {
			return "?f@@YA" + strings.Repeat("P6A", n/3) + "X" + strings.Repeat("XZ", n/3) + "XZ"
		},
		"dimensions": func(n int) string { return "?x@@3PAYEAA@" + strings.Repeat("0", n) + "HA" },
		"begun":      func(n int) string { return "?f@" + strings.Repeat("?BAAAAAAA", n/9) },
		"marks":      func(n int) string { return strings.Repeat("?", n) },
		"string":     func(n int) string { return "??_C@_0" + strings.Repeat("P", n) + "@A@a@" },
		"doubled": func(n int) string {
			s := "?f@@YAX"
			for range min(10, n/20) {
				s += "P6AX000000000000000000@Z"
			}
			return s + "@Z"
		},
		"text doubled": func(n int) string {
			s := "?f@@YAXV?$a@H@@"
			for i := range min(8, n/20) {
				s += "V?$" + string(rune('b'+i)) + "@V0@V0@V0@V0@@@"
			}
			return s + "@Z"
		},
	} {
		best := [2]time.Duration{time.Hour, time.Hour}
		for k, n := range []int{4 << 10, 32<<10 - 64} {
			name := shape(n)
			for range 3 {
				start := time.Now()
				d.of(name, Frame)
				best[k] = min(best[k], time.Since(start))
			}
		}
		if best[1] > 200*time.Millisecond {
			t.Errorf("%s: %v for 4 KiB, %v for 32 KiB", what, best[0], best[1])
		}
	}
}
