package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/symlake/symlake/formats/formattest"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	heading      = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	codeBlock    = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchors returns the names by which links reach the headings of a document, as forges make them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		title := strings.ToLower(linkText.ReplaceAllString(strings.ReplaceAll(m[1], "`", ""), "$1"))
		all[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return r
			}
			return -1
		}, title)] = true
	}
	return all
}

// links returns the relative links of a document at a path, as paths below root with their anchors.
func links(at, text string) (all []string) {
	for _, m := range markdownLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		to := m[1] + m[2]
		if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(to, "#")
		if file == "" {
			file = path.Base(at)
		}
		all = append(all, strings.TrimSuffix(path.Join(path.Dir(at), file)+"#"+anchor, "#"))
	}
	return all
}

// dead returns the links of a document that lead nowhere below root.
func dead(root, at, text string) (all []string) {
	for _, link := range links(at, text) {
		file, anchor, _ := strings.Cut(link, "#")
		target := filepath.Join(root, filepath.FromSlash(file))
		if _, err := os.Stat(target); err != nil {
			all = append(all, link)
			continue
		}
		if anchor == "" {
			continue
		}
		if to, err := os.ReadFile(target); err != nil || !anchors(string(to))[anchor] {
			all = append(all, link)
		}
	}
	return all
}

// TestLinks fails when a relative link or an anchor of a document leads nowhere, or when README and a document for
// users do not link each other.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := formattest.Root()
	const readme = "README.md"
	to, from := map[string]bool{}, map[string]bool{}
	for _, name := range markdownFiles(t) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range dead(root, name, string(text)) {
			t.Errorf("%s links %s, which does not exist", name, link)
		}
		for _, link := range links(name, string(text)) {
			file, _, _ := strings.Cut(link, "#")
			if name == readme {
				to[file] = true
			} else if file == readme {
				from[name] = true
			}
		}
	}
	for _, name := range markdownFiles(t) {
		if generated[name] || name == readme || strings.HasPrefix(name, "testdata/") && name != "testdata/bench/README.md" {
			continue
		}
		if !to[name] {
			t.Errorf("README.md does not link %s", name)
		}
		if !from[name] {
			t.Errorf("%s does not link README.md", name)
		}
	}
}

// TestLinksRefuse tries the rule on a planted document.
func TestLinksRefuse(t *testing.T) {
	t.Parallel()
	const planted = "# A `b` c: d\n\n[x](../LICENSE) [y](../NOTHING) [z](#a-b-c-d) [w](#nothing) [v](https://example.com/nothing)\n" +
		"[u](CONTRIBUTING.md#layers) [s](CONTRIBUTING.md#nothing) <img src=\"nothing.svg\">\n\n```\n[t](nothing)\n```\n"
	got := strings.Join(dead(formattest.Root(), ".github/CONTRIBUTING.md", planted), " ")
	if want := "NOTHING .github/CONTRIBUTING.md#a-b-c-d .github/CONTRIBUTING.md#nothing .github/CONTRIBUTING.md#nothing .github/nothing.svg"; got != want {
		t.Errorf("dead are %q, want %q", got, want)
	}
	if !anchors(planted)["a-b-c-d"] {
		t.Errorf("anchors are %v", anchors(planted))
	}
}
