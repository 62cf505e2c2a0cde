package flame

import (
	"cmp"
	"slices"

	"github.com/symlake/symlake/formats/samples"
)

// function is what frames of one place in the source share. Lines differ, so frames of several lines are one function.
type function struct {
	name, file, module string
}

// node is a function that a node called. Callers come first.
type node struct {
	caller   int32 // samples.None: it is an outermost one
	function int32
	inlined  bool
}

// tree is the stacks of a profile with their lines put together.
type tree struct {
	functions []function
	nodes     []node
	stacks    []int32 // by stack of the profile: its node
}

// newTree merges the stacks of a profile.
func newTree(p *samples.Profile) *tree {
	t := &tree{stacks: make([]int32, len(p.Stacks))}
	known := map[function]int32{}
	frames := make([]int32, len(p.Frames))
	for i := range p.Frames {
		f := function{p.Frames[i].Function, p.Frames[i].File, p.Frames[i].Module}
		n, is := known[f]
		if !is {
			n = int32(len(t.functions))
			known[f] = n
			t.functions = append(t.functions, f)
		}
		frames[i] = n
	}
	nodes := map[node]int32{}
	for i, s := range p.Stacks {
		key := node{caller: samples.None, function: frames[s.Frame], inlined: p.Frames[s.Frame].Inlined}
		if s.Caller != samples.None {
			key.caller = t.stacks[s.Caller]
		}
		n, is := nodes[key]
		if !is {
			n = int32(len(t.nodes))
			nodes[key] = n
			t.nodes = append(t.nodes, key)
		}
		t.stacks[i] = n
	}
	return t
}

// types returns what the values of a profile count; of a profile that does not say it, samples.
func types(p *samples.Profile) []samples.Type {
	if len(p.Types) == 0 {
		return []samples.Type{{Name: "samples", Unit: "count"}}
	}
	return p.Types
}

// first returns the type to show first: the profile's, if it has values.
func first(p *samples.Profile) int {
	all := types(p)
	has := make([]bool, len(all))
	for i := range p.Samples {
		for k := range all {
			has[k] = has[k] || p.Samples[i].Stack != samples.None && p.Value(i, k) > 0
		}
	}
	if p.Default < len(all) && has[max(p.Default, 0)] {
		return max(p.Default, 0)
	}
	return max(slices.Index(has, true), 0)
}

// weights are the values of nodes of one type: their own, and with all that they called.
type weights struct {
	own, total []float64
	all        float64 // of all outermost nodes
	left       uint64  // samples that are not drawn, because their value is below 0
}

// weigh sums the values of a type.
func (t *tree) weigh(p *samples.Profile, kind int) *weights {
	w := &weights{own: make([]float64, len(t.nodes)), total: make([]float64, len(t.nodes))}
	for i := range p.Samples {
		s := &p.Samples[i]
		v := p.Value(i, kind)
		if v < 0 {
			w.left++
		}
		if s.Stack != samples.None && v > 0 {
			w.own[t.stacks[s.Stack]] += float64(v)
		}
	}
	copy(w.total, w.own)
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if caller := t.nodes[i].caller; caller != samples.None {
			w.total[caller] += w.total[i]
		} else {
			w.all += w.total[i]
		}
	}
	return w
}

// children returns the nodes that each node called, by name, and behind them the outermost ones.
func (t *tree) children() (of [][]int32, outermost []int32) {
	of = make([][]int32, len(t.nodes))
	for i := range t.nodes {
		if caller := t.nodes[i].caller; caller != samples.None {
			of[caller] = append(of[caller], int32(i))
		} else {
			outermost = append(outermost, int32(i))
		}
	}
	byName := func(a, b int32) int {
		f, g := &t.functions[t.nodes[a].function], &t.functions[t.nodes[b].function]
		return cmp.Or(cmp.Compare(f.name, g.name), cmp.Compare(f.module, g.module), cmp.Compare(f.file, g.file), cmp.Compare(a, b))
	}
	for _, all := range of {
		slices.SortFunc(all, byName)
	}
	slices.SortFunc(outermost, byName)
	return of, outermost
}
