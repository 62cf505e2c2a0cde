// Package names reads the corpus of functions with known names that the recipe
// in testdata/names makes, and compares answers with it.
package names

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Bundle is one program as one tool bundled it.
type Bundle struct {
	Bundler, Name string
	Stacks        []Stack
}

// Script is the base name of the bundle's script.
func (b *Bundle) Script() string { return b.Bundler + "-" + b.Name + ".js" }

// Stack is a raw stack of a bundle on an engine.
type Stack struct {
	Engine, Step string
	Lines        []string
	Frames       []Frame
}

// Frame is a line of a stack with a known original place.
type Frame struct {
	At           int // index of its line
	Line, Column int // in the script, both from 1
	Source       string
	To           [2]int // line and column in Source, both from 1
	Name         string // the function's true name, "" if it has none
}

// Load reads the bundles of dir, the folder that names.sh made.
func Load(dir string) ([]Bundle, error) {
	files, err := filepath.Glob(filepath.Join(dir, "frames", "*.json"))
	if err != nil {
		return nil, err
	}
	all := make([]Bundle, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

// Text is the raw stacks of bundles, an empty line behind each.
func Text(all []Bundle) string {
	var b strings.Builder
	for i := range all {
		for _, s := range all[i].Stacks {
			for _, line := range s.Lines {
				b.WriteString(line)
				b.WriteByte('\n')
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Answer is what symlake says of a raw line.
type Answer struct {
	Raw, Status string
	Frames      []struct {
		Function, Compiled, File string
		Line, Column             int
	}
}

// Function is the answer's innermost function, "" without one.
func (a *Answer) Function() string {
	if a == nil || len(a.Frames) == 0 {
		return ""
	}
	return a.Frames[0].Function
}

// Answers reads the records of symlake symbolicate --json, and returns the answer of each line of Text(all) that has one.
func Answers(all []Bundle, records io.Reader) (map[*Frame]*Answer, error) {
	var got []*Answer
	for in := json.NewDecoder(records); ; {
		var record struct {
			Threads []struct{ Frames []*Answer }
		}
		if err := in.Decode(&record); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		for _, t := range record.Threads {
			got = append(got, t.Frames...)
		}
	}
	answers := map[*Frame]*Answer{}
	for i := range all {
		for j := range all[i].Stacks {
			s := &all[i].Stacks[j]
			of := map[int]*Answer{}
			for n, line := range s.Lines {
				if len(got) > 0 && got[0].Raw == strings.TrimSpace(line) {
					of[n], got = got[0], got[1:]
				}
			}
			for n := range s.Frames {
				answers[&s.Frames[n]] = of[s.Frames[n].At]
			}
		}
	}
	if len(got) > 0 {
		return nil, fmt.Errorf("%d answers, from %q on, are of no line of the corpus", len(got), got[0].Raw)
	}
	return answers, nil
}

// Raw is the function that a raw line names: "new e" in "at new e (URL:1:2)", "t" in "t@URL:1:2".
func Raw(line string) string {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, "at "); ok {
		name, _, found := strings.Cut(rest, " (")
		if !found {
			return ""
		}
		name, _, _ = strings.Cut(name, " [as ")
		return name
	}
	name, _, _ := strings.Cut(line, "@")
	return name
}

// Bare returns a function's name without its class and its kind. Engines and tools spell these in several ways: "cart.total",
// "Cart#total", "Cart.get total" and "async total" are "total"; "new Cart" and "Cart#constructor" are "Cart".
func Bare(name string) string {
	for _, before := range []string{"async ", "new ", "static ", "get ", "set "} {
		name = strings.TrimPrefix(name, before)
	}
	owner, last := cut(name)
	for _, before := range []string{"get ", "set "} {
		last = strings.TrimPrefix(last, before)
	}
	if last == "constructor" && owner != "" {
		_, last = cut(owner)
	}
	return last
}

// cut parts the last member of a name from its owner. A private member keeps its "#".
func cut(name string) (owner, last string) {
	if strings.HasSuffix(name, "]") {
		if at := strings.LastIndexByte(name, '['); at >= 0 {
			return strings.TrimRight(name[:at], ".#"), name[at:]
		}
	}
	at := strings.LastIndexAny(name, ".#")
	switch {
	case at < 0:
		return "", name
	case name[at] == '#' && (at == 0 || name[at-1] == '.' || name[at-1] == '#'):
		return strings.TrimRight(name[:at], ".#"), name[at:]
	}
	return name[:at], name[at+1:]
}
