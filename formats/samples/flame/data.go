package flame

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/samples"
)

// What bounds a page, for any number of samples.
const (
	mostNodes   = 120_000
	mostThreads = 200
	mostLetters = 2000 // of a function's name
	leastShare  = 1.0 / 12_000
)

// data is a profile as the page has it. Lists of numbers are short for a browser: a node is two of them.
type data struct {
	Title     string       `json:"title"`
	Types     []typeOf     `json:"types"`
	First     int          `json:"first"` // of Types
	Threads   []string     `json:"threads"`
	Functions []functionOf `json:"functions"`
	// Nodes are the caller, as the distance back to it (0: none), and the function of each node.
	Nodes []int32 `json:"nodes"`
	// Own has, for each thread, its nodes with own values: the node, then a value of each type.
	Own    [][]float64 `json:"own"`
	Folded int         `json:"folded"` // frames that are too small to be shown
	Notes  []string    `json:"notes"`
}

type typeOf struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

type functionOf struct {
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Module string `json:"module,omitempty"`
	Color  string `json:"color"`
}

// entry is a thread's node with own values.
type entry struct {
	thread, node int32
	values       []float64 // by type
}

// newData puts a profile together for the page.
func newData(p *samples.Profile) *data {
	t := newTree(p)
	d := &data{Title: p.Name, First: first(p), Notes: []string{}}
	for _, k := range types(p) {
		d.Types = append(d.Types, typeOf{k.Name, k.Unit})
	}
	all, negative := entries(p, t, d)
	if negative > 0 {
		d.Notes = append(d.Notes, thousands(float64(negative))+" values are below 0 and not shown.")
	}
	if p.Lost > 0 {
		d.Notes = append(d.Notes, thousands(float64(p.Lost))+" samples of the profile have no stack.")
	}
	biggest := t.biggest(all, len(d.Threads), len(d.Types))
	least := threshold(biggest)
	d.keep(t, all, func(node int32) bool { return biggest[node] >= least })
	return d
}

// entries sums the own values of each node of each thread, and names the threads.
func entries(p *samples.Profile, t *tree, d *data) (all []entry, negative uint64) {
	of := threads(p, d)
	kinds := len(d.Types)
	type key struct{ thread, node int32 }
	known := map[key]int{}
	for i := range p.Samples {
		s := &p.Samples[i]
		if s.Stack == samples.None {
			continue
		}
		k := key{of[s.Thread+1], t.stacks[s.Stack]}
		n, is := known[k]
		if !is {
			n = len(all)
			known[k] = n
			all = append(all, entry{k.thread, k.node, make([]float64, kinds)})
		}
		for kind := range kinds {
			if v := p.Value(i, kind); v < 0 {
				negative++
			} else {
				all[n].values[kind] += float64(v)
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.node, b.node)) })
	return all, negative
}

// threads names the threads that have samples, the busiest first. It returns the number on the page of each thread of the
// profile, None before them. Those behind mostThreads share the last one.
func threads(p *samples.Profile, d *data) []int32 {
	count := make([]int, len(p.Threads)+1)
	for i := range p.Samples {
		if p.Samples[i].Stack != samples.None {
			count[p.Samples[i].Thread+1]++
		}
	}
	var order []int
	for i, n := range count {
		if n > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(count[a], count[b]) })
	of := make([]int32, len(count))
	for n, i := range order {
		if n < mostThreads {
			of[i] = int32(n)
			d.Threads = append(d.Threads, threadName(p, i-1))
			continue
		}
		of[i] = mostThreads - 1
		d.Threads[mostThreads-1] = fmt.Sprintf("%d other threads", len(order)-mostThreads+1)
	}
	return of
}

// threadName names a thread for people.
func threadName(p *samples.Profile, i int) string {
	if i == samples.None {
		return "samples without a thread"
	}
	t := &p.Threads[i]
	name := t.Name
	if t.Process != "" && t.Process != name {
		if name != "" {
			name += " of "
		}
		name += t.Process
	}
	switch {
	case name == "":
		return fmt.Sprintf("thread %d", t.TID)
	case t.TID == 0:
		return name
	}
	return fmt.Sprintf("%s (%d)", name, t.TID)
}

