package rpc

import (
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/serve/symlakev1"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// answer returns an answer in the form that is sent, with the members that package wire gives every answer.
func answer(a *symbol.Answer) *symlakev1.Answer {
	out := &symlakev1.Answer{Status: string(a.Status), Retry: a.Status.Retry(), Frames: frames(a.Frames)}
	if a.Status != symbol.Found {
		out.Reason = Text(a.Reason())
	}
	for _, chain := range a.Or {
		out.Alternatives = append(out.Alternatives, &symlakev1.Chain{Frames: frames(chain)})
	}
	return out
}

// answers are the answers to a look-up.
type answers struct{ out symlakev1.LookupResponse }

// Add adds the answer to a question.
func (as *answers) Add(q *wire.Question, a *symbol.Answer, source []lookup.Excerpt) int64 {
	out, head := answer(a), q.Head()
	out.Artifact, out.Load, out.Kind, out.Position = head.Artifact, head.Load, string(head.Kind), Text(head.Position)
	for i, x := range source {
		if len(x.Lines) == 0 {
			continue
		}
		out.Frames[i].Context = &symlakev1.Context{First: x.First}
		for _, line := range x.Lines {
			out.Frames[i].Context.Lines = append(out.Frames[i].Context.Lines, Text(line))
		}
	}
	as.out.Answers = append(as.out.Answers, out)
	return int64(proto.Size(out))
}

func frames(all []symbol.Frame) []*symlakev1.Frame {
	out := make([]*symlakev1.Frame, len(all))
	for i := range all {
		f := &all[i]
		out[i] = &symlakev1.Frame{Function: Text(f.Readable()), Linkage: Text(f.Linkage), File: Text(f.File), Line: f.Line, Column: f.Column,
			Name: Text(f.Name), Ignored: f.Ignored, CompiledFunction: Text(f.Compiled)}
	}
	return out
}

// Text returns s as UTF-8, which protobuf wants of its strings: each byte of another encoding becomes U+FFFD, as in the
// JSON of package wire.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
