package jobs

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The tags that make builds with still keep out what they are there for: packages whose initialisation every
// process pays, each look-up from a shell too.
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
	for _, heavy := range []string{"github.com/goccy/go-json", "html/template"} {
		for dep := range strings.Lines(string(deps)) {
			if dep = strings.TrimSpace(dep); dep == heavy {
				t.Errorf("the binary has %s in it", heavy)
			}
		}
	}
}
