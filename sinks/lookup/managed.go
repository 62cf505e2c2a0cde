package lookup

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/retrace"
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

func (m *managed) add(thread, frame int, id symbol.ID) {
	at := slices.Index(m.ids, id)
	if at < 0 {
		at = len(m.ids)
		m.ids = append(m.ids, id)
	}
	m.lines = append(m.lines, managedLine{thread, frame, at})
}

// retrace answers the lines: first the classes of all threads are read, in
// one round trip a mapping, then each thread is retraced whole. The error is ctx's.
func (c *Client) retrace(ctx context.Context, s *stack.Stack, m *managed, answers [][]symbol.Answer) error {
	if len(m.lines) == 0 {
		return nil
	}
	o := retrace.Options{School: s.Managed().School, Verbose: s.Managed().Verbose}
	var names []string
	for t := range s.Threads {
		names = retrace.Classes(&s.Threads[t], names)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for at, id := range m.ids {
		classes, err := c.ready(ctx, id, names)
		var why *ClassError
		if err != nil && !errors.As(err, &why) {
			return err
		}
		class := func(name string) *retrace.Class {
			if i, ok := slices.BinarySearch(names, name); ok && why == nil {
				return classes[i]
			}
			return nil
		}
		got := answers
		if why == nil && (len(m.ids) > 1 || m.lost) { // not every answer of a thread is this mapping's
			got = make([][]symbol.Answer, len(answers))
			for t := range got {
				got[t] = make([]symbol.Answer, len(answers[t]))
			}
		}
		for t := range s.Threads {
			if why == nil {
				retrace.Retrace(&s.Threads[t], class, o, got[t])
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
	retrace.Retrace(&t, class, retrace.Options{Verbose: true}, answer[:])
	return answer[0]
}

// classesOf reads the classes that a thread names. The error is ctx's or a *ClassError.
func (c *Client) classesOf(ctx context.Context, mapping symbol.ID, t *stack.Thread) (func(string) *retrace.Class, error) {
	names := retrace.Classes(t, nil)
	slices.Sort(names)
	names = slices.Compact(names)
	classes, err := c.ready(ctx, mapping, names)
	if err != nil {
		return nil, err
	}
	return func(name string) *retrace.Class {
		if i, ok := slices.BinarySearch(names, name); ok {
			return classes[i]
		}
		return nil
	}, nil
}

// ready gives the classes of a mapping that have the names, in the order
// asked; nil: there is none. What the mapping says of its packages spares asking for classes that
// were never renamed. The error is ctx's or a *ClassError.
func (c *Client) ready(ctx context.Context, id symbol.ID, names []string) ([]*retrace.Class, error) {
	e, err := c.record(ctx, id, c.o.Now())
	if err != nil {
		return nil, err
	}
	var found []*retrace.Class
	var at []int
	for of := (*entry)(nil); of == nil || of.load != e.load; { // until facts and classes are of one load
		if of != nil {
			e = of
		}
		var facts []*retrace.Class
		if facts, e, err = c.mapped(ctx, e, []string{""}); err != nil {
			return nil, err
		}
		var wanted []string
		at = at[:0]
		for i, name := range names {
			if name != "" && mayName(facts[0], name) {
				wanted, at = append(wanted, name), append(at, i)
			}
		}
		if found, of, err = c.mapped(ctx, e, wanted); err != nil {
			return nil, err
		}
	}
	out := make([]*retrace.Class, len(names))
	for k, x := range found {
		out[at[k]] = x
	}
	return out, nil
}

// mayName reports whether a mapping may have a class of that name.
func mayName(facts *retrace.Class, name string) bool {
	if facts == nil || facts.Facts == nil {
		return true
	}
	_, ok := slices.BinarySearch(facts.Facts.Packages, name[:max(strings.LastIndexByte(name, '.'), 0)])
	return ok
}
