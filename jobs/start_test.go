package jobs

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The program brings no gRPC and no HTML templates, which every process would initialize. A plain go build makes the same
// program as make build: no tag changes a library.
func TestStart(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if tags := regexp.MustCompile(`-tags[ =]\S+`).Find(makefile); tags != nil {
		t.Errorf("make builds with %s", tags)
	}
	list := exec.Command("go", "list", "-deps", "./jobs/symlake")
	list.Dir = ".."
	deps, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(deps)) {
		switch strings.TrimSpace(dep) {
		case "html/template", "google.golang.org/grpc":
			t.Errorf("the program has %s in it", strings.TrimSpace(dep))
		}
	}
}

// Packages allocate less in their initializers than what starts a collection (4 MB with the stacks and the globals). Up to
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
		t.Errorf("packages allocate %d bytes in their initializers, want at most %d", bytes, most)
	}
}
