package ledger

import (
	"regexp"
	"strings"
	"sync"
)

// ReasonKind returns what a reason has in common with others of its kind: "elf: corrupt input" of a
// parser's error, else the text before the second colon, without numbers. So counts by reason stay few.
func ReasonKind(reason string) string {
	if m := parserError().FindStringSubmatch(reason); m != nil {
		return m[1] + ": " + m[2]
	}
	parts := strings.SplitN(reason, ": ", 3)
	if len(parts) > 2 {
		parts = parts[:2]
	}
	return anyNumber().ReplaceAllString(strings.Join(parts, ": "), "N")
}

// The expressions are compiled when the first reason is asked for.
var (
	parserError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9]+): \S+\+0x[0-9a-f]+: ([^:]+)`)
	})
	anyNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(0x)?[0-9][0-9a-fA-F]*`) })
)
