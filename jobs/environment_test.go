package jobs

import (
	"io"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/jobs/internal/settings"
)

// grammar is the whole command line, with every command.
func grammar(t *testing.T) *kong.Kong {
	t.Helper()
	options := []kong.Option{kong.Name("symlake"), kong.Writers(io.Discard, io.Discard), kong.PostBuild(settings.Configure)}
	for _, c := range commands() {
		options = append(options, kong.DynamicCommand(c.Name, c.Help, "", c.Job))
	}
	k, err := kong.New(new(settings.Flags), options...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Flags obey the variables of the list and of the operator's table, and no others.
func TestVariables(t *testing.T) {
	obeyed := map[string]bool{}
	var each func(n *kong.Node)
	each = func(n *kong.Node) {
		for _, f := range n.Flags {
			for _, name := range f.Envs {
				obeyed[name] = true
			}
		}
		for _, child := range n.Children {
			each(child)
		}
	}
	each(grammar(t).Model.Node)
	var listed []string
	for _, v := range settings.Variables() {
		listed = append(listed, v.Name())
	}
	if got := sortedKeys(obeyed); !slices.Equal(got, sorted(listed)) {
		t.Errorf("flags obey %v, listed are %v", got, sorted(listed))
	}
	text, err := os.ReadFile("docs/operator.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`SYMLAKE_.*) \\|.*\\|$").FindAllSubmatch(text, -1) {
		for _, name := range regexp.MustCompile("SYMLAKE_[A-Z_]+").FindAll(row[1], -1) {
			documented = append(documented, string(name))
		}
	}
	if !slices.Equal(sorted(documented), sorted(listed)) {
		t.Errorf("jobs/docs/operator.md names %v\nlisted are %v", sorted(documented), sorted(listed))
	}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
