package house

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layeredAbove is the number of files a package may have before its files must form layers.
const layeredAbove = 10

// arrow says that file from uses definitions of file to.
type arrow struct{ from, to string }

// graph maps each arrow of a package to the names that cause it.
type graph map[arrow][]string

// graph resolves every identifier of files and returns an arrow for each pair of files where the
// first uses a definition of the second.
// Definitions are functions, methods, types, fields, constants and variables of the package.
func (c *checker) graph(path string, files []*ast.File) (graph, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: c.imp, Sizes: types.SizesFor("gc", "amd64")}
	pkg, err := conf.Check(path, c.fset, files, info)
	if err != nil {
		return nil, err
	}

	found := map[arrow]map[string]bool{}
	for ident, object := range info.Uses {
		object = origin(object)
		if object.Pkg() != pkg {
			continue
		}

		// Locals and imports need no exception: only their own file can name them.
		a := arrow{c.base(ident.Pos()), c.base(object.Pos())}
		if a.from == a.to {
			continue
		}
		if found[a] == nil {
			found[a] = map[string]bool{}
		}
		found[a][object.Name()] = true
	}

	g := graph{}
	for a, names := range found {
		g[a] = slices.Sorted(maps.Keys(names))
	}
	return g, nil
}

// origin returns the generic definition of an instantiated object.
func origin(object types.Object) types.Object {
	switch o := object.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return object
}

// base returns the name of the file that holds pos.
func (c *checker) base(pos token.Pos) string {
	return filepath.Base(c.fset.Position(pos).Filename)
}

// circular returns the arrows between files that reach each other, in order.
func (g graph) circular() []arrow {
	room := g.components()
	var in []arrow
	for a := range g {
		if room[a.from] == room[a.to] {
			in = append(in, a)
		}
	}
	slices.SortFunc(in, compareArrows)
	return in
}

// components numbers the strongly connected components by Tarjan's algorithm. Files in one
// component reach each other.
func (g graph) components() map[string]int {
	next := map[string][]string{}
	for a := range g {
		next[a.from] = append(next[a.from], a.to)
	}

	var (
		component = map[string]int{}
		index     = map[string]int{}
		low       = map[string]int{}
		stack     []string
		visit     func(string)
	)
	visit = func(file string) {
		index[file] = len(index) + 1
		low[file] = index[file]
		stack = append(stack, file)
		for _, to := range next[file] {
			if index[to] == 0 {
				visit(to)
				low[file] = min(low[file], low[to])
			} else if component[to] == 0 {
				low[file] = min(low[file], index[to])
			}
		}
		if low[file] != index[file] {
			return
		}
		for number := index[file]; component[file] == 0; {
			last := len(stack) - 1
			component[stack[last]] = number
			stack = stack[:last]
		}
	}
	for _, file := range slices.Sorted(maps.Keys(next)) {
		if index[file] == 0 {
			visit(file)
		}
	}
	return component
}

// upward returns a small set of arrows. Without them no circle is left. It places files that use
// many and have few users first, and returns the arrows that run up in this order.
func (g graph) upward() []arrow {
	left := map[arrow]bool{}
	for _, a := range g.circular() {
		left[a] = true
	}

	place := map[string]int{}
	for first, last := 0, 1<<20; len(left) > 0; {
		// Count uses minus users of each file that is still in a circle.
		surplus, uses, users := map[string]int{}, map[string]int{}, map[string]int{}
		for a := range left {
			surplus[a.from]++
			surplus[a.to]--
			uses[a.from]++
			users[a.to]++
		}
		files := slices.Sorted(maps.Keys(surplus))
		top := slices.MaxFunc(files, func(a, b string) int { return cmp.Compare(surplus[a], surplus[b]) })
		for _, file := range files {
			if users[file] == 0 || uses[file] == 0 {
				top = file
				break
			}
		}
		if uses[top] == 0 {
			place[top] = last
			last--
		} else {
			place[top] = first
			first++
		}
		maps.DeleteFunc(left, func(a arrow, _ bool) bool { return a.from == top || a.to == top })
	}

	var up []arrow
	for _, a := range g.circular() {
		from, placedFrom := place[a.from]
		to, placedTo := place[a.to]
		if !placedFrom {
			from = 1 << 19
		}
		if !placedTo {
			to = 1 << 19
		}
		if from > to {
			up = append(up, a)
		}
	}
	return up
}

