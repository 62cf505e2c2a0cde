package cpuprofile

// tree is the nodes of one profile, by number in the order of the file.
type tree struct {
	ids     []int64
	places  []int32 // of the table; -1: none
	up      []int32 // the caller; -1: none
	byID    map[int64]int32
	edges   []edge
	broken  string  // why nothing is merged; "": nothing speaks against it
	merged  int     // nodes that are merged into others
	stays   []int32 // by node: the node that takes it in, or itself; nil: nothing is merged
	next    []int32 // the next node that is merged into the same one; -1: none
	starts  []int32 // by node: where its children begin in below; one more at the end
	below   []int32 // children
	sums    map[int32]*sum
	visited int // nodes of this pass
}

// edge is a caller and a callee, one of them by its id.
type edge struct {
	node int32
	id   int64
	up   bool // id is the caller's
}

// sum is the hits of a node that others are merged into.
type sum struct {
	hits, size int64
	ticks      []tick
	lines      map[int64]int // of ticks, by line
}

// Faults of trees.
const (
	whyTwice   = "nodes of one profile share an id: none of its nodes are merged"
	whyNoChild = "a node calls a node that the profile does not have"
	whyNoUp    = "a node is called by a node that the profile does not have"
	whyCallers = "a node is called by several nodes: none of the profile's nodes are merged"
	whyCircle  = "nodes call each other in a circle: none of the profile's nodes are merged"
	whyMany    = "the profile has more nodes than memory holds: none of its nodes are merged"
	whyLong    = "a node is longer than memory allows, and stays as it came"
	whyNoNode  = "a sample names a node that the profile does not have"
	whyPlaces  = "the profile has more places than memory holds: the rest stays as it came"
	whyNested  = "a call tree of nested nodes is larger than memory allows, and stays as it came"
	whyDamaged = "a call tree of nested nodes is damaged or too deep, and stays as it came"
	whyDeep    = "a call tree is nested deeper than the reader follows: deeper nodes stay as they came"
)

// add adds a node, and returns its number.
func (t *tree) add(n *node, place int32) int32 {
	i := int32(len(t.ids))
	t.ids, t.places, t.up = append(t.ids, n.id), append(t.places, place), append(t.up, -1)
	return i
}

// find returns the number of a node; -1: there is none.
func (t *tree) find(id int64) int32 {
	if len(t.ids) == 0 {
		return -1
	}
	if d := id - t.ids[0]; d >= 0 && d < int64(len(t.ids)) && t.ids[d] == id {
		return int32(d) // most writers count
	}
	if i, ok := t.byID[id]; ok {
		return i
	}
	return -1
}

// link resolves the edges. keep notes faults.
func (t *tree) link(keep func(why string)) {
	counted := true
	for i := range t.ids {
		counted = counted && t.ids[i] == t.ids[0]+int64(i)
	}
	if !counted {
		t.byID = make(map[int64]int32, len(t.ids))
		for i, id := range t.ids {
			if _, twice := t.byID[id]; twice {
				t.fail(whyTwice)
				continue
			}
			t.byID[id] = int32(i)
		}
	}
	for _, e := range t.edges {
		other := t.find(e.id)
		switch {
		case other < 0 && e.up:
			keep(whyNoUp)
		case other < 0:
			keep(whyNoChild)
		case e.up:
			t.call(other, e.node)
		default:
			t.call(e.node, other)
		}
	}
	t.edges = nil
}

func (t *tree) call(caller, callee int32) {
	if now := t.up[callee]; now >= 0 && now != caller {
		t.fail(whyCallers)
	}
	t.up[callee] = caller
}

func (t *tree) fail(why string) {
	if t.broken == "" {
		t.broken = why
	}
}

// children returns a node's children.
func (t *tree) children(i int32) []int32 { return t.below[t.starts[i]:t.starts[i+1]] }

// order makes children of the callers of nodes, and returns all nodes that outermost ones lead to, callers first.
func (t *tree) order() []int32 {
	n := len(t.ids)
	t.starts, t.below = make([]int32, n+1), make([]int32, n)
	for _, up := range t.up {
		if up >= 0 {
			t.starts[up+1]++
		}
	}
	for i := range n {
		t.starts[i+1] += t.starts[i]
	}
	at := append([]int32(nil), t.starts[:n]...)
	all := make([]int32, 0, n)
	for i, up := range t.up {
		if up < 0 {
			all = append(all, int32(i))
			continue
		}
		t.below[at[up]] = int32(i)
		at[up]++
	}
	for i := 0; i < len(all); i++ {
		all = append(all, t.children(all[i])...)
	}
	return all
}

// merge finds the nodes that become one below one node.
func (t *tree) merge(results []result) {
	if t.broken != "" || len(t.ids) == 0 {
		return
	}
	all := t.order()
	if len(all) < len(t.ids) {
		t.fail(whyCircle)
		return
	}
	stays, next, last := make([]int32, len(t.ids)), make([]int32, len(t.ids)), make([]int32, len(t.ids))
	for i := range stays {
		stays[i], next[i], last[i] = int32(i), -1, int32(i)
	}
	same := map[int32]int32{} // nodes below one node, by what their place became
	queue := make([]int32, 0, len(all))
	for _, i := range all {
		if t.up[i] < 0 {
			queue = append(queue, i)
		}
	}
	for at := 0; at < len(queue); at++ {
		clear(same)
		for of := queue[at]; of >= 0; of = next[of] {
			for _, i := range t.children(of) {
				p := t.places[i]
				if p < 0 {
					queue = append(queue, i)
					continue
				}
				first, known := same[results[p].is]
				switch {
				case !known:
					same[results[p].is] = i
					queue = append(queue, i)
				case results[p].found || t.up[first] != of:
					stays[i] = first
					next[last[first]], last[first] = i, i
					t.merged++
				default: // the profile has them apart
					queue = append(queue, i)
				}
			}
		}
	}
	if t.merged == 0 {
		t.starts, t.below = nil, nil
		return
	}
	t.stays, t.next, t.sums = stays, next, map[int32]*sum{}
	for i, to := range stays {
		if int32(i) != to {
			t.sums[to] = &sum{}
		}
	}
}

// called returns the ids of the nodes that a node calls after merging.
func (t *tree) called(i int32) (ids []int64) {
	for of := i; of >= 0; of = t.next[of] {
		for _, child := range t.children(of) {
			if t.stays[child] == child {
				ids = append(ids, t.ids[child])
			}
		}
	}
	return ids
}

// sum returns the sum that a node's hits are added to; nil: there is none.
func (t *tree) sum(i int32) *sum {
	if t.stays == nil {
		return nil
	}
	return t.sums[t.stays[i]]
}
