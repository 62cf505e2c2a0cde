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

// Packages allocate less in their initialisers than what starts a collection (4 MB with the stacks and the globals). Up to
// version 0.10.3 the JSON library that Arrow brings filled tables of 4.5 MB there.
func TestStartAllocates(t *testing.T) {
	start := exec.Command(os.Args[0], "-test.run=^$")
	start.Env = append(os.Environ(), "GODEBUG=inittrace=1", "GOGC=")
	trace, err := start.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, trace)
	}
	const most = 3 << 20
	bytes := 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) .* (\d+) bytes`).FindAllStringSubmatch(string(trace), -1) {
		n, _ := strconv.Atoi(m[2])
		bytes += n
	}
	if bytes == 0 || bytes > most {
		t.Errorf("packages allocate %d bytes in their initialisers, want at most %d", bytes, most)
	}
}
