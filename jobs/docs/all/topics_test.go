package all_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/symlake/symlake/jobs/docs/all"
)

// "symlake help TOPIC" prints the document of each topic without marks of Markdown. No command has a topic's name.
func TestHelpTopic(t *testing.T) {
	t.Parallel()
	place := newWorkplace(t, "help")
	for _, topic := range all.Topics() {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", "symlake help "+topic.Name)
		cmd.Dir, cmd.Env = place.dir, place.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", topic.Name, err, out)
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(topic.Text, "# "), "\n")
		if first, _, _ := strings.Cut(string(out), "\n"); first != title {
			t.Errorf("symlake help %s begins with %q, want %q", topic.Name, first, title)
		}
		for _, mark := range []string{"-->", "](", "|---"} {
			if strings.Contains(string(out), mark) {
				t.Errorf("symlake help %s prints %q", topic.Name, mark)
			}
		}
	}
}
