package clr

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// TestSymbolic holds 10,000 places of each PDB in $SYMLAKE_PPDB_FILES against the program $SYMLAKE_PPDB, which asks
// symbolic's cache: it reads lines "METHOD OFFSET" and writes "FILE:LINE" or "-".
func TestSymbolic(t *testing.T) {
	program := os.Getenv("SYMLAKE_PPDB")
	if program == "" {
		t.Skip("SYMLAKE_PPDB names no program")
	}
	for _, path := range filepath.SplitList(os.Getenv("SYMLAKE_PPDB_FILES")) {
		flat, err := formattest.Flatten(context.Background(), &Format, &formattest.Open(t, &Format, formattest.Input(t, path)).Artifacts[0])
		if err != nil {
			t.Fatal(err)
		}
		borders := flat.Borders()
		rng := rand.New(rand.NewPCG(1, 2))
		var asked bytes.Buffer
		var got []string
		for len(got) < 10000 {
			at := borders[rng.IntN(len(borders))] + rng.Uint64N(16)
			if i, exact := slices.BinarySearch(borders, at); len(flat.At(at)) == 0 && (exact || i > 0 && borders[i-1]>>32 == at>>32) {
				continue // behind the code of the method: symbolic knows no end
			}
			answer := "-"
			if f := flat.At(at); len(f) > 0 && f[0].Line > 0 {
				answer = fmt.Sprintf("%s:%d", f[0].File, f[0].Line)
			}
			got = append(got, answer)
			fmt.Fprintf(&asked, "%d %d\n", at>>32, uint32(at))
		}
		places := strings.Split(asked.String(), "\n")
		c := exec.Command(program, path)
		c.Stdin = &asked
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		bad := 0
		for i, want := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
			if got[i] != want {
				if bad++; bad <= 10 {
					t.Logf("%s: %s, want %s", places[i], got[i], want)
				}
			}
		}
		t.Logf("%s: %d of 10000 places differ", filepath.Base(path), bad)
		if bad > 50 {
			t.Errorf("%s: more than 50", path)
		}
	}
}
