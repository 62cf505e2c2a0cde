package main

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// pprofSamples is how many samples the profile has that pprof and symlake are timed with.
const pprofSamples = 1_000_000

// pprofSet is a profile without names, and the names that another tool gives.
type pprofSet struct {
	program string
	peer    string
	bare    *profile.Profile
	truth   *profile.Profile
	name    func(*profile.Function) string
	same    func(ours, theirs []frame) bool
}

// pprofs compares the profiles that testdata/profile/record.sh made with pprof's own symbolization and with the names that Go's
// runtime wrote, and measures a profile of a million samples.
func (b *bench) pprofs() error {
	dir := filepath.Join(b.cache, "profiles")
	found, err := filepath.Glob(filepath.Join(dir, "pprof", "*.raw.pb.gz"))
	if err != nil || len(found) == 0 {
		fmt.Fprintf(os.Stderr, "bench: pprof is left out: %s has no profiles: %v\n", dir, err)
		return nil
	}
	store := filepath.Join(b.tmp, "pprof-store")
	defer os.RemoveAll(store)
	load := []string{"--store", "file:" + store, "--lake", "off", "ingest", filepath.Join(dir, "symbols")}
	libraries, err := mappedLibraries(found)
	if err != nil {
		return err
	}
	if _, err := measure.Run(nil, nil, b.symlake, append(load, libraries...)...); err != nil {
		return err
	}
	aliases, err := readAliases(libraries)
	if err != nil {
		return err
	}
	sets, err := b.pprofSets(dir, found, aliases)
	if err != nil {
		return err
	}
	w := measure.NewRows("samples of pprof profiles, all frames equal in function, file and line")
	sum := map[string][2]int{}
	var peers []string
	for _, s := range sets {
		got, err := b.pprofOurs(store, s.bare)
		if err != nil {
			return fmt.Errorf("%s: %w", s.program, err)
		}
		equal, all := s.compare(got)
		w.Row(s.program+", beside "+s.peer, measure.Percent(equal, all), "")
		n := sum[s.peer]
		if all > 0 && n == [2]int{} {
			peers = append(peers, s.peer)
		}
		sum[s.peer] = [2]int{n[0] + equal, n[1] + all}
	}
	for _, p := range peers {
		w.Row("all, beside "+p, measure.Percent(sum[p][0], sum[p][1]), "99.5 %")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return b.pprofMillion(store, found)
}

// mappedLibraries lists the files of the system that profiles name, their debug files where the system has them.
func mappedLibraries(profiles []string) (all []string, err error) {
	for _, name := range profiles {
		p, err := readPprof(name)
		if err != nil {
			return nil, err
		}
		for _, m := range p.Mapping {
			files := []string{m.File}
			if len(m.BuildID) > 2 { // where llvm-symbolizer looks, too
				files = append(files, "/usr/lib/debug/.build-id/"+m.BuildID[:2]+"/"+m.BuildID[2:]+".debug")
			}
			for _, file := range files {
				if strings.HasPrefix(file, "/usr/lib/") && exists(file) && !slices.Contains(all, file) {
					all = append(all, file)
				}
			}
		}
	}
	return all, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func readPprof(name string) (*profile.Profile, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// pprofSets asks the peers.
func (b *bench) pprofSets(dir string, found []string, aliases symbolAliases) (sets []pprofSet, err error) {
	peers := []struct{ title, program string }{{"pprof -symbolize=force with llvm-symbolizer 19", filepath.Join(b.cache, "pprof", "pprof")}, {"go tool pprof -symbolize=force", "go"}}
	for _, name := range found {
		program := strings.TrimSuffix(filepath.Base(name), ".raw.pb.gz")
		for _, p := range peers {
			if p.program == "go" && !strings.HasPrefix(program, "go-") {
				continue // it reads the symbols of Go's programs only
			}
			bare, err := readPprof(name)
			if err != nil {
				return nil, err
			}
			truth, _, err := b.pprofPeer(p.program, dir, name)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
				fmt.Fprintf(os.Stderr, "bench: %s is left out: %v\n", p.title, err)
				continue
			} else if err != nil {
				return nil, err
			}
			if p.program == "go" {
				sets = append(sets, pprofSet{program, p.title, bare, truth, goName, sameGo})
				continue
			}
			sets = append(sets, pprofSet{program, p.title, bare, truth, linkageName, aliases.same})
		}
	}
	named, err := filepath.Glob(filepath.Join(dir, "own", "*.pb.gz"))
	if err != nil {
		return nil, err
	}
	for _, name := range named {
		truth, err := readPprof(name)
		if err != nil {
			return nil, err
		}
		bare := truth.Copy()
		withoutNames(bare)
		sets = append(sets, pprofSet{strings.TrimSuffix(filepath.Base(name), ".pb.gz"), "the names that Go's runtime wrote", bare, truth, goName, sameRuntime})
	}
	legacy, err := filepath.Glob(filepath.Join(dir, "own", "*.gperf"))
	if err != nil {
		return nil, err
	}
	for _, name := range legacy {
		truth, _, err := b.pprofPeer(peers[0].program, dir, name)
		if err != nil {
			return nil, err
		}
		bare := truth.Copy()
		withoutNames(bare)
		sets = append(sets, pprofSet{filepath.Base(name), peers[0].title, bare, truth, linkageName, aliases.same})
	}
	return sets, nil
}

// withoutNames leaves addresses alone.
func withoutNames(p *profile.Profile) {
	p.Function = nil
	for _, l := range p.Location {
		l.Line = nil
	}
	for _, m := range p.Mapping {
		m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames = false, false, false, false
	}
}

// pprofPeer symbolizes a profile with a peer, which finds programs by build-id and llvm-symbolizer in the folder that
// PPROF_TOOLS names.
func (b *bench) pprofPeer(program, dir, name string, more ...string) (*profile.Profile, measure.Usage, error) {
	tool, err := exec.LookPath("llvm-symbolizer-19")
	if err != nil {
		return nil, measure.Usage{}, err
	}
	if tool, err = filepath.EvalSymlinks(tool); err != nil {
		return nil, measure.Usage{}, err
	}
	os.Setenv("PPROF_TOOLS", filepath.Dir(tool))
	os.Setenv("PPROF_BINARY_PATH", filepath.Join(dir, "symbols"))
	os.Setenv("PPROF_TMPDIR", b.tmp)
	out := filepath.Join(b.tmp, "peer.pb.gz")
	defer os.Remove(out)
	args := append([]string{"-symbolize=force", "-proto", "-output=" + out}, more...)
	if program == "go" {
		args = append([]string{"tool", "pprof"}, args...)
	}
	u, err := measure.Run(nil, nil, program, append(args, name)...)
	if err != nil {
		return nil, u, err
	}
	p, err := readPprof(out)
	return p, u, err
}

// pprofOurs symbolicates a profile.
func (b *bench) pprofOurs(store string, p *profile.Profile) (*profile.Profile, error) {
	in, out := filepath.Join(b.tmp, "in.pb.gz"), filepath.Join(b.tmp, "out.pb.gz")
	defer os.Remove(in)
	defer os.Remove(out)
	var packed bytes.Buffer
	if err := p.Write(&packed); err != nil {
		return nil, err
	}
	if err := os.WriteFile(in, packed.Bytes(), 0o600); err != nil {
		return nil, err
	}
	if _, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "symbolicate", in, "--output", out); err != nil {
		return nil, err
	}
	return readPprof(out)
}

// pprofPlace is an address of a file. Numbers differ between profiles, places do not.
type pprofPlace struct {
	file    string
	address uint64
}

func placeOf(l *profile.Location) pprofPlace {
	if l.Mapping == nil {
		return pprofPlace{"", l.Address}
	}
	return pprofPlace{path.Base(l.Mapping.File), l.Address - l.Mapping.Start + l.Mapping.Offset}
}

// generic are the types that Go's runtime leaves out.
var generic = regexp.MustCompile(`\[.*\]`)

// pprofLines are the names of each place, innermost first. A function without a name is none.
func pprofLines(p *profile.Profile, name func(*profile.Function) string) map[pprofPlace][]frame {
	all := map[pprofPlace][]frame{}
	for _, l := range p.Location {
		var lines []frame
		for _, line := range l.Line {
			f := line.Function
			if f == nil || f.Name == "" || f.Name == "??" {
				continue
			}
			lines = append(lines, frame{name(f), place(fmt.Sprintf("%s:%d:0", f.Filename, line.Line))})
		}
		all[placeOf(l)] = lines
	}
	return all
}

// symbolAliases are the addresses of names in symbol tables of the system's libraries.
type symbolAliases map[string][]uint64

func readAliases(files []string) (symbolAliases, error) {
	all := symbolAliases{}
	for _, name := range files {
		f, err := elf.Open(name)
		if err != nil {
			return nil, err
		}
		symbols, err := f.Symbols()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		exported, err := f.DynamicSymbols() // these have no version in their names
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, s := range append(symbols, exported...) {
			all[s.Name] = append(all[s.Name], s.Value)
		}
		f.Close()
	}
	return all, nil
}

// same compares linkage names. pprof gives functions without one bare, symlake with their scopes. The outermost function
// may have any of its names in the symbol table, with or without the suffix that the compiler gave to a part of it.
func (s symbolAliases) same(ours, theirs []frame) bool {
	if len(ours) != len(theirs) {
		return false
	}
	for i, a := range ours {
		b := theirs[i]
		if a.place != b.place {
			return false
		}
		if a.function == b.function || strings.HasSuffix(a.function, "::"+b.function) {
			continue
		}
		if i < len(ours)-1 {
			return false
		}
		if bare, _, cut := strings.Cut(a.function, "."); cut && bare == b.function {
			continue
		}
		if !slices.ContainsFunc(s[a.function], func(at uint64) bool { return slices.Contains(s[b.function], at) }) {
			return false
		}
	}
	return true
}

// sameRuntime compares with Go's runtime, which leaves out wrappers that the compiler made.
func sameRuntime(ours, theirs []frame) bool {
	for len(ours) > len(theirs) && strings.HasPrefix(ours[len(ours)-1].place, "<autogenerated>") {
		ours = ours[:len(ours)-1]
	}
	return slices.Equal(ours, theirs)
}

// sameGo compares with go tool pprof, which gives one frame: the function that has the code, and the innermost place.
func sameGo(ours, theirs []frame) bool {
	if len(ours) == 0 || len(theirs) == 0 {
		return len(ours) == len(theirs)
	}
	return ours[len(ours)-1].function == theirs[0].function && ours[0].place == theirs[0].place
}

func linkageName(f *profile.Function) string { return f.SystemName }

// goName leaves out what Go's tools do not show: types, and the ABI of the assembler.
func goName(f *profile.Function) string {
	return generic.ReplaceAllString(strings.TrimSuffix(f.Name, ".abi0"), "[...]")
}

// compare counts samples. A sample is equal if all its frames are. Places that neither tool knows are equal.
func (s *pprofSet) compare(got *profile.Profile) (equal, all int) {
	ours, theirs := pprofLines(got, s.name), pprofLines(s.truth, s.name)
	differs := map[pprofPlace]int{}
	for _, sample := range s.bare.Sample {
		all++
		same := true
		for _, l := range sample.Location {
			if p := placeOf(l); !s.same(ours[p], theirs[p]) {
				same = false
				differs[p]++
			}
		}
		if same {
			equal++
		}
	}
	worst := make([]pprofPlace, 0, len(differs))
	for p := range differs {
		worst = append(worst, p)
	}
	slices.SortFunc(worst, func(x, y pprofPlace) int { return differs[y] - differs[x] })
	for _, p := range worst[:min(len(worst), 3)] {
		fmt.Fprintf(os.Stderr, "%s: %s %#x in %d samples\n  symlake %v\n  %s: %v\n", s.program, p.file, p.address, differs[p], ours[p], s.peer, theirs[p])
	}
	return equal, all
}

// pprofMillion measures a profile of a million samples of the ten programs: recorded stacks with another innermost place of
// the same program.
func (b *bench) pprofMillion(store string, found []string) error {
	var parts []*profile.Profile
	for _, name := range found {
		p, err := readPprof(name)
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	all, err := profile.Merge(parts)
	if err != nil {
		return err
	}
	places := map[*profile.Mapping][]*profile.Location{}
	for _, l := range all.Location {
		places[l.Mapping] = append(places[l.Mapping], l)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	drawn := make([]*profile.Sample, pprofSamples)
	for i := range drawn {
		from := all.Sample[rng.IntN(len(all.Sample))]
		stack := slices.Clone(from.Location)
		others := places[stack[0].Mapping]
		stack[0] = others[rng.IntN(len(others))]
		drawn[i] = &profile.Sample{Location: stack, Value: []int64{1, from.Value[1] + rng.Int64N(1000)}, NumLabel: map[string][]int64{"thread": {int64(rng.IntN(64))}}}
	}
	all.Sample = drawn
	in, out := filepath.Join(b.tmp, "million.pb.gz"), filepath.Join(b.tmp, "million-out.pb.gz")
	defer os.Remove(in)
	defer os.Remove(out)
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := errors.Join(all.WriteUncompressed(z), z.Close()); err != nil {
		return err
	}
	if err := os.WriteFile(in, packed.Bytes(), 0o600); err != nil {
		return err
	}
	dir, peer := filepath.Join(b.cache, "profiles"), filepath.Join(b.cache, "pprof", "pprof")
	var ours, theirs, plain []measure.Usage
	for range min(b.pairs, 3) {
		u, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "symbolicate", in, "--output", out)
		if err != nil {
			return err
		}
		ours = append(ours, u)
		if _, u, err = b.pprofPeer(peer, dir, in); err != nil {
			return err
		}
		theirs = append(theirs, u)
		if _, u, err = b.pprofPeer(peer, dir, in, "-symbolize=none"); err != nil {
			return err
		}
		plain = append(plain, u)
	}
	w := measure.NewRows("a pprof profile of 1 M samples of the ten programs")
	w.Row("distinct places", fmt.Sprint(len(all.Location)), "")
	w.Row("cpu of symlake, s", measure.Spread(ours, measure.CPU, "%.2f"), "")
	w.Row("cpu of pprof -symbolize=force, s", measure.Spread(theirs, measure.CPU, "%.2f"), "")
	w.Row("cpu of pprof -symbolize=none, s", measure.Spread(plain, measure.CPU, "%.2f"), "")
	w.Row("symlake / pprof", fmt.Sprintf("%.2f", measure.Least(ours, measure.CPU)/measure.Least(theirs, measure.CPU)), "0.2, aim 0.05")
	w.Row("peak memory of symlake, MiB", measure.Spread(ours, measure.Resident, "%.0f"), "256, aim 128")
	w.Row("peak memory of pprof, MiB", measure.Spread(theirs, measure.Resident, "%.0f"), "")
	return w.Flush()
}
