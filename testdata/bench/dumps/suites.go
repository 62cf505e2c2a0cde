// Package dumps measures how minidumps come back as stacks, beside rust-minidump's minidump-stackwalk.
package dumps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/testdata/bench/measure"
)

// Bench is what the measurements need.
type Bench struct {
	Context context.Context
	Symlake string
	Suites  string // folder with dumps (*.dmp) and Breakpad files (NAME/ID/NAME.sym), at any depth
	Temp    string
	Runs    int
	Open    func(store string) (*answer.Client, func() error, error)
}

const peer = "minidump-stackwalk"

// Run compares the stacks of all dumps of the suites with the peer's, and measures a dump with sixty threads.
func (b *Bench) Run() error {
	if _, err := exec.LookPath(peer); err != nil {
		fmt.Fprintln(os.Stderr, "bench: minidumps are left out: cargo install minidump-stackwalk")
		return nil
	}
	rows := measure.NewRows("minidumps")
	defer rows.Flush()
	if _, err := os.Stat(b.Suites); err == nil {
		if err := b.suites(rows); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(os.Stderr, "bench: the suites of dumps are left out: put Breakpad's, rust-minidump's and symbolicator's test data into %s\n", b.Suites)
	}
	return b.threads(rows)
}

// place is what a tool says of a frame.
type place struct {
	module string
	offset uint64
	chain  string // functions with lines, innermost first; "": there are no symbols
}

type frame struct {
	place
	trust unwind.Trust
}

func (f frame) String() string {
	return fmt.Sprintf("%s+%#x %s %s", f.module, f.offset, f.trust, f.chain)
}

// suites compares stacks.
func (b *Bench) suites(rows *measure.Rows) error {
	var dumps, symbols []string
	roots := map[string]bool{}
	err := filepath.WalkDir(b.Suites, func(path string, _ fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".dmp":
			dumps = append(dumps, path)
		case ".sym":
			symbols = append(symbols, path)
			roots[filepath.Dir(filepath.Dir(filepath.Dir(path)))] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	store := filepath.Join(b.Temp, "dumps-store")
	if _, err := measure.Run(nil, nil, b.Symlake, append([]string{"--store", "file:" + store, "--lake", "off", "ingest"}, symbols...)...); err != nil {
		return err
	}
	client, done, err := b.Open(store)
	if err != nil {
		return err
	}
	defer done()
	threads, same, trusted, frames, alike := 0, 0, 0, 0, 0
	for _, path := range dumps {
		theirs, ok := b.theirs(path, roots)
		if !ok {
			continue
		}
		ours, err := b.ours(client, path)
		if err != nil {
			return err
		}
		for id, want := range theirs {
			got := ours[id]
			threads++
			frames += len(want)
			for i := range want {
				if i < len(got) && got[i].place == want[i].place {
					alike++
				}
			}
			if slices.Equal(got, want) {
				trusted++
			}
			if slices.EqualFunc(got, want, func(a, b frame) bool { return a.place == b.place }) {
				same++
				continue
			}
			i := 0
			for i < min(len(got), len(want)) && got[i].place == want[i].place {
				i++
			}
			fmt.Printf("%s, thread %d: frame %d of %d and %d: %v, theirs %v\n", filepath.Base(path), id, i, len(got), len(want), at(got, i), at(want, i))
		}
	}
	rows.Row("threads of suites, frames equal minidump-stackwalk's", measure.Percent(same, threads), "95 %")
	rows.Row("threads whose frames were found alike, too", measure.Percent(trusted, threads), "-")
	rows.Row("frames of them", measure.Percent(alike, frames), "-")
	return nil
}

func at(all []frame, i int) any {
	if i < len(all) {
		return all[i]
	}
	return "none"
}

// ours are the frames of each thread by its id.
func (b *Bench) ours(client *answer.Client, path string) (map[uint64][]frame, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out := map[uint64][]frame{}
	err = report.Split(b.Context, in, all.Dialects, report.Options{}, func(r *report.Report) error {
		answers, err := client.Stack(b.Context, r, answer.Options{})
		if err != nil {
			return err
		}
		for t := range r.Threads {
			for i := range r.Threads[t].Frames {
				f, a := &r.Threads[t].Frames[i], &answers[t][i]
				one := frame{place{offset: f.At.Value}, f.Trust}
				if f.File != "" {
					m := unwind.Module{Path: f.File}
					one.module, one.offset = m.Name(), f.At.Value-f.At.Load
				}
				if a.Status == symbol.Found {
					var chain []string
					for _, s := range a.Frames {
						chain = append(chain, site(report.FunctionName(&s), s.Line))
					}
					one.chain = strings.Join(chain, " < ")
				}
				out[r.Threads[t].ID] = append(out[r.Threads[t].ID], one)
			}
		}
		return nil
	})
	return out, err
}

func site(function string, line uint32) string { return fmt.Sprintf("%s:%d", function, line) }

// theirs are the peer's; false: it cannot read the dump.
func (b *Bench) theirs(path string, roots map[string]bool) (map[uint64][]frame, bool) {
	args := []string{"--json", path}
	for root := range roots {
		args = append(args, root)
	}
	text, err := exec.CommandContext(b.Context, peer, args...).Output()
	type function struct {
		Function string
		Line     uint32
	}
	var said struct {
		Threads []struct {
			ID     uint64 `json:"thread_id"`
			Frames []struct {
				function
				Module, Offset, Trust string
				ModuleOffset          string `json:"module_offset"`
				Inlines               []function
			}
		}
	}
	if err != nil || json.NewDecoder(bytes.NewReader(text)).Decode(&said) != nil {
		return nil, false
	}
	out := map[uint64][]frame{}
	for _, t := range said.Threads {
		for _, f := range t.Frames {
			one := frame{place{module: f.Module}, unwind.ParseTrust(f.Trust)}
			one.offset, _ = strconv.ParseUint(f.ModuleOffset, 0, 64)
			if f.Module == "" {
				one.offset, _ = strconv.ParseUint(f.Offset, 0, 64)
			}
			if f.Function != "" {
				var chain []string
				for _, s := range append(f.Inlines, f.function) {
					chain = append(chain, site(s.Function, s.Line))
				}
				one.chain = strings.Join(chain, " < ")
			}
			out[t.ID] = append(out[t.ID], one)
		}
	}
	return out, true
}
