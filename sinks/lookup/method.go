package lookup

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
)

// Method is one question to a mapping: a frame alone, without the lines around it.
type Method struct {
	Artifact symbol.ID
	Class    string // as it stands in the program
	Name     string // the method's; "": the class alone is asked for
	Line     int    // -1: none
}

// Methods answers frames of renamed code, each as if it stood alone. out is called in the order asked, on this
// goroutine. A Found answer without frames has no place in the source. The only error is ctx's.
func (c *Client) Methods(ctx context.Context, qs []Method, out func(i int, a symbol.Answer)) error {
	for start := 0; start < len(qs); {
		n := 1
		for start+n < len(qs) && qs[start+n].Artifact == qs[start].Artifact {
			n++
		}
		if err := c.methods(ctx, qs[start:start+n], start, out); err != nil {
			return err
		}
		start += n
	}
	return nil
}

// methods answers questions to one mapping.
func (c *Client) methods(ctx context.Context, qs []Method, first int, out func(i int, a symbol.Answer)) error {
	names := make([]string, len(qs))
	for i := range qs {
		names[i] = qs[i].Class
	}
	classes, err := c.mapped(ctx, qs[0].Artifact, names)
	var why *ClassError
	switch {
	case errors.As(err, &why):
		for i := range qs {
			out(first+i, symbol.Answer{Status: why.Status, Err: why.Err})
		}
		return nil
	case err != nil:
		return err
	}
	frame := []stack.Frame{{}}
	answer := make([]symbol.Answer, 1)
	for i, q := range qs {
		frame[0].Managed = &stack.Managed{Class: q.Class, Method: q.Name, Line: q.Line, Lined: q.Line >= 0}
		answer[0] = symbol.Answer{}
		retrace.Retrace(&stack.Thread{Frames: frame}, func(name string) *retrace.Class {
			if name == q.Class {
				return classes[i]
			}
			return nil
		}, retrace.Options{}, answer)
		out(first+i, answer[0])
	}
	return nil
}
