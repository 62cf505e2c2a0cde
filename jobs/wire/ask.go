package wire

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// Asker turns names and positions as people write them into questions. It remembers what names led to
// until it is dropped. One goroutine.
type Asker struct {
	Client *lookup.Client
	Narrow lookup.Narrow // for names that several artifacts have

	names     map[string]lookup.Resolution
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

// Ask makes a question of a name and a position. The error is of the position's form.
func (q *Asker) Ask(ctx context.Context, artifact, position string) (Question, error) {
	where, err := ParsePosition(position)
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
			return Question{}, fmt.Errorf("position %q: %s is a mapping: want CLASS.METHOD:LINE", position, artifact)
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
	j := NewAnswer(a)
	j.Position = q.Position
	for i, x := range excerpts {
		j.Frames[i].Context = NewContext(x.First, x.Lines)
	}
	if q.Found.Record != nil {
		j.Artifact = q.Found.Record.ID.String()
		if l := q.Found.Record.Published; l != nil {
			j.Load, j.Kind = fmt.Sprintf("%x", l.Load), l.Artifact.Kind
		}
	}
	return j
}

// Excerpts gives the source of each frame, up to around lines before and behind its own, where there is any; 0: none.
func (q *Question) Excerpts(ctx context.Context, client *lookup.Client, frames []symbol.Frame, around uint32) ([]lookup.Excerpt, error) {
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
