package all

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// Each topic has a name of its own and a summary, and its text is the file that its path names.
func TestTopics(t *testing.T) {
	seen := map[string]bool{}
	for _, topic := range Topics() {
		if seen[topic.Name] || topic.Name != strings.ToLower(topic.Name) || strings.ContainsAny(topic.Name, " \t") {
			t.Errorf("%q is no word, or is there twice", topic.Name)
		}
		seen[topic.Name] = true
		if topic.Summary == "" || len(topic.Summary) > 90 || strings.HasSuffix(topic.Summary, ".") || strings.Contains(topic.Summary, "\n") {
			t.Errorf("%s: the summary is %q", topic.Name, topic.Summary)
		}
		text, err := os.ReadFile(filepath.Join(formattest.Root(), filepath.FromSlash(topic.Path)))
		if err != nil {
			t.Error(err)
		} else if string(text) != topic.Text || !strings.HasPrefix(topic.Text, "# ") {
			t.Errorf("%s: the text is not that of %s", topic.Name, topic.Path)
		}
	}
}
