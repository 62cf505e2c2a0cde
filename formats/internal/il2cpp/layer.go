package il2cpp

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/once"
	"github.com/symlake/symlake/formats/symbol"
)

// The files of a build that this package reads.
const (
	LinesFile   = "LineNumberMappings.json"
	MethodsFile = "MethodMap.tsv"
)

// CompanionID is the id by which the maps of a program are companions of it.
func CompanionID(build string) string { return "il2cpp:" + strings.ToLower(build) }

// MethodsID is the same for the map of methods.
func MethodsID(build string) string { return CompanionID(build) + ":methods" }

// programs are the base names of Unity's programs, without their endings.
var programs = [...]string{"libil2cpp", "GameAssembly", "UnityFramework", "il2cpp"}

// Is reports whether a file of that base name is a program that il2cpp made: libil2cpp.so, libil2cpp.sym.so, GameAssembly.dll,
// GameAssembly.pdb, UnityFramework of a dSYM.
func Is(file string) bool {
	for _, p := range programs {
		if rest, is := strings.CutPrefix(file, p); is && (rest == "" || rest[0] == '.' || rest[0] == '-' || rest[0] == '_') {
			return true
		}
	}
	return false
}

// folders are where a build keeps its maps, seen from the program: beside it, and where Unity, Gradle and Xcode put them.
var folders = [...]string{".", "Symbols", "il2cppOutput/Symbols", "..", "../Symbols", "../il2cppOutput/Symbols", "../../..", "../../../../il2cppOutput/Symbols"}

// Over has the ranges of an artifact that il2cpp made emitted with places and names of C#, as far as its maps are there. It
// asks for them when the artifact is exploded first. An artifact of any other program stays as it is.
func Over(in *formats.Input, a *formats.Artifact) {
	if in.Companion == nil || a.Explode == nil || !Is(in.FileName()) {
		return
	}
	l := &layer{in: in, builds: builds(&a.Artifact)}
	inner := a.Explode
	a.Explode = func(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
		if err := l.find(ctx); err != nil {
			return symbol.Quality{}, err
		}
		if l.lines == nil && l.methods == nil {
			return l.quality(inner, ctx, part, emit)
		}
		t := translator{layer: l}
		return l.quality(inner, ctx, part, func(r *symbol.Run) error { return emit(t.run(r)) })
	}
}

// builds returns the ids that maps of an artifact may be known by, the surest first.
func builds(a *symbol.Artifact) []string {
	all := []string{}
	for _, n := range a.Names {
		if n.Kind == symbol.NameDebugID {
			all = append(all, n.Text)
		}
	}
	return append(all, a.Canonical)
}

// layer is the maps of one program.
type layer struct {
	in     *formats.Input
	builds []string

	found   once.Work
	lines   *Lines
	methods Methods
	missing string // the map of lines, if there is none
}

type exploder func(context.Context, int, func(*symbol.Run) error) (symbol.Quality, error)

// quality explodes a part, and names a missing map in the first one.
func (l *layer) quality(inner exploder, ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	q, err := inner(ctx, part, emit)
	if part == 0 && l.missing != "" {
		q.Missing = append(q.Missing, l.missing)
	}
	return q, err
}

// find reads the maps. A damaged map is a missing one.
func (l *layer) find(ctx context.Context) error {
	return l.found.Do(name, func() error {
		found, err := l.read(ctx, LinesFile, func(in *formats.Input) (err error) {
			l.lines, err = ReadLines(in)
			return err
		})
		if err == nil {
			if !found {
				l.missing = CompanionID(l.builds[0])
			}
			_, err = l.read(ctx, MethodsFile, func(in *formats.Input) (err error) {
				l.methods, err = ReadMethods(in)
				return err
			})
		}
		return err
	})
}

