package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/sinks/lookup"
)

// style is a text form of answers. excerpts, where there are any, are the sources of the frames.
type style func(to []byte, frames []symbol.Frame, excerpts []lookup.Excerpt) []byte

// styles are the text forms by the name --style takes.
var styles = map[string]style{"llvm": appendLLVM, "addr2line": appendAddr2line}

// appendLLVM prints an answer as llvm-symbolizer does: a function line and a
// place line a frame, then an empty line. Lines of source come behind the place line, numbered, the
// frame's own marked.
func appendLLVM(to []byte, frames []symbol.Frame, excerpts []lookup.Excerpt) []byte {
	if len(frames) == 0 {
		return append(to, "??\n??:0:0\n\n"...)
	}
	for i, f := range frames {
		to = append(orUnknown(to, f.Readable()), '\n')
		to = append(orUnknown(to, f.File), ':')
		to = append(strconv.AppendUint(to, uint64(f.Line), 10), ':')
		to = append(strconv.AppendUint(to, uint64(f.Column), 10), '\n')
		if i < len(excerpts) {
			to = appendExcerpt(to, excerpts[i], f.Line)
		}
	}
	return append(to, '\n')
}

// colored prints an answer as appendLLVM does, in the colors of a terminal: names apart from places.
func colored(v term.View) style {
	return func(to []byte, frames []symbol.Frame, excerpts []lookup.Excerpt) []byte {
		plain := strings.Split(strings.TrimSuffix(string(appendLLVM(nil, frames, excerpts)), "\n"), "\n")
		plain = plain[:len(plain)-1] // behind the last line
		next := 0
		line := func(i term.Ink) {
			to = append(append(to, v.Paint(i, term.OneLine(plain[next]))...), '\n')
			next++
		}
		for i := range max(len(frames), 1) {
			if len(frames) == 0 || frames[i].Readable() == "" {
				line(term.Dim)
			} else {
				line(term.Cyan)
			}
			line("")
			for range excerptLines(excerpts, i) {
				line(term.Dim)
			}
		}
		for next < len(plain) { // of a name with line ends
			line("")
		}
		return append(to, '\n')
	}
}

// excerptLines returns how many lines of source frame i has.
func excerptLines(excerpts []lookup.Excerpt, i int) int {
	if i >= len(excerpts) {
		return 0
	}
	return len(excerpts[i].Lines)
}

// appendExcerpt prints lines of source as llvm-symbolizer does.
func appendExcerpt(to []byte, x lookup.Excerpt, line uint32) []byte {
	width := len(strconv.Itoa(int(x.First) + len(x.Lines)))
	for i, text := range x.Lines {
		mark, n := ' ', x.First+uint32(i)
		if n == line {
			mark = '>'
		}
		to = fmt.Appendf(to, "%-*d %c: %s\n", width, n, mark, text)
	}
	return to
}

// appendAddr2line prints an answer as addr2line -ipfC does.
func appendAddr2line(to []byte, frames []symbol.Frame, _ []lookup.Excerpt) []byte {
	if len(frames) == 0 {
		return append(to, "?? ??:0\n"...)
	}
	for i, f := range frames {
		if i > 0 {
			to = append(to, " (inlined by) "...)
		}
		to = append(orUnknown(to, f.Readable()), " at "...)
		to = append(orUnknown(to, f.File), ':')
		if f.Line == 0 {
			to = append(to, "?\n"...)
			continue
		}
		to = append(strconv.AppendUint(to, uint64(f.Line), 10), '\n')
	}
	return to
}

func orUnknown(to []byte, s string) []byte {
	if s == "" {
		return append(to, "??"...)
	}
	return append(to, s...)
}
