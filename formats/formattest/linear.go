package formattest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Shape is a family of hostile inputs that grow with a number.
type Shape struct {
	Name string
	// Kind is how the program testdata/steps reads the input: "object", "stack", "retrace", "trace", "name" or "group". It reads an
	// object through ReadAt too.
	Kind string
	// N is the smaller of the two numbers that are compared. The input of 2N must be twice the size.
	N int
	// Make gives the files for n. The first is read, the others lie beside it.
	Make func(n int) []File
	// Rejected is a part of the error that ends the reading of both inputs; "" for inputs that are read to the end.
	Rejected string
}

// File is a file of a shape.
type File struct {
	Name  string
	Bytes []byte
}

const (
	// maxGrowth bounds what twice the input may cost: a little more than two, for what sorts.
	maxGrowth = 2.2
	// maxByteGrowth bounds it for bytes: a list that grows by a quarter may have just grown.
	maxByteGrowth = 2.6
	// spareSteps and spareBytes may be spent on an input of any size.
	spareSteps = 4 << 10
	spareBytes = 1 << 20
)

// Linear checks for every shape that twice the input costs at most 2.2 times the steps, and 2.6 times the bytes that are
// allocated. A step is a basic block of our packages that runs: coverage counters tell, so that the result does not depend
// on the host. Steps of libraries do not count; bytes that they allocate do.
func Linear(t *testing.T, shapes []Shape) {
	t.Helper()
	program := buildSteps(t)
	for _, s := range shapes {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			var paths []string
			for i, n := range []int{s.N, 2 * s.N} {
				dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				files := s.Make(n)
				for _, f := range files {
					if err := os.WriteFile(filepath.Join(dir, f.Name), f.Bytes, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				paths = append(paths, filepath.Join(dir, files[0].Name))
			}
			kinds := []string{s.Kind}
			if s.Kind == "object" {
				kinds = append(kinds, "unmapped")
			}
			for _, kind := range kinds {
				s.check(t, kind, runSteps(t, program, kind, paths))
			}
		})
	}
}

// stepCost is a record of testdata/steps.
type stepCost struct {
	Steps, Bytes uint64
	Runs         int
	Err          string
}

func (s *Shape) check(t *testing.T, kind string, c [2]stepCost) {
	t.Helper()
	for _, c := range c {
		switch {
		case s.Rejected == "" && c.Err != "":
			t.Errorf("%s: rejected: %s", kind, c.Err)
		case !strings.Contains(c.Err, s.Rejected):
			t.Errorf("%s: the error is %q, want %q", kind, c.Err, s.Rejected)
		case c.Err == "" && c.Runs == 0:
			t.Errorf("%s: nothing was found", kind)
		}
	}
	steps := float64(c[1].Steps) / float64(c[0].Steps)
	if float64(c[1].Steps) > maxGrowth*float64(c[0].Steps)+spareSteps {
		t.Errorf("%s: %d steps, and %d for twice the input: %.2f times", kind, c[0].Steps, c[1].Steps, steps)
	}
	bytes := float64(c[1].Bytes) / float64(c[0].Bytes)
	if float64(c[1].Bytes) > maxByteGrowth*float64(c[0].Bytes)+spareBytes {
		t.Errorf("%s: %d bytes allocated, and %d for twice the input: %.2f times", kind, c[0].Bytes, c[1].Bytes, bytes)
	}
	t.Logf("%s: %d steps ×%.2f, %d bytes ×%.2f, %d found", kind, c[1].Steps, steps, c[1].Bytes, bytes, c[1].Runs)
}

// buildSteps builds testdata/steps with counters in every package of formats.
func buildSteps(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "steps")
	build := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg=./formats/...,./sinks/group,./testdata/steps", "-o", program, "./testdata/steps")
	build.Dir = Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

func runSteps(t *testing.T, program, kind string, paths []string) (c [2]stepCost) {
	t.Helper()
	run := exec.Command(program, append([]string{kind}, paths...)...)
	run.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("steps: %v\n%s", err, stderr.Bytes())
	}
	records := json.NewDecoder(bytes.NewReader(out))
	for i := range c {
		err = errors.Join(err, records.Decode(&c[i]))
	}
	if err != nil {
		t.Fatalf("steps: %v: %s", err, out)
	}
	return c
}
