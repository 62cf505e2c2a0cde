package lake

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// README.md of this folder explains every column in the words of Tables.
func TestReadmeColumns(t *testing.T) {
	var want strings.Builder
	for _, table := range Tables() {
		fmt.Fprintf(&want, "| **%s** | | %s |\n", table.Name, table.Doc)
		for _, c := range table.Columns {
			fmt.Fprintf(&want, "| %s | %s | %s |\n", c.Name, c.Type, strings.ReplaceAll(c.Doc, "|", `\|`))
		}
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want.String()) {
		t.Errorf("sinks/lake/README.md lacks this table:\n%s", want.String())
	}
}
