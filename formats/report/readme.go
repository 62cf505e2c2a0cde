package report

import _ "embed"

// README is the document of this folder. The command line prints it as a help topic.
//
//go:embed README.md
var README string
