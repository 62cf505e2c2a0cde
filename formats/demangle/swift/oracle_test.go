package swift

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// toolsVariable names the folder that testdata/swift/oracle.sh builds the oracle
// into; the programs for their names are beside it.
const toolsVariable = "SYMLAKE_TOOLS"

func oracle(t *testing.T) (program, programs string) {
	t.Helper()
	tools := os.Getenv(toolsVariable)
	program = filepath.Join(tools, "swift-oracle")
	if _, err := os.Stat(program); tools == "" || err != nil {
		formattest.Missing(t, "swift-oracle in "+toolsVariable, "bash testdata/swift/oracle.sh CACHE builds it, "+toolsVariable+" is CACHE/bin")
	}
	return program, filepath.Join(filepath.Dir(tools), "swift")
}

// ask gives the oracle's answers. What it crashes on, and what it has no word
// for, is left out.
func ask(t *testing.T, program string, names []string) []answer {
	t.Helper()
	var list []answer
	for len(names) > 0 {
		cmd := exec.Command(program)
		cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
		out, _ := cmd.Output() // a crash shows by missing answers
		said := strings.Split(string(out), "\n")
		said = said[:len(said)-1]
		for i, line := range said {
			full, simplified, ok := strings.Cut(line, "\t")
			if !ok {
				t.Fatalf("%s: %q", names[i], line)
			}
			if !strings.Contains(full, "<null node pointer>") && !strings.Contains(full, "existential shape") {
				list = append(list, answer{names[i], full, simplified})
			}
		}
		names = names[min(len(said)+1, len(names)):]
	}
	return list
}

// harvest gives all that looks like a name of Swift in some files.
func harvest(t *testing.T, files []string) []string {
	t.Helper()
	pattern := regexp.MustCompile(`(?:_?\$[sSe]|_T)[A-Za-z0-9_$.]+`)
	var names []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pattern.FindAll(data, -1) {
			if len(name) <= 4096 {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestHarvest asks both about all names of some programs, which are not those
// that the fixtures were cut from. All were equal when this was written.
func TestHarvest(t *testing.T) {
	program, programs := oracle(t)
	files, err := filepath.Glob(filepath.Join(programs, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() && len(files) > 1 {
		files = files[:1]
	}
	list := ask(t, program, harvest(t, files))
	if differ := compare(t, list); differ > len(list)/1000 || len(list) < 1000 {
		t.Errorf("%d of %d names differ", differ, len(list))
	}
}

// TestOldNames asks both about the names before Swift 4 of the fixtures' dSYMs.
func TestOldNames(t *testing.T) {
	root := formattest.Fixture(t, "macho")
	program, _ := oracle(t)
	var files []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := slices.DeleteFunc(harvest(t, files), func(name string) bool { return prefix(name) > 0 })
	list := ask(t, program, names)
	if differ := compare(t, list); differ > 0 || len(list) < 4000 {
		t.Errorf("%d of %d names differ", differ, len(list))
	}
}

// TestMutated asks both about names that were changed by a few bytes: what one
// takes for a name the other does too, with few exceptions.
func TestMutated(t *testing.T) {
	program, _ := oracle(t)
	recorded := answers(t, formattest.Testdata(t, "swift/answers.tsv.zst"))
	var names []string
	for m := newMutator(recorded); len(names) < 20_000; {
		names = append(names, string(bytes.ToValidUTF8(m.next(), nil)))
	}
	list := ask(t, program, names)
	if differ := compare(t, list); differ > 10 || len(list) < 15_000 {
		t.Errorf("%d of %d names differ", differ, len(list))
	}
}
