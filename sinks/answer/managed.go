package answer

import (
	"context"
	"errors"
	"slices"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row/classes"
)

// managed are the lines of Java and Kotlin of one stack with known mappings.
type managed struct {
	lines []managedLine
	ids   []symbol.ID // their mappings
	lost  bool        // there are lines without a known mapping
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
	classes []*lookup.Class
	next    int
}

func (s *classesByName) class(name string) *retrace.Class {
	for range s.names {
		if s.next == len(s.names) {
			s.next = 0
		}
		at := s.next
		if s.next++; s.names[at] == name {
			return readyClass(s.classes[at])
		}
	}
	return nil
}

// readyClass returns a class that is ready for retracing, which the client keeps with it; nil if there is none.
func readyClass(c *lookup.Class) *retrace.Class {
	if c == nil {
		return nil
	}
	return c.Made(newReady).(*retrace.Class)
}

func newReady(c *classes.Class) any { return retrace.NewClass(c.Head(), c) }

// retrace answers the lines: first the classes of all threads are read, in
// one round trip a mapping, then each thread is retraced whole. The error comes from ctx or its room.
func (c *Client) retrace(ctx context.Context, s *report.Report, m *managed, answers [][]symbol.Answer) error {
	if len(m.lines) == 0 {
		return nil
	}
	o := retrace.Options{School: s.Managed().School, Verbose: s.Managed().Verbose, Room: room.Of(ctx)}
	names := make([]string, 0, len(m.lines))
	for t := range s.Threads {
		names = retrace.Classes(&s.Threads[t], names)
	}
	for at, id := range m.ids {
		classes, err := c.RenamedClasses(ctx, id, names)
		var why *lookup.ClassError
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
				c.Count(symbol.R8, answers[l.thread][l.frame].Status, 1)
			}
		}
	}
	return nil
}

// Method answers one place in a mapping, without a stack around it: a method
// by its name in the program, and a line there, -1 for none. Unavailable when ctx ends first.
func (c *Client) Method(ctx context.Context, mapping symbol.ID, class, method string, line int) symbol.Answer {
	return c.Line(ctx, mapping, &report.Managed{Class: class, Method: method, Line: line, Lined: true, Filed: true})
}

// Line answers one line of Java or Kotlin from a mapping, without a stack around it. Unavailable when ctx ends
// first.
func (c *Client) Line(ctx context.Context, mapping symbol.ID, m *report.Managed) symbol.Answer {
	t := report.Thread{Frames: []report.Frame{{Managed: m}}}
	class, err := c.classesOf(ctx, mapping, &t)
	if why := (*lookup.ClassError)(nil); errors.As(err, &why) {
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
func (c *Client) classesOf(ctx context.Context, mapping symbol.ID, t *report.Thread) (func(string) *retrace.Class, error) {
	names := retrace.Classes(t, nil)
	classes, err := c.RenamedClasses(ctx, mapping, names)
	if err != nil {
		return nil, err
	}
	return (&classesByName{names: names, classes: classes}).class, nil
}
