package all_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// block is an example of a document.
type block struct {
	language, text string
	line           int    // of its fence, from 1
	notRun         string // why
	needs          bool   // pyarrow
	terminal       bool   // the commands print to one
	answer         string // the block of text behind it
}

var (
	setUp   = regexp.MustCompile(`(?s)<!-- set up\n(.*?)-->`)
	fence   = regexp.MustCompile("^```(.*)$")
	needing = regexp.MustCompile(`^<!-- needs: pyarrow -->$`)
	skipped = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
	exits   = regexp.MustCompile(`# exit code (\d+)$`)

	listening = regexp.MustCompile(`"msg":"listening","address":"([^"]+)"`)

	// readCommand of DuckDB's shell runs a file.
	readCommand = regexp.MustCompile(`(?m)^\.read (\S+)$`)
)

// blocksOf returns the examples of a document.
func blocksOf(text string) (all []block) {
	var open *block
	reason, needs, terminal, last := "", false, false, -1 // last is the line where the last block ended
	text = setUp.ReplaceAllString(text, "```set-up\n$1```")
	for i, line := range strings.Split(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case open != nil && line == "```":
			if n := len(all); open.language == "text" && n > 0 && last == open.line-2 {
				all[n-1].answer = open.text
			}
			all, open, last = append(all, *open), nil, i+1
		case open != nil:
			open.text += line + "\n"
		case m != nil:
			open, reason = &block{language: m[1], line: i + 1, notRun: reason, needs: needs, terminal: terminal}, ""
			needs, terminal = false, false
		case strings.TrimSpace(line) != "":
			reason, needs, terminal = "", needing.MatchString(line), line == "<!-- terminal -->"
			if s := skipped.FindStringSubmatch(line); s != nil {
				reason = s[1]
			}
		}
	}
	return all
}

// command is one of a block of console.
type command struct {
	text string
	code int
	want string
	line int
}

// commands splits a block of console.
func (b block) commands() (all []command) {
	continued := false
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		text, begins := strings.CutPrefix(line, "$ ")
		switch {
		case begins:
			all = append(all, command{text: text, line: b.line + 1 + i})
		case continued:
			all[len(all)-1].text += "\n" + line
		case len(all) == 0:
			return nil
		default:
			all[len(all)-1].want += line + "\n"
		}
		continued = (begins || continued) && strings.HasSuffix(line, `\`)
	}
	for i, c := range all {
		if m := exits.FindStringSubmatch(c.text); m != nil {
			fmt.Sscan(m[1], &all[i].code)
		}
	}
	return all
}

// compare fails unless a text is the output that the document says.
func (c command) compare(t *testing.T, at, text string) {
	t.Helper()
	text = strings.Trim(text, "\n") + "\n"
	if want := strings.Trim(c.want, "\n") + "\n"; !pattern(want).MatchString(text) {
		t.Errorf("%s prints\n%s\nthe document says\n%s", at, text, want)
	}
}

// isServer reports whether a command starts a server for the examples after it.
func (c command) isServer() bool {
	return strings.HasPrefix(c.text, "symlake serve ") && strings.HasSuffix(c.text, " &")
}

// pattern makes an expression of an output that has parts which vary.
func pattern(want string) *regexp.Regexp {
	var all strings.Builder
	for line := range strings.Lines(want) {
		if line == "…\n" {
			all.WriteString(`(?:.*\n)*?`)
		} else {
			all.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
		}
	}
	return regexp.MustCompile(`\A` + all.String() + `\z`)
}

// Blocks, commands and their outputs are read as the comment on languages says.
func TestBlocks(t *testing.T) {
	t.Parallel()
	got := blocksOf("a\n\n```console\n$ one \\\n    two # exit code 3\nsaid …\n…\nend\n```\n\n<!-- not run: no cloud -->\n\n```sh\nx\n```\n\n```sql\nSELECT 1\n```\n\n```text\n1\n```\n")
	if len(got) != 4 || got[1].notRun != "no cloud" || got[2].notRun != "" || got[2].answer != "1\n" || got[0].answer != "" {
		t.Fatalf("blocks are %+v", got)
	}
	c := got[0].commands()
	if len(c) != 1 || c[0].text != "one \\\n    two # exit code 3" || c[0].code != 3 || c[0].want != "said …\n…\nend\n" || c[0].line != 4 {
		t.Fatalf("commands are %+v", c)
	}
	for text, matches := range map[string]bool{"said 1\nend\n": true, "said 1\nx\ny\nend\n": true, "said\nend\n": false, "said 1\nend\nmore\n": false, "Xsaid 1\nend\n": false} {
		if pattern(c[0].want).MatchString(text) != matches {
			t.Errorf("%q matches is not %v", text, matches)
		}
	}
}
