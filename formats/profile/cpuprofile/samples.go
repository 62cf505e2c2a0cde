package cpuprofile

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/rewrite"
	"github.com/symlake/symlake/formats/samples"
)

// samplesOf reads the samples of a profile with the names that it has.
//
// A sample's time is the delta from it to the next one. Without samples, the hits of nodes are the samples.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	s := &sampler{ctx: ctx, to: to, trees: map[int]*stacks{}, chunks: map[string]*stacks{}, threads: map[[2]int64]int32{}}
	for s.second = false; ; s.second = true {
		from, err := in.Open()
		if err != nil {
			return err
		}
		s.objects = 0
		s.r = rewrite.New(from, nil)
		if err := errors.Join(s.r.Run(func() error { return s.value(0) }), from.Close()); err != nil {
			return err
		}
		if s.second {
			break
		}
		if err := s.kinds(); err != nil {
			return err
		}
	}
	return nil
}

// sampler reads one input twice: nodes first, because samples may stand before them.
type sampler struct {
	ctx         context.Context
	to          *samples.Profile
	r           *rewrite.Reader
	second      bool
	objects     int
	trees       map[int]*stacks    // by the number of the object
	chunks      map[string]*stacks // of traces, by their process and id
	parts       []*stacks          // chunks in their order
	hermes      *stacks
	before      int64 // the time of Hermes's last sample
	threads     map[[2]int64]int32
	timed       bool // samples have times
	hermesTimed bool
	heap        bool // values are bytes
}

// stacks are the stacks of one profile, by the ids of their innermost nodes.
type stacks struct {
	byID   map[int64]int32
	nodes  []counted
	count  int   // samples
	first  int   // of samples.Profile: the next deltas begin there
	got    int   // samples from first on
	at     int64 // the time of the last sample, in nanoseconds
	last   int   // of samples.Profile: the last sample that has a time; -1: none
	thread int32
}

// counted is a node.
type counted struct {
	id, up int64
	frame  int32
	hits   int64
	size   int64
	below  []int64
	upped  bool
	own    int64 // the id that a nested node has in the file, where id is its number
	owned  bool
}