// biggest returns for each node its largest share of a thread's values, of any type.
func (t *tree) biggest(all []entry, threads, kinds int) []float32 {
	shares := make([]float32, len(t.nodes))
	sums := make([]float64, len(t.nodes)*kinds)
	stamp := make([]int32, len(t.nodes))
	var touched []int32
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].thread == all[from].thread {
			to++
		}
		touched = touched[:0]
		whole := make([]float64, kinds)
		for _, e := range all[from:to] {
			for n := e.node; n != samples.None && stamp[n] != e.thread+1; n = t.nodes[n].caller {
				stamp[n] = e.thread + 1
				touched = append(touched, n)
				clear(sums[int(n)*kinds : int(n)*kinds+kinds])
			}
			for k, v := range e.values {
				sums[int(e.node)*kinds+k] += v
				whole[k] += v
			}
		}
		slices.Sort(touched)
		for _, n := range slices.Backward(touched) {
			caller := t.nodes[n].caller
			for k := range kinds {
				v := sums[int(n)*kinds+k]
				if whole[k] > 0 {
					shares[n] = max(shares[n], float32(v/whole[k]))
				}
				if caller != samples.None {
					sums[int(caller)*kinds+k] += v
				}
			}
		}
		from = to
	}
	return shares
}

// threshold returns the share that a node must have to be kept.
func threshold(shares []float32) float32 {
	least := float32(leastShare)
	for {
		n := 0
		for _, s := range shares {
			if s >= least {
				n++
			}
		}
		if n <= mostNodes {
			return least
		}
		least *= 1.5
	}
}

// keep puts the kept nodes, their functions and their own values on the page. What other nodes have goes to their callers, in
// a frame of its own.
func (d *data) keep(t *tree, all []entry, kept func(node int32) bool) {
	number := make([]int32, len(t.nodes))
	functions := make([]int32, len(t.functions))
	for i := range functions {
		functions[i] = samples.None
	}
	rest := int32(samples.None) // the function of small frames
	restOf := map[int32]int32{}
	count := int32(0)
	add := func(caller, function int32) int32 {
		back := int32(0)
		if caller != samples.None {
			back = count - caller
		}
		d.Nodes = append(d.Nodes, back, function)
		count++
		return count - 1
	}
	small := func(caller int32) int32 {
		if n, is := restOf[caller]; is {
			return n
		}
		if rest == samples.None {
			rest = int32(len(d.Functions))
			d.Functions = append(d.Functions, functionOf{Name: "(small frames)", Color: "#d0d0d0"})
		}
		n := add(caller, rest)
		restOf[caller] = n
		return n
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		caller := int32(samples.None)
		if n.caller != samples.None {
			caller = number[n.caller]
		}
		if !kept(int32(i)) {
			d.Folded++
			if number[i] = caller; caller == samples.None || d.Nodes[2*caller+1] != rest || rest == samples.None {
				number[i] = small(caller)
			}
			continue
		}
		if functions[n.function] == samples.None {
			f := &t.functions[n.function]
			functions[n.function] = int32(len(d.Functions))
			d.Functions = append(d.Functions, functionOf{cut(f.name), f.file, f.module, color(f)})
		}
		number[i] = add(caller, functions[n.function])
	}
	d.Own = make([][]float64, len(d.Threads))
	kinds := len(d.Types)
	for _, e := range all { // of a thread, in the order of nodes: small frames of one caller may come apart
		own := &d.Own[e.thread]
		*own = append(append(*own, float64(number[e.node])), e.values...)
	}
	for i, own := range d.Own {
		d.Own[i] = together(own, kinds)
	}
}

// together adds up the values of nodes that stand several times.
func together(own []float64, kinds int) []float64 {
	at := map[float64]int{}
	out := own[:0]
	for i := 0; i < len(own); i += kinds + 1 {
		n, is := at[own[i]]
		if !is {
			at[own[i]] = len(out)
			out = append(out, own[i:i+kinds+1]...)
			continue
		}
		for k := 1; k <= kinds; k++ {
			out[n+k] += own[i+k]
		}
	}
	return out
}

// cut returns a name of bounded length.
func cut(name string) string {
	if len(name) <= mostLetters {
		return name
	}
	n := 0
	for i := range name {
		if n++; i > mostLetters {
			return name[:i] + "…"
		}
	}
	return name
}
