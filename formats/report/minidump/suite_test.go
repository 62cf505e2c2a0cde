package minidump

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/unwind"
)

// TestSuites walks the dumps of other projects with their Breakpad files, and compares each thread with minidump-stackwalk's.
// SYMLAKE_MINIDUMPS names a folder that has dumps (*.dmp) and symbols (NAME/ID/NAME.sym) at any depth.
func TestSuites(t *testing.T) {
	folder := os.Getenv("SYMLAKE_MINIDUMPS")
	if folder == "" {
		t.Skip("SYMLAKE_MINIDUMPS names no folder of dumps")
	}
	tool := formattest.Tool(t, "minidump-stackwalk", "cargo install minidump-stackwalk")
	symbols, roots := map[string]*symFile{}, map[string]bool{}
	var dumps []string
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".dmp":
			dumps = append(dumps, path)
		case ".sym":
			if f := readSym(t, path); f != nil {
				for _, id := range f.ids {
					symbols[id] = f
				}
			}
			roots[filepath.Dir(filepath.Dir(filepath.Dir(path)))] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	threads, same, frames := 0, 0, 0
	for _, path := range dumps {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"--json", path}
		for root := range roots {
			args = append(args, root)
		}
		out, err := exec.Command(tool, args...).Output()
		if err != nil {
			t.Logf("%s: minidump-stackwalk cannot read it: %v", filepath.Base(path), err)
			continue
		}
		var theirs struct {
			Threads []struct {
				ID     uint64 `json:"thread_id"`
				Frames []struct {
					Module, Offset, Trust string
					ModuleOffset          string `json:"module_offset"`
				}
			}
		}
		if err := json.Unmarshal(out, &theirs); err != nil {
			t.Fatal(err)
		}
		r := readMinidump(b, report.Options{})
		if r == nil {
			t.Errorf("%s: not read", path)
			continue
		}
		p := r.Walk.Process
		source := &symSource{p: p}
		for _, m := range p.Modules {
			var f *symFile
			for _, id := range m.IDs {
				if f == nil {
					f = symbols[id]
				}
			}
			source.files = append(source.files, f)
		}
		walked, err := unwind.Walk(context.Background(), p, source)
		if err != nil {
			t.Fatal(err)
		}
		ours := map[uint64][]string{}
		for i := range p.Threads {
			for _, f := range walked[i] {
				if f.Module >= 0 {
					ours[p.Threads[i].ID] = append(ours[p.Threads[i].ID], fmt.Sprintf("%s+%#x %s", p.Modules[f.Module].Name(), f.At-p.Modules[f.Module].Base, f.Trust))
				} else {
					ours[p.Threads[i].ID] = append(ours[p.Threads[i].ID], fmt.Sprintf("%#x %s", f.At, f.Trust))
				}
			}
		}
		for _, th := range theirs.Threads {
			var want []string
			for _, f := range th.Frames {
				at, _ := strconv.ParseUint(f.Offset, 0, 64)
				off, _ := strconv.ParseUint(f.ModuleOffset, 0, 64)
				if f.Module != "" {
					want = append(want, fmt.Sprintf("%s+%#x %s", f.Module, off, unwind.ParseTrust(f.Trust)))
				} else {
					want = append(want, fmt.Sprintf("%#x %s", at, unwind.ParseTrust(f.Trust)))
				}
			}
			threads++
			frames += len(want)
			if slices.Equal(want, ours[th.ID]) {
				same++
				continue
			}
			t.Logf("%s thread %d\nours   %s\ntheirs %s", filepath.Base(path), th.ID, strings.Join(ours[th.ID], "\n       "), strings.Join(want, "\n       "))
		}
	}
	t.Logf("%d dumps, %d threads with %d frames, %d alike: %.2f %%", len(dumps), threads, frames, same, 100*float64(same)/float64(threads))
	if same*100 < threads*95 {
		t.Errorf("%d of %d threads are alike: want 95 %%", same, threads)
	}
}

// symFile is what a Breakpad file says of functions and of unwinding.
type symFile struct {
	ids   []string
	arch  *unwind.Arch
	spans []symSpan // functions and publics
	rules []symRules
	win   [2][]symRules // FPO, frame data
}

type symSpan struct{ start, end uint64 }

type symRules struct {
	symSpan
	coded string
}

type symSource struct {
	p     *unwind.Process
	files []*symFile
}

