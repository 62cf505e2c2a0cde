package lake

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// The README explains every column in the words of Tables.
func TestReadmeColumns(t *testing.T) {
	var want strings.Builder
	for _, table := range Tables() {
		fmt.Fprintf(&want, "| **%s** | | %s |\n", table.Name, table.Doc)
		for _, c := range table.Columns {
			fmt.Fprintf(&want, "| %s | %s | %s |\n", c.Name, c.Type, strings.ReplaceAll(c.Doc, "|", `\|`))
		}
	}
	text, err := os.ReadFile(filepath.Join(formattest.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want.String()) {
		t.Errorf("README.md lacks this table:\n%s", want.String())
	}
}