// read finds a map, beside the program first and then by the program's ids; false: there is none.
func (l *layer) read(ctx context.Context, file string, take func(*formats.Input) error) (bool, error) {
	var asks []formats.Ref
	for _, folder := range folders {
		asks = append(asks, formats.Ref{Name: path.Join(folder, file), Optional: true})
	}
	if file == LinesFile {
		for i, build := range l.builds {
			asks = append(asks, formats.Ref{ID: CompanionID(build), Optional: i > 0})
		}
	} else {
		for _, build := range l.builds {
			asks = append(asks, formats.Ref{ID: MethodsID(build), Optional: true})
		}
	}
	for _, want := range asks {
		in, err := l.in.Companion(ctx, want)
		if errors.Is(err, formats.ErrNoCompanion) || formats.Rejects(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		err = take(in)
		if in.Release != nil {
			err = errors.Join(err, in.Release())
		}
		if !formats.Rejects(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// translator gives the runs of one part, one after the other, places and names of C#.
type translator struct {
	layer   *layer
	texts   []string // the part's strings, as they came
	numbers map[string]uint32
	own     []string // strings that are handed out
	same    []uint32 // number in own + 1, by number in texts; 0: not needed yet
	maps    [][]mapped
	known   []bool   // by number in texts: whether maps holds its mappings
	method  []uint32 // number in own + 1 of a function, by number in texts
	out     symbol.Run
	first   map[place]uint32 // the line of a file from which on marks are the function's
}

// place is a function in a file.
type place struct {
	scope int32
	file  uint32
}

// A statement of C# has a mark in the line before its code. A mark before the first line of a function may be its own,
// where the compiler left no code of the function's head, or of the function before it in the file.
const (
	reach = 50 // lines of code behind a mark that may be its own, in a function without a head
	near  = 4  // the same if the first line may be the head: the mark, the text of the statement, its code
)

// run translates a run. The result is valid until the next call.
func (t *translator) run(r *symbol.Run) *symbol.Run {
	t.begin(r)
	t.measure(r)
	for i := range r.Scopes {
		s := r.Scopes[i]
		if s.Parent >= 0 {
			s.Call = t.site(s.Parent, s.Call)
		}
		s.Function = t.function(s.Function)
		t.out.Scopes = append(t.out.Scopes, s)
	}
	for _, g := range r.Ranges {
		g.At = t.site(g.Scope, g.At)
		if n := len(t.out.Ranges); n > 0 && t.out.Ranges[n-1].Scope == g.Scope && t.out.Ranges[n-1].At == g.At {
			t.out.Ranges[n-1].End = g.End
			continue
		}
		t.out.Ranges = append(t.out.Ranges, g)
	}
	t.out.Strings = t.own
	return &t.out
}

func (t *translator) begin(r *symbol.Run) {
	if t.numbers == nil {
		t.numbers, t.own, t.first = map[string]uint32{"": 0}, []string{""}, map[place]uint32{}
	}
	if len(t.texts) > len(r.Strings) || len(t.texts) > 0 && &t.texts[0] != &r.Strings[0] && !prefix(t.texts, r.Strings) {
		t.same, t.maps, t.known, t.method = t.same[:0], t.maps[:0], t.known[:0], t.method[:0] // another table
	}
	t.texts = r.Strings
	for len(t.same) < len(t.texts) {
		t.same, t.maps, t.known, t.method = append(t.same, 0), append(t.maps, nil), append(t.known, false), append(t.method, 0)
	}
	t.out = symbol.Run{Rank: r.Rank, Ranges: t.out.Ranges[:0], Scopes: t.out.Scopes[:0]}
}

// prefix reports whether all begins with the strings of some, judged by the ends of some: a table only grows.
func prefix(some, all []string) bool {
	return some[len(some)-1] == all[len(some)-1] && some[len(some)/2] == all[len(some)/2]
}

// measure finds from which line on the marks of each function count.
func (t *translator) measure(r *symbol.Run) {
	clear(t.first)
	for i := range r.Ranges {
		t.see(r.Ranges[i].Scope, r.Ranges[i].At)
	}
	for i := range r.Scopes {
		if s := &r.Scopes[i]; s.Parent >= 0 {
			t.see(s.Parent, s.Call)
		}
	}
	head := &r.Ranges[0]
	for p, line := range t.first {
		before := uint32(reach)
		if head.Scope == p.scope && head.At.File == p.file && head.At.Line == line && r.Scopes[p.scope].Parent < 0 {
			before = near
		}
		t.first[p] = line - min(line, before)
	}
}

// see notes the first line of a function in a file.
func (t *translator) see(scope int32, at symbol.Site) {
	if at.Line == 0 {
		return
	}
	p := place{scope, at.File}
	if first, seen := t.first[p]; !seen || at.Line < first {
		t.first[p] = at.Line
	}
}

func (t *translator) site(scope int32, at symbol.Site) symbol.Site {
	if t.layer.lines != nil && at.Line > 0 {
		if m, found := find(t.mappings(at.File), t.first[place{scope, at.File}], at.Line); found {
			return symbol.Site{File: t.text(t.layer.lines.sources[m.source]), Line: m.at}
		}
	}
	at.File = t.kept(at.File)
	return at
}

func (t *translator) mappings(file uint32) []mapped {
	if !t.known[file] {
		t.known[file] = true
		t.maps[file] = t.layer.lines.of(t.texts[file])
	}
	return t.maps[file]
}

func (t *translator) function(n uint32) uint32 {
	if t.method[n] == 0 {
		to := t.layer.methods.of(t.texts[n])
		if to == "" {
			t.method[n] = t.kept(n) + 1
		} else {
			t.method[n] = t.text(to) + 1
		}
	}
	return t.method[n] - 1
}

// kept is the number of a string that stays as it came.
func (t *translator) kept(n uint32) uint32 {
	if t.same[n] == 0 {
		t.same[n] = t.text(t.texts[n]) + 1
	}
	return t.same[n] - 1
}

func (t *translator) text(s string) uint32 {
	n, known := t.numbers[s]
	if !known {
		n = uint32(len(t.own))
		t.own = append(t.own, s)
		t.numbers[s] = n
	}
	return n
}
