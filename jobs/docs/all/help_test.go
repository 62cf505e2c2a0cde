package all_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// helpSetUp makes the files and the store that the examples of --help name.
const helpSetUp = `set -eu
mkdir -p libs build/symbols/shop/1234
cp testdata/elf/libgame-arm64-dw5.so libcart.so
cp libcart.so testdata/r8/shop.map.txt build/symbols/shop/1234/
cp libcart.so libs/
cp testdata/stacks/demo.txt crash.txt
cp testdata/trace/shop.txt out.txt
cp testdata/profile/kept/tree.pb.gz cpu.pb.gz
printf '%s\n' 'sources: [{url: build/symbols, names: "{app}/{build}/**"}]' 'store: file:symlake-data' > symlake.yaml
for again in "" --force; do symlake ingest --report report.json $again; done
`

// helpElsewhere are words of examples that need what a test has not got, with the reason why they are not run.
var helpElsewhere = map[string]string{
	"s3://":        "a bucket: TestIngestS3 and the documents have one",
	"hbase://":     "a cluster: TestHBase has one",
	"arn:aws":      "a key service: TestRehome has one",
	"adb ":         "a phone",
	"/etc/":        "a folder of the system",
	"/usr/local/":  "a folder of the system",
	"~/.":          "the reader's own folders",
	"source <(":    "the reader's own shell",
	"powershell":   "PowerShell",
	"man symlake-": "installed pages",
	"serve ":       "it runs for good: README.md of jobs/serve starts one",
	"curl ":        "a server",
}

var (
	helpExamples = regexp.MustCompile(`(?m)^Examples?:\n\n((?:    .*\n)+)`)
	continued    = regexp.MustCompile(` \\\n *`)
)

// TestHelpExamples runs the examples of every command's help. The reference of the command line has them all.
func TestHelpExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(formattest.Root(), "jobs", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	place := newWorkplace(t, "jobs/docs/cli.md")
	place.run(t, command{text: helpSetUp, want: "…\n"})
	ran, left := 0, 0
	used := map[string]bool{}
	for _, block := range helpExamples.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(continued.ReplaceAllString(block[1], " ")) {
			line = strings.TrimSpace(line)
			elsewhere := false
			for word := range helpElsewhere {
				if strings.Contains(line, word) {
					elsewhere, used[word] = true, true
				}
			}
			if elsewhere {
				left++
				continue
			}
			ran++
			place.run(t, command{text: line, want: "…\n"})
			if strings.Contains(line, "--lake-profile plain") { // keys are exported of a sealed lake
				place.run(t, command{text: "symlake compact --lake-profile sealed", want: "…\n"})
			}
		}
	}
	for word := range helpElsewhere {
		if !used[word] {
			t.Errorf("no example has %q", word)
		}
	}
	t.Logf("%d examples ran, %d are for other places", ran, left)
	if ran < 20 {
		t.Errorf("%d examples ran, want 20 at least", ran)
	}
}
