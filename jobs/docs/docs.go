// Package docs has the documents that the command line prints as help topics.
//
// A document lives beside its subject, because a forge shows a folder's README there. So some
// are embedded by the packages of their folders.
package docs

import (
	_ "embed"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/jobs/serve"
	"github.com/symlake/symlake/sinks/lookup"
)

// Topic is one document.
type Topic struct {
	Name    string // the word of the command line
	Summary string // one line, without a stop
	Text    string // Markdown; its links are relative to Path
	Path    string // the file in the repository, with slashes
}

//go:embed mobile.md
var mobile string

//go:embed glossary.md
var glossary string

// Topics returns the documents that each program has, about looking up, reports and the server.
// Package all has every topic.
func Topics() []Topic {
	return []Topic{
		{"mobile", "upload symbols from each build tool, paste a crash", mobile, "jobs/docs/mobile.md"},
		{"reports", "crash reports, stacks and traces that symbolicate reads", report.README, "formats/report/README.md"},
		{"profiles", "profiles that symbolicate answers and converts: Perfetto, pprof, OTLP and others", profile.README, "formats/profile/README.md"},
		{"server", "symlake serve: its paths, curl, clients in Python and Java", serve.README, "jobs/serve/README.md"},
		{"go", "look up from a Go program", lookup.README, "sinks/lookup/README.md"},
		{"glossary", "the words of symlake and their meaning", glossary, "jobs/docs/glossary.md"},
	}
}

// These are documents of the program that loads. Package all makes topics of them.
var (
	//go:embed install.md
	Install string
	//go:embed operator.md
	Operator string
	//go:embed keys.md
	Keys string
	//go:embed config.md
	Settings string
	//go:embed cli.md
	CommandLine string
	//go:embed CHANGELOG.md
	Changelog string
	//go:embed UPGRADING.md
	Upgrading string
)
