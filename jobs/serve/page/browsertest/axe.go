package browsertest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

// Axe wants no finding of axe-core on the page. where names the page in messages. The driver injects
// axe-core: the page's policy lets no script in.
func (b *Browser) Axe(where string) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("SYMLAKE_AXE"), "axe.min.js"))
	if err != nil || os.Getenv("SYMLAKE_AXE") == "" {
		formattest.Missing(b.t, "axe-core", "make axe installs it; then set SYMLAKE_AXE to its folder, as make test does")
	}
	var loaded bool
	b.Eval("typeof axe === \"object\"", &loaded)
	if !loaded {
		if err := b.eval(string(text)+"\n;\"null\"", nil); err != nil {
			b.t.Fatalf("axe-core does not start: %v", err)
		}
	}
	var findings []struct {
		ID, Help string
		Nodes    []struct {
			HTML           string
			FailureSummary string
		}
	}
	b.Eval(`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations)`, &findings)
	for _, f := range findings {
		var at []string
		for _, n := range f.Nodes {
			at = append(at, n.HTML+"\n      "+strings.ReplaceAll(n.FailureSummary, "\n", "\n      "))
		}
		b.t.Errorf("%s, %s, dark %v: axe-core finds %s: %s\n    %s", where, b.Kind, b.Dark, f.ID, f.Help, strings.Join(at, "\n    "))
	}
}
