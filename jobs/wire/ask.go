package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
)

// Asker turns names and positions as people write them into questions. It remembers what names led to
// until it is dropped. One goroutine.
type Asker struct {
	Client *answer.Client
	Narrow lookup.Narrow // for names that several artifacts have

	names     map[string]lookup.Resolution
	kinds     map[string]symbol.Kind // for Check; "": nothing is found
	functions map[anchor]function
}

// Question is one position of an artifact.
type Question struct {
	Found    lookup.Resolution
	Position string // as given
	// Query is to be asked, unless Answer is set.
	Query  lookup.Query
	Answer *symbol.Answer
}

// anchor is a function that positions are counted from.
type anchor struct {
	artifact symbol.ID
	name     string
}

// function is what the client found for an anchor.
type function struct {
	starts []uint64
	answer symbol.Answer
}

// CheckPosition returns an error where a text is no position of any artifact.
func CheckPosition(position string) error {
	_, err := symbol.ParseWhere(position)
	if _, isMethod := ParseMethod(position); isMethod {
		return nil
	}
	return err
}

// Check returns the error that Ask would have, and answers nothing.
func (q *Asker) Check(ctx context.Context, artifact, position string) error {
	_, err := symbol.ParseWhere(position)
	_, isMethod := ParseMethod(position)
	if err != nil && !isMethod {
		return err
	}
	kind, known := q.kinds[artifact]
	if !known {
		if r := q.Client.Resolve(ctx, artifact, q.Narrow); r.Status == symbol.Found {
			kind = r.Record.Published.Artifact.Kind
		}
		if q.kinds == nil {
			q.kinds = map[string]symbol.Kind{}
		}
		q.kinds[artifact] = kind
	}
	switch {
	case kind == symbol.R8 && !isMethod:
		return errNoMethod(artifact, position)
	case kind != symbol.R8 && kind != "":
		return err
	}
	return nil
}

func errNoMethod(artifact, position string) error {
	return fmt.Errorf("position %q: %s is a mapping: want CLASS.METHOD:LINE", position, artifact)
}

// Ask makes a question of a name and a position. The error is of the position's form.
func (q *Asker) Ask(ctx context.Context, artifact, position string) (Question, error) {
	where, err := symbol.ParseWhere(position)
	method, isMethod := ParseMethod(position)
	if err != nil && !isMethod {
		return Question{}, err
	}
	r, known := q.names[artifact]
	if !known {
		r = q.Client.Resolve(ctx, artifact, q.Narrow)
		if q.names == nil {
			q.names = map[string]lookup.Resolution{}
		}
		q.names[artifact] = r
	}
	if r.Status == symbol.Found && r.Record.Published.Artifact.Kind == symbol.R8 {
		if !isMethod {
			return Question{}, errNoMethod(artifact, position)
		}
		a := q.Client.Method(ctx, r.Record.ID, method.Class, method.Name, method.Line)
		return Question{Found: r, Position: position, Answer: &a}, nil
	}
	if err != nil {
		if r.Status == symbol.Found {
			return Question{}, err
		}
		where = symbol.Where{} // nothing is asked
	}
	if r.Status == symbol.Found && where.Space == symbol.Anchored {
		r, where = q.anchored(ctx, r, where)
	}
	if r.Status != symbol.Found {
		return Question{Found: r, Position: position, Answer: &symbol.Answer{Status: r.Status, Err: r.Err}}, nil
	}
	return Question{Found: r, Position: position, Query: lookup.Query{Artifact: r.Record.ID, Where: where}}, nil
}

// anchored makes a place counted from a function one counted from the image
// base. Symbols that runtimes count from, and sections, are in the record
// and stay as they are.
func (q *Asker) anchored(ctx context.Context, r lookup.Resolution, w symbol.Where) (lookup.Resolution, symbol.Where) {
	if _, known := r.Record.Published.Artifact.Anchors[w.Anchor]; known {
		return r, w
	}
	key := anchor{r.Record.ID, w.Anchor}
	f, known := q.functions[key]
	if !known {
		f.starts, f.answer = q.Client.Function(ctx, key.artifact, key.name)
		if q.functions == nil {
			q.functions = map[anchor]function{}
		}
		q.functions[key] = f
	}
	switch {
	case f.answer.Status != symbol.Found:
		r.Status, r.Err = f.answer.Status, f.answer.Err
	case len(f.starts) == 1:
		w = symbol.Where{Space: symbol.Position, Value: f.starts[0] + w.Value}
	case len(f.starts) > 1:
		r.Status = symbol.Ambiguous
		r.Err = fmt.Errorf("%q begins at %d places, the first of them +%#x and +%#x", w.Anchor, len(f.starts), f.starts[0], f.starts[1])
	}
	return r, w
}

// Of puts the answer to a question into words. excerpts, where there are any, are the sources of its frames.
func (q *Question) Of(a symbol.Answer, excerpts []lookup.Excerpt) Answer {
	j, head := NewAnswer(a), q.Head()
	j.Artifact, j.Load, j.Kind, j.Position = head.Artifact, head.Load, head.Kind, head.Position
	for i, x := range excerpts {
		j.Frames[i].Context = NewContext(x.First, x.Lines)
	}
	return j
}

// Write writes the answer to a question as an element, what Of makes of it. context, if it is not nil, reads the source
// of a frame; its error comes back, and so does the writer's.
func (q *Question) Write(j *JSON, a *symbol.Answer, context func(f *symbol.Frame) (lookup.Excerpt, error)) error {
	var said error
	var source func(j *JSON, f *symbol.Frame)
	if context != nil {
		source = func(j *JSON, f *symbol.Frame) {
			if said != nil || j.Err() != nil {
				return
			}
			x, err := context(f)
			if said = err; err != nil || len(x.Lines) == 0 {
				return
			}
			j.Begin("context", '{')
			j.Value("first", func(to []byte) []byte { return strconv.AppendUint(to, uint64(x.First), 10) })
			j.Begin("lines", '[')
			for _, line := range x.Lines {
				j.String("", line)
			}
			j.End()
			j.End()
		}
	}
	j.Begin("", '{')
	j.Members(func(to []byte) []byte {
		head := q.Head()
		for _, m := range [...][2]string{{"artifact", head.Artifact}, {"load", head.Load}, {"kind", string(head.Kind)}, {"position", head.Position}} {
			if m[1] != "" {
				to = append(append(AppendString(to, m[0]), ':'), AppendString(nil, m[1])...)
				to = append(to, ',')
			}
		}
		return appendStatus(to, a)
	})
	writeChains(j, a, source)
	j.End()
	return errors.Join(said, j.Err())
}

// Head returns the members that every answer to a question has: artifact, load, kind and position.
func (q *Question) Head() (j Answer) {
	j.Position = q.Position
	if q.Found.Record != nil {
		j.Artifact = q.Found.Record.ID.String()
		if l := q.Found.Record.Published; l != nil {
			j.Load, j.Kind = fmt.Sprintf("%x", l.Load), l.Artifact.Kind
		}
	}
	return j
}

// Excerpts gives the source of each frame, up to around lines before and behind its own, where there is any; 0: none.
func (q *Question) Excerpts(ctx context.Context, client *answer.Client, frames []symbol.Frame, around uint32) ([]lookup.Excerpt, error) {
	if around == 0 || len(frames) == 0 {
		return nil, nil
	}
	excerpts := make([]lookup.Excerpt, len(frames))
	for i, f := range frames {
		var err error
		if excerpts[i], err = client.Excerpt(ctx, q.Found.Record.ID, f.File, f.Line, around); err != nil {
			return nil, err
		}
	}
	return excerpts, nil
}
