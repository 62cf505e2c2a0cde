package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/symlake/symlake/testdata/bench/measure"
)

func writeFile(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }

// agreement compares whole answers, frame by frame, with llvm-symbolizer's:
// function, file and line. Two differences are meant and do not count: the
// outermost function, for which llvm prints whichever alias the symbol table
// has at the address; and a function without linkage name, which llvm prints bare
// and symlake with its scopes ("A::f" for "f").
func (b *bench) agreement(r *result, file string) error {
	probes := r.probes[:min(b.probes, len(r.probes))]
	var ours, theirs strings.Builder
	for _, p := range probes {
		fmt.Fprintf(&ours, "%s %#x\n", r.id, p)
		fmt.Fprintf(&theirs, "%#x\n", p)
	}
	var a, l bytes.Buffer
	if _, err := measure.Run(strings.NewReader(ours.String()), &a, b.symlake, "--store", "file:"+r.store, "lookup", "--stdin", "--no-demangle"); err != nil {
		return err
	}
	if _, err := measure.Run(strings.NewReader(theirs.String()), &l, "llvm-symbolizer-19", "--obj="+file, "--inlines", "--functions=linkage", "--no-demangle"); err != nil {
		return err
	}
	left, right := answers(&a), answers(&l)
	if len(left) != len(probes) || len(right) != len(probes) {
		return fmt.Errorf("%d and %d answers to %d questions", len(left), len(right), len(probes))
	}
	r.all, r.differ = len(probes), map[string]int{}
	for i := range probes {
		why := difference(left[i], right[i])
		if why == "" {
			r.agree++
			continue
		}
		if r.differ[why]++; r.differ[why] <= 3 {
			fmt.Fprintf(os.Stderr, "%s: %#x: %s\n  symlake %v\n  llvm    %v\n", r.name, probes[i], why, left[i], right[i])
		}
	}
	return nil
}

// frame is one frame as text: function, then file:line:column.
type frame struct{ function, place string }

// answers reads what llvm-symbolizer prints: pairs of lines, an empty line
// after each answer.
func answers(out *bytes.Buffer) [][]frame {
	var all [][]frame
	var one []frame
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		function := lines.Text()
		if function == "" {
			all = append(all, one)
			one = nil
			continue
		}
		if !lines.Scan() {
			break
		}
		one = append(one, frame{function, lines.Text()})
	}
	return all
}

func difference(ours, theirs []frame) string {
	if len(ours) != len(theirs) {
		return "depth"
	}
	for i := range ours {
		if i < len(ours)-1 && ours[i].function != theirs[i].function && !strings.HasSuffix(ours[i].function, "::"+theirs[i].function) {
			return "function"
		}
		if place(ours[i].place) != place(theirs[i].place) {
			return "place"
		}
	}
	return ""
}

// place is file:line with the file made clean; the column is left out: GCC 12 and
// older write none for many rows and the tools differ in what they then print.
func place(s string) string {
	s = s[:max(strings.LastIndexByte(s, ':'), 0)]
	file, line, _ := strings.Cut(s, ":")
	if file == "??" || line == "0" {
		return file
	}
	return path.Clean(file) + ":" + line
}
