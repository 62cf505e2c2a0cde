package jobs

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The tag that make builds with keeps out gRPC's tracing pages, whose templates every process would initialise.
func TestStart(t *testing.T) {
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`-tags=\S+`).FindString(string(text))
	if tags == "" {
		t.Fatal("the Makefile has no tags")
	}
	list := exec.Command("go", "list", "-deps", tags, "./jobs/symlake")
	list.Dir = ".."
	list.Env = append(os.Environ(), "GOFLAGS=")
	deps, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	const heavy = "html/template"
	for dep := range strings.Lines(string(deps)) {
		if strings.TrimSpace(dep) == heavy {
			t.Errorf("the binary has %s in it", heavy)
		}
	}
}

// The first collection is put off before packages allocate enough to start it. Up to version 0.10.3 the JSON library that
// Arrow brings filled tables of 4.5 MB in its initialisers.
func TestStartCollectsNothing(t *testing.T) {
	start := exec.Command(os.Args[0], "-test.run=^$")
	start.Env = append(os.Environ(), "GODEBUG=inittrace=1", "GOGC=")
	trace, err := start.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, trace)
	}
	const most = 2 << 20 // of the 2.8 MB or so at which the runtime would begin
	before, found := 0, false
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) .* (\d+) bytes`).FindAllStringSubmatch(string(trace), -1) {
		if found = m[1] == "github.com/symlake/symlake/jobs/garbage"; found {
			break
		}
		n, _ := strconv.Atoi(m[2])
		before += n
	}
	if !found || before > most {
		t.Errorf("packages allocate %d bytes before the first collection is put off (seen: %t)", before, found)
	}
}
