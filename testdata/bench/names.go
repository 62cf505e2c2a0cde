package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/symlake/symlake/formats/formattest/names"
	"github.com/symlake/symlake/testdata/bench/measure"
)

// named is one way to name functions, and its answers.
type named struct {
	title   string
	answers map[*names.Frame]string
}

// names counts how many frames of the corpus of testdata/names each way names rightly: the raw stack, symlake with
// maps that hold no sources, symlake with maps that do, and symbolic.
func (b *bench) names() error {
	dir := filepath.Join(b.cache, "names")
	all, err := names.Load(dir)
	if err != nil || len(all) == 0 {
		fmt.Fprintf(os.Stderr, "names: %s has no corpus: make names\n", dir)
		return err
	}
	ways := []named{{"raw stack", map[*names.Frame]string{}}}
	for i := range all {
		for _, s := range all[i].Stacks {
			for n := range s.Frames {
				ways[0].answers[&s.Frames[n]] = names.Raw(s.Lines[s.Frames[n].At])
			}
		}
	}
	for _, way := range []struct {
		title   string
		sources bool
	}{{"symlake, by scope", false}, {"symlake, by source", true}} {
		answers, err := b.symlakeNames(dir, all, way.sources)
		if err != nil {
			return err
		}
		ways = append(ways, named{way.title, answers})
	}
	if b.peer != "" {
		answers, err := b.symbolicNames(dir, all)
		if err != nil {
			return err
		}
		ways = append(ways, named{"symbolic", answers})
	}
	printNames(all, ways)
	if b.misses != "" {
		return writeMisses(b.misses, all, ways)
	}
	return nil
}

// symlakeNames ingests the corpus and symbolicates its stacks.
func (b *bench) symlakeNames(dir string, all []names.Bundle, sources bool) (map[*names.Frame]string, error) {
	work, err := os.MkdirTemp(b.tmp, "names-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	from := filepath.Join(dir, "out")
	if !sources {
		from = filepath.Join(work, "out")
		if err := bareMaps(filepath.Join(dir, "out"), from, all); err != nil {
			return nil, err
		}
	}
	store := "file:" + filepath.Join(work, "store")
	if _, err := measure.Run(nil, nil, b.symlake, "--store", store, "--lake", "off", "--no-progress", "ingest", from); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := measure.Run(strings.NewReader(names.Text(all)), &out, b.symlake, "--store", store, "--json", "symbolicate"); err != nil {
		return nil, err
	}
	got, err := names.Answers(all, &out)
	if err != nil {
		return nil, err
	}
	functions := map[*names.Frame]string{}
	for f, a := range got {
		functions[f] = a.Function()
	}
	return functions, nil
}

// bareMaps copies scripts and maps, the maps without the sources.
func bareMaps(from, to string, all []names.Bundle) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for i := range all {
		script := all[i].Script()
		text, err := os.ReadFile(filepath.Join(from, script))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, script), text, 0o600); err != nil {
			return err
		}
		if text, err = os.ReadFile(filepath.Join(from, script+".map")); err != nil {
			return err
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("%s.map: %w", script, err)
		}
		delete(m, "sourcesContent")
		if text, err = json.Marshal(m); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, script+".map"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// symbolicNames asks symbolic for each frame.
func (b *bench) symbolicNames(dir string, all []names.Bundle) (map[*names.Frame]string, error) {
	var ask bytes.Buffer
	var frames []*names.Frame
	for i := range all {
		for _, s := range all[i].Stacks {
			for n := range s.Frames {
				f := &s.Frames[n]
				frames = append(frames, f)
				fmt.Fprintf(&ask, "%s %d %d\n", filepath.Join(dir, "out", all[i].Script()), f.Line, f.Column)
			}
		}
	}
	cmd := exec.CommandContext(b.ctx, b.peer, "scopes")
	cmd.Stdin, cmd.Stderr = &ask, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	functions := map[*names.Frame]string{}
	for _, f := range frames {
		if !lines.Scan() {
			return nil, io.ErrUnexpectedEOF
		}
		functions[f] = lines.Text()
	}
	return functions, nil
}

// tally counts right answers of each way.
type tally struct {
	of    int
	right []int
}

func (t *tally) add(f *names.Frame, ways []named) {
	if t.right == nil {
		t.right = make([]int, len(ways))
	}
	t.of++
	for i, w := range ways {
		if names.Bare(w.answers[f]) == f.Name {
			t.right[i]++
		}
	}
}

// printNames prints the shares of right functions by bundler, engine and program.
func printNames(all []names.Bundle, ways []named) {
	groups := [3]map[string]*tally{{}, {}, {}}
	whole := &tally{}
	for i := range all {
		for _, s := range all[i].Stacks {
			for n := range s.Frames {
				f := &s.Frames[n]
				if f.Name == "" {
					continue
				}
				whole.add(f, ways)
				for g, key := range []string{all[i].Bundler, s.Engine, all[i].Name} {
					if groups[g][key] == nil {
						groups[g][key] = &tally{}
					}
					groups[g][key].add(f, ways)
				}
			}
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "functions right, %\tframes\t")
	for _, way := range ways {
		fmt.Fprintf(w, "%s\t", way.title)
	}
	fmt.Fprintln(w)
	line := func(name string, t *tally) {
		fmt.Fprintf(w, "%s\t%d\t", name, t.of)
		for _, n := range t.right {
			fmt.Fprintf(w, "%.2f\t", 100*float64(n)/float64(t.of))
		}
		fmt.Fprintln(w)
	}
	for _, group := range groups {
		keys := make([]string, 0, len(group))
		for key := range group {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			line(key, group[key])
		}
		fmt.Fprintln(w, "\t")
	}
	if whole.of > 0 {
		line("all", whole)
	}
	w.Flush()
}

// writeMisses lists the frames that symlake does not name rightly with sources: one a line, of tabs.
func writeMisses(file string, all []names.Bundle, ways []named) error {
	var b strings.Builder
	b.WriteString("bundler\tprogram\tengine\ttrue name")
	for _, w := range ways {
		b.WriteString("\t" + w.title)
	}
	b.WriteString("\toriginal place\tline\tstep\n")
	for i := range all {
		for _, s := range all[i].Stacks {
			for n := range s.Frames {
				f := &s.Frames[n]
				if f.Name == "" || names.Bare(ways[1].answers[f]) == f.Name && names.Bare(ways[2].answers[f]) == f.Name {
					continue
				}
				fmt.Fprintf(&b, "%s\t%s\t%s\t%s", all[i].Bundler, all[i].Name, s.Engine, f.Name)
				for _, w := range ways {
					mark := ""
					if names.Bare(w.answers[f]) == f.Name {
						mark = "="
					}
					b.WriteString("\t" + mark + w.answers[f])
				}
				fmt.Fprintf(&b, "\t%s:%d:%d\t%s\t%s\n", f.Source, f.To[0], f.To[1], strings.TrimSpace(s.Lines[f.At]), s.Step)
			}
		}
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