func (s *symSource) Rules(_ context.Context, at []unwind.Place, out []unwind.Found) error {
	for i, p := range at {
		f := s.files[p.Module]
		if f == nil {
			continue
		}
		for _, list := range [][]symRules{f.win[1], f.win[0], f.rules} {
			k := sort.Search(len(list), func(k int) bool { return list[k].start > p.Offset }) - 1
			for ; k >= 0 && out[i].Rules == ""; k-- {
				if p.Offset < list[k].end {
					out[i] = unwind.Found{Rules: list[k].coded, Start: list[k].start}
				}
				if p.Offset-list[k].start > 1<<16 {
					break
				}
			}
		}
	}
	return nil
}

func (s *symSource) Functions(_ context.Context, at []unwind.Place, out []unwind.Known) error {
	for i, p := range at {
		if f := s.files[p.Module]; f != nil {
			out[i] = unwind.NoFunction
			k := sort.Search(len(f.spans), func(k int) bool { return f.spans[k].start > p.Offset }) - 1
			if k >= 0 && p.Offset < f.spans[k].end {
				out[i] = unwind.Function
			}
		}
	}
	return nil
}

func readSym(t *testing.T, path string) *symFile {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &symFile{}
	var merged unwind.Rules
	var publics []uint64
	num := func(s string) uint64 { v, _ := strconv.ParseUint(s, 16, 64); return v }
	for line := range bytes.Lines(b) {
		w := strings.Fields(string(line))
		switch {
		case len(w) < 3:
		case w[0] == "MODULE":
			arch := map[string]string{"x86": "x86", "x86_64": "x86_64", "arm64": "arm64", "arm": "arm"}[w[2]]
			if f.arch = unwind.ArchOf(arch); f.arch == nil {
				return nil
			}
			raw, _ := hex.DecodeString(w[3][:32])
			guid := fmt.Sprintf("%x-%x-%x-%x-%x", raw[0:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
			f.ids = append(f.ids, guid, guid+"-"+strings.ToLower(w[3][32:]))
			slices.Reverse(raw[0:4])
			slices.Reverse(raw[4:6])
			slices.Reverse(raw[6:8])
			f.ids = append(f.ids, hex.EncodeToString(raw))
		case w[0] == "FUNC":
			if w[1] == "m" {
				w = w[1:]
			}
			f.spans = append(f.spans, symSpan{num(w[1]), num(w[1]) + num(w[2])})
		case w[0] == "PUBLIC":
			if w[1] == "m" {
				w = w[1:]
			}
			publics = append(publics, num(w[1]))
		case w[0] == "STACK" && w[1] == "WIN" && len(w) > 11:
			r := unwind.Windows{Params: uint32(num(w[7])), Saved: uint32(num(w[8])), Locals: uint32(num(w[9])), MaxStack: uint32(num(w[10]))}
			kind := 0
			if w[2] == "4" {
				kind = 1
				r.Program = strings.Join(w[12:], " ")
			} else {
				r.UsesBase = w[12] == "1"
			}
			f.win[kind] = append(f.win[kind], symRules{symSpan{num(w[3]), num(w[3]) + num(w[4])}, string((&unwind.Rules{Windows: &r}).Append(nil))})
		case w[0] == "STACK" && w[1] == "CFI" && w[2] == "INIT":
			merged = unwind.Rules{}
			if err := merged.Merge(f.arch, strings.Join(w[5:], " ")); err != nil {
				t.Log(err)
			}
			f.rules = append(f.rules, symRules{symSpan{num(w[3]), num(w[3]) + num(w[4])}, string(merged.Append(nil))})
		case w[0] == "STACK" && w[1] == "CFI" && len(f.rules) > 0:
			if err := merged.Merge(f.arch, strings.Join(w[3:], " ")); err != nil {
				t.Log(err)
			}
			last := &f.rules[len(f.rules)-1]
			next := symRules{symSpan{num(w[2]), last.end}, string(merged.Append(nil))}
			last.end = next.start
			f.rules = append(f.rules, next)
		}
	}
	by := func(a, b symSpan) int { return int(int64(a.start) - int64(b.start)) }
	slices.SortFunc(f.spans, by)
	slices.Sort(publics)
	var more []symSpan
	for i, at := range publics { // up to the next public or function, as stackwalkers take them
		end := ^uint64(0)
		if i+1 < len(publics) {
			end = publics[i+1]
		}
		k := sort.Search(len(f.spans), func(k int) bool { return f.spans[k].start >= at })
		if k < len(f.spans) {
			end = min(end, f.spans[k].start)
		}
		more = append(more, symSpan{at, end})
	}
	f.spans = append(f.spans, more...)
	slices.SortFunc(f.spans, by)
	byRules := func(a, b symRules) int { return by(a.symSpan, b.symSpan) }
	slices.SortStableFunc(f.rules, byRules)
	slices.SortStableFunc(f.win[0], byRules)
	slices.SortStableFunc(f.win[1], byRules)
	return f
}