// kinds sets the types of the samples, and resolves the stacks.
func (s *sampler) kinds() error {
	switch {
	case s.heap:
		s.to.Types = []samples.Type{{Name: "inuse_space", Unit: "bytes"}}
	case s.timed, s.hermesTimed:
		s.to.Types, s.to.Default = []samples.Type{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, 1
	default:
		s.to.Types = []samples.Type{{Name: "samples", Unit: "count"}}
	}
	for _, all := range s.all() {
		if err := s.resolve(all); err != nil {
			return err
		}
	}
	return nil
}

func (s *sampler) all() (all []*stacks) {
	for i := range s.objects {
		if t := s.trees[i]; t != nil {
			all = append(all, t)
		}
	}
	all = append(all, s.parts...)
	if s.hermes != nil {
		all = append(all, s.hermes)
	}
	return all
}

// resolve makes the stacks of nodes. Nodes in a circle have none.
func (s *sampler) resolve(t *stacks) error {
	up := make(map[int64]int64, len(t.nodes))
	frames := make(map[int64]int32, len(t.nodes))
	for i := range t.nodes {
		n := &t.nodes[i]
		frames[n.id] = n.frame
		if n.upped {
			up[n.id] = n.up
		}
		for _, id := range n.below {
			up[id] = n.id
		}
	}
	t.byID = make(map[int64]int32, len(t.nodes))
	var chain []int64
	for i := range t.nodes {
		chain = chain[:0]
		id, stack := t.nodes[i].id, int32(samples.None)
		for {
			if known, ok := t.byID[id]; ok {
				stack = known
				break
			}
			t.byID[id] = samples.None // a circle ends here
			chain = append(chain, id)
			next, ok := up[id]
			if _, there := frames[next]; !ok || !there {
				break
			}
			id = next
		}
		for k := len(chain) - 1; k >= 0; k-- {
			if frame := frames[chain[k]]; frame >= 0 {
				var err error
				if stack, err = s.to.Push(stack, frame); err != nil {
					return err
				}
			}
			t.byID[chain[k]] = stack
		}
	}
	for i := range t.nodes {
		if n := &t.nodes[i]; n.owned {
			t.byID[n.own] = t.byID[n.id]
		}
	}
	if t.count == 0 || s.heap {
		return s.hits(t)
	}
	t.nodes = nil
	return nil
}

// hits adds the hits of nodes as samples.
func (s *sampler) hits(t *stacks) error {
	for i := range t.nodes {
		n := &t.nodes[i]
		v := n.hits
		if s.heap {
			v = n.size
		}
		if v <= 0 {
			continue
		}
		if err := s.to.Add(samples.Sample{Stack: t.byID[n.id], Thread: samples.None, Time: -1}, v); err != nil {
			return err
		}
	}
	t.nodes = nil
	return nil
}

// value reads the input's value, or a profile in it.
func (s *sampler) value(depth int) error {
	switch s.r.Peek() {
	case '[':
		return s.r.Array(func(int) error {
			if s.r.Peek() != '{' {
				return nil
			}
			return s.object(max(1, depth))
		})
	case '{':
		return s.object(depth)
	}
	return nil
}

// object reads an object that may be a profile, or an event.
func (s *sampler) object(depth int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	number := s.objects
	s.objects++
	var e event
	err := s.r.Object(func(key string) error {
		c := s.r.Peek()
		switch {
		case key == "nodes" && c == '[':
			return s.list(s.tree(number))
		case key == "head" && c == '{':
			return s.nested(s.tree(number))
		case key == "samples" && c == '[':
			return s.samples(s.tree(number))
		case key == "timeDeltas" && c == '[':
			return s.deltas(s.tree(number))
		case key == "stackFrames" && c == '{':
			return s.stackFrames()
		case key == "profile" || key == "profiles":
			if depth < 4 {
				return s.value(depth + 1)
			}
		case key == "traceEvents" && c == '[':
			return s.r.Array(func(int) error {
				if s.r.Peek() != '{' {
					return nil
				}
				return s.object(1)
			})
		case depth == 1:
			return s.member(&e, key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.event(&e)
}

func (s *sampler) tree(number int) *stacks {
	t := s.trees[number]
	if t == nil {
		t = &stacks{last: samples.None, thread: samples.None}
		s.trees[number] = t
	}
	return t
}

// number reads the number at hand.
func (s *sampler) number(take func(v float64)) error {
	text, whole, err := s.r.Take(64)
	if err == nil && whole {
		if v, bad := strconv.ParseFloat(string(bytes.Trim(text, `"`)), 64); bad == nil {
			take(v)
		}
	}
	return err
}

// list reads the nodes of a profile.
func (s *sampler) list(t *stacks) error {
	if s.second {
		return s.r.Skip()
	}
	return s.r.Array(func(int) error {
		text, whole, err := s.r.Take(mostNode)
		if err != nil || !whole {
			return err
		}
		return s.node(t, &json.Walker{Bytes: text})
	})
}

// node takes the node at hand in.
func (s *sampler) node(t *stacks, j *json.Walker) error {
	var n node
	if !n.read(j, nil) {
		return nil
	}
	c, err := s.counted(&n)
	if err != nil {
		return err
	}
	numbersOf(j.Bytes, n.children, func(id int64) { c.below = append(c.below, id) })
	t.nodes = append(t.nodes, c)
	return nil
}

// counted makes a node with its frame.
func (s *sampler) counted(n *node) (c counted, err error) {
	s.heap = s.heap || n.atSize.to > 0
	c = counted{id: n.id, up: n.parent, upped: n.hasUp, hits: n.hits, size: n.size}
	c.frame, err = s.frame(&n.frame)
	return c, err
}

// frame makes the frame of a place; a root has none.
func (s *sampler) frame(f *frame) (int32, error) {
	if f.function == "(root)" || f.function == "[root]" {
		return samples.None, nil
	}
	to := samples.Frame{Function: f.function, File: f.url, Line: uint32(small(f.line) + 1), Column: uint32(small(f.column) + 1)}
	if f.one || isHermes(f) {
		to.Line, to.Column = uint32(max(0, small(f.line))), uint32(max(0, small(f.column)))
		if isHermes(f) {
			to.Function = to.Function[:len(to.Function)-len(placeIn(f.url, f.line, f.column))]
		}
	}
	if to.Function == "" {
		to.Function = "(anonymous)"
	}
	return s.to.Frame(to)
}

// nested reads a call tree of nested nodes.
func (s *sampler) nested(t *stacks) error {
	if s.second {
		return s.r.Skip()
	}
	text, whole, err := s.r.Take(256 << 20)
	if err != nil || !whole {
		return err
	}
	j := &json.Walker{Bytes: text}
	var read func(up int64, depth int)
	read = func(up int64, depth int) {
		at := len(t.nodes)
		t.nodes = append(t.nodes, counted{})
		id := -1 - int64(at)
		var n node
		n.read(j, func() {
			if depth < mostNesting {
				read(id, depth+1)
			}
		})
		c, bad := s.counted(&n)
		err = errors.Join(err, bad)
		c.own, c.owned = n.id, n.hasID
		c.id, c.up, c.upped = id, up, up < 0
		t.nodes[at] = c
	}
	read(0, 0)
	return err
}