func compareArrows(a, b arrow) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
}

// TestFiles fails when files of a package of more than ten files use each other in circles.
func TestFiles(t *testing.T) {
	all := allPackages(t)
	check := newChecker(all)
	layered := 0
	for _, l := range all {
		if !l.ours() || len(l.GoFiles) <= layeredAbove {
			continue
		}
		layered++
		files, err := check.read(l)
		if err != nil {
			t.Fatal(err)
		}
		g, err := check.graph(l.ImportPath, files)
		if err != nil {
			t.Fatal(err)
		}

		circular := g.circular()
		if len(circular) == 0 {
			continue
		}
		t.Errorf("%s: %d of %d arrows between files are in circles", l.name(), len(circular), len(g))
		for _, a := range g.upward() {
			t.Logf("\t%s uses %s: %s", a.from, a.to, strings.Join(g[a], " "))
		}
	}
	if layered == 0 {
		t.Fatal("no package has files enough to form layers")
	}
}

// TestFilesRefuse tries the rule on planted packages of two files and more.
func TestFilesRefuse(t *testing.T) {
	for _, planted := range []struct {
		name  string
		files []string
		want  string // circular arrows, by the numbers of files
	}{
		{"functions", []string{"func A() { B() }", "func B() { C() }", "func C() { A() }"}, "0→1 1→2 2→0"},
		{"types", []string{"type A struct { b *B }", "type B struct { a []A }"}, "0→1 1→0"},
		{"methods", []string{"type A int\nfunc Run(a A) { a.up() }", "func (A) up() {}"}, "0→1 1→0"},
		{"fields", []string{"type A struct { n int }\nfunc Run() { up() }", "import \"slices\"\nvar all = slices.Clone(list)\nfunc up() { all[0].n++ }", "var list []A\nvar _ = Run"}, "0→1 1→0 1→2 2→0"},
		{"constants", []string{"const A = B", "const B = 1\nconst C = A"}, "0→1 1→0"},
		{"variables", []string{"var A = 1\nfunc f() { B++ }", "var B int\nfunc g() { A++ }"}, "0→1 1→0"},
		{"instances", []string{"type A[T any] struct { t T }\nfunc (a A[T]) Get() T { return a.t }\nvar _ = up", "var x A[int]\nvar up = x.t"}, "0→1 1→0"},
		{"two circles", []string{"func A() { B() }", "func B() { A(); C() }", "func C() { D() }", "func D() { C() }"}, "0→1 1→0 2→3 3→2"},
		{"layers", []string{"func A() { B(); C() }", "func B() { C() }", "func C() { a := 1; _ = a }"}, ""},
		{"names alike", []string{"type A struct { n int }\nvar a A\nfunc f() { g(a.n) }", "func g(a int) { f := a; _ = f }"}, ""},
	} {
		check := newChecker(allPackages(t))
		var files []*ast.File
		for i, text := range planted.files {
			file, err := parser.ParseFile(check.fset, fmt.Sprint(i), "package p\n"+text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		g, err := check.graph("p", files)
		if err != nil {
			t.Fatal(err)
		}

		var got []string
		for _, a := range g.circular() {
			got = append(got, a.from+"→"+a.to)
		}
		if strings.Join(got, " ") != planted.want {
			t.Errorf("%s: circular are %q, want %q", planted.name, got, planted.want)
		}
		up := g.upward()
		if len(got) > 0 && len(up) == 0 {
			t.Errorf("%s: no arrow runs up", planted.name)
		}
		for _, a := range up {
			delete(g, a)
		}
		if rest := g.circular(); len(rest) > 0 {
			t.Errorf("%s: circles are left without the arrows that run up: %v", planted.name, rest)
		}
	}
}
