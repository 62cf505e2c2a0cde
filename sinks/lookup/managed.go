package lookup

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
)

// managed are the lines of Java and Kotlin of one stack whose mapping is known.
type managed struct {
	lines []managedLine
	ids   []symbol.ID // their mappings
	lost  bool        // there are lines whose mapping is not known
}

type managedLine struct{ thread, frame, id int }

// add notes a line; left is how many frames are left of its thread, that one included.
func (m *managed) add(thread, frame int, id symbol.ID, left int) {
	at := slices.Index(m.ids, id)
	if at < 0 {
		at = len(m.ids)
		m.ids = append(m.ids, id)
	}
	if len(m.lines) == cap(m.lines) {
		m.lines = slices.Grow(m.lines, left)
	}
	m.lines = append(m.lines, managedLine{thread, frame, at})
}

// classesByName are the classes that lines name. Retracing asks for them in the order in which retrace.Classes gives their
// names, so each is found behind the one before.
type classesByName struct {
	names   []string
	classes []*retrace.Class
	next    int
}

func (s *classesByName) class(name string) *retrace.Class {
	for range s.names {
		if s.next == len(s.names) {
			s.next = 0
		}
		at := s.next
		if s.next++; s.names[at] == name {
			return s.classes[at]
		}
	}
	return nil
}

// retrace answers the lines: first the classes of all threads are read, in
// one round trip a mapping, then each thread is retraced whole. The error is ctx's, or that of its room.
func (c *Client) retrace(ctx context.Context, s *stack.Stack, m *managed, answers [][]symbol.Answer) error {
	if len(m.lines) == 0 {
		return nil
	}
	o := retrace.Options{School: s.Managed().School, Verbose: s.Managed().Verbose, Room: room.Of(ctx)}
	names := make([]string, 0, len(m.lines))
	for t := range s.Threads {
		names = retrace.Classes(&s.Threads[t], names)
	}
	for at, id := range m.ids {
		classes, err := c.ready(ctx, id, names)
		var why *ClassError
		if err != nil && !errors.As(err, &why) {
			return err
		}
		class := (&classesByName{names: names, classes: classes}).class
		got := answers
		if why == nil && (len(m.ids) > 1 || m.lost) { // not every answer of a thread is this mapping's
			got = make([][]symbol.Answer, len(answers))
			for t := range got {
				got[t] = make([]symbol.Answer, len(answers[t]))
			}
		}
		for t := range s.Threads {
			if why == nil {
				if err := retrace.Retrace(&s.Threads[t], class, o, got[t]); err != nil {
					return err
				}
			}
		}
		for _, l := range m.lines {
			switch {
			case l.id != at:
			case why != nil:
				answers[l.thread][l.frame] = symbol.Answer{Status: why.Status, Err: why.Err}
			default:
				answers[l.thread][l.frame] = got[l.thread][l.frame]
			}
			if l.id == at {
				c.o.Observer.answered(symbol.R8, answers[l.thread][l.frame].Status, 1)
			}
		}
	}
	return nil
}

// Method answers one place in a mapping, without a stack around it: a method
// by its name in the program, and a line there, -1 for none. Unavailable when ctx ends first.
func (c *Client) Method(ctx context.Context, mapping symbol.ID, class, method string, line int) symbol.Answer {
	return c.Line(ctx, mapping, &stack.Managed{Class: class, Method: method, Line: line, Lined: true, Filed: true})
}

// Line answers one line of Java or Kotlin from a mapping, without a stack around it. Unavailable when ctx ends
// first.
func (c *Client) Line(ctx context.Context, mapping symbol.ID, m *stack.Managed) symbol.Answer {
	t := stack.Thread{Frames: []stack.Frame{{Managed: m}}}
	class, err := c.classesOf(ctx, mapping, &t)
	if why := (*ClassError)(nil); errors.As(err, &why) {
		return symbol.Answer{Status: why.Status, Err: why.Err}
	} else if err != nil {
		return symbol.Answer{Status: symbol.Unavailable, Err: err}
	}
	var answer [1]symbol.Answer
	if err := retrace.Retrace(&t, class, retrace.Options{Verbose: true, Room: room.Of(ctx)}, answer[:]); err != nil {
		return symbol.Answer{Status: symbol.Unavailable, Err: err}
	}
	return answer[0]
}

// classesOf reads the classes that a thread names. The error is ctx's or a *ClassError.
func (c *Client) classesOf(ctx context.Context, mapping symbol.ID, t *stack.Thread) (func(string) *retrace.Class, error) {
	names := retrace.Classes(t, nil)
	classes, err := c.ready(ctx, mapping, names)
	if err != nil {
		return nil, err
	}
	return (&classesByName{names: names, classes: classes}).class, nil
}

// ready gives the classes of a mapping that have the names, in the order
// asked; nil: there is none. What the mapping says of its packages spares asking for classes that
// were never renamed. The error is ctx's or a *ClassError.
func (c *Client) ready(ctx context.Context, id symbol.ID, names []string) ([]*retrace.Class, error) {
	e, err := c.record(ctx, id, c.o.Now())
	if err != nil {
		return nil, err
	}
	if err := room.Take(ctx, int64(len(names))*nameRoom); err != nil {
		return nil, err
	}
	out := make([]*retrace.Class, len(names))
	for { // until facts and classes are of one load
		cold := c.cached(e, names, out)
		if len(cold) == 0 && len(names) > 0 {
			return out, nil
		}
		facts, newer, err := c.mapped(ctx, e, []string{""})
		if err != nil {
			return nil, err
		}
		if newer.load != e.load {
			e = newer
			continue
		}
		var wanted []string
		for _, i := range cold {
			if mayName(facts[0], names[i]) {
				wanted = append(wanted, names[i])
			}
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		found, newer, err := c.mapped(ctx, e, wanted)
		if err != nil {
			return nil, err
		}
		if newer.load != e.load {
			e = newer
			continue
		}
		for _, i := range cold {
			if k, ok := slices.BinarySearch(wanted, names[i]); ok {
				out[i] = found[k]
			}
		}
		return out, nil
	}
}

// cached gives, in out, those of the classes that are in the cache, and says which are not.
func (c *Client) cached(e *entry, names []string, out []*retrace.Class) (cold []int) {
	for i, name := range names {
		out[i] = nil
		if name == "" {
			continue // the mapping's facts, no class
		}
		if e.status == symbol.Found {
			if class, ok := c.classes.GetIfPresent(classOf{e.load, name}); ok {
				out[i] = class.Class
				continue
			}
		}
		if cold == nil {
			cold = make([]int, 0, len(names)-i)
		}
		cold = append(cold, i)
	}
	return cold
}

// mayName reports whether a mapping may have a class of that name.
func mayName(facts *retrace.Class, name string) bool {
	if facts == nil || facts.Facts == nil {
		return true
	}
	_, ok := slices.BinarySearch(facts.Facts.Packages, name[:max(strings.LastIndexByte(name, '.'), 0)])
	return ok
}
