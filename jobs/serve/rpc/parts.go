package rpc

import (
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/serve/protocol"
	"github.com/symlake/symlake/jobs/serve/symlakev1"
	"github.com/symlake/symlake/jobs/wire"
)

// partBytes of an answer go in one message: far below the 4 MiB that callers of gRPC take by default.
const partBytes = 256 << 10

// parts is the answer to one raw stack on its way.
type parts struct {
	o              protocol.Options
	to             *stream
	records, texts bool

	out    *symlakev1.SymbolicateResponse
	size   int64  // of the records in out
	text   []byte // that waits
	number uint32 // of the next stack
	total  int64  // bytes that went
	counts wire.Summary
}

// Forms chooses records, text, or both.
func (p *parts) Forms(records, text bool) { p.records, p.texts = records, text }

// Add takes the answers of one stack.
func (p *parts) Add(d *report.Report, answers [][]symbol.Answer) error {
	p.counts.Add(d, answers)
	if p.records && wire.Says(d, answers) {
		if err := p.stack(d, answers); err != nil {
			return err
		}
		p.number++
	}
	if p.texts {
		return report.Print(p, d, answers)
	}
	return nil
}

// stack adds the records of a stack.
func (p *parts) stack(d *report.Report, answers [][]symbol.Answer) error {
	out := p.begin(d)
	for t := range d.Threads {
		thread := &symlakev1.Thread{Number: uint32(t)}
		out.Threads = append(out.Threads, thread)
		for f := range d.Threads[t].Frames {
			frame, a := &d.Threads[t].Frames[f], &answers[t][f]
			if wire.Silent(frame, a) {
				continue
			}
			if p.size >= partBytes {
				if err := p.send(true); err != nil {
					return err
				}
				out, thread = p.begin(d), &symlakev1.Thread{Number: uint32(t)}
				out.Threads = append(out.Threads, thread)
			}
			said := answer(a)
			said.Raw = Text(string(d.FrameText(frame)))
			thread.Frames = append(thread.Frames, said)
			p.size += int64(proto.Size(said))
		}
		p.size += 8
	}
	return nil
}

// begin begins a stack, or goes on with it in another part.
func (p *parts) begin(d *report.Report) *symlakev1.Stack {
	out := &symlakev1.Stack{Number: p.number, Format: Text(d.Format())}
	p.out.Stacks = append(p.out.Stacks, out)
	p.size += int64(len(out.Format)) + 8
	return out
}

// Write takes some of the text.
func (p *parts) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		take := min(partBytes, len(b))
		p.text = append(p.text, b[:take]...)
		b = b[take:]
		if len(p.text) >= partBytes {
			if err := p.send(true); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// whole is how much of text ends with a whole character, or with bytes that are none.
func whole(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if utf8.RuneStart(text[len(text)-n]) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}

// End sends the last part, with the counts.
func (p *parts) End() error {
	p.counts.End()
	p.counts.Describe(all.Dialects)
	p.out.Summary = summary(&p.counts)
	p.size += int64(proto.Size(p.out.Summary))
	return p.send(false)
}

// summary returns counts as a message.
func summary(s *wire.Summary) *symlakev1.Summary {
	out := &symlakev1.Summary{Recognized: uint32(s.Recognized), Answered: uint32(s.Answered), Looks: Text(s.Looks), Nearest: Text(s.Nearest)}
	for _, u := range s.Unanswered {
		out.Unanswered = append(out.Unanswered, &symlakev1.Unanswered{Frames: uint32(u.Frames), Image: Text(u.Image), Status: u.Status, Reason: Text(u.Reason)})
	}
	for _, u := range s.Unread {
		part := &symlakev1.Unread{Frames: uint32(u.Frames), Path: Text(u.Path), Reason: Text(u.Reason)}
		for _, m := range u.Members {
			part.Members = append(part.Members, Text(m))
		}
		out.Unread = append(out.Unread, part)
	}
	return out
}

// Fail sends a failure as the last part.
func (p *parts) Fail(s *protocol.Status) error {
	p.drop()
	p.out.Failure = &symlakev1.Failure{Code: uint32(code(s.Code)), Reason: Text(s.Reason), Retry: s.After > 0}
	return p.send(false)
}

// drop forgets what has not gone.
func (p *parts) drop() {
	p.out, p.size, p.text = &symlakev1.SymbolicateResponse{}, 0, nil
}

// send sends a part.
func (p *parts) send(more bool) error {
	end := len(p.text)
	if more {
		end = whole(p.text)
	}
	out, rest := p.out, append([]byte(nil), p.text[end:]...)
	out.Index, out.More, out.Text = p.o.Index, more, Text(string(p.text[:end]))
	if p.total += p.size + int64(end); p.total > p.o.Limit && out.Failure == nil {
		return p.o.Err
	}
	p.drop()
	p.text = rest
	return p.o.Send(more, func() error { return p.to.s.Send(&message{send: out}) })
}
