package sample

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
)

// answering answers a text as the report that it is, one document after the other: a process with its images.
type answering struct {
	ctx       context.Context
	o         *profile.Options
	w         *bufio.Writer
	documents []report.Document
	bound     int // of a document's bytes

	document *report.Document // that is being read; nil: none
	follow   report.Follower
	held     []byte

	known map[string][]symbol.Frame // answers, by place; nil: there is none
	room  int64                     // for more of them
}

// answer writes a text with answers, as the report has them.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	a := &answering{ctx: ctx, o: o, w: bufio.NewWriterSize(out, 64<<10), bound: int(min(report.MaxDocumentBytes, o.Room()/8)), known: map[string][]symbol.Frame{}, room: o.Room() / 4}
	if i := slices.IndexFunc(all.Dialects, func(d report.Dialect) bool { return d.Name == "apple" }); i >= 0 {
		a.documents = all.Dialects[i].Documents
	}
	var count reader
	err := each(ctx, in, func(line []byte, begins bool) error {
		if begins {
			if err := count.line(trimmed(line)); err != nil {
				return err
			}
		}
		return a.line(line, begins)
	})
	if err == nil {
		err = count.up(0)
	}
	if o.Counts.Samples = count.sums[0]; o.Counts.Samples == 0 {
		o.Counts.Samples = count.sums[1]
	}
	if err == nil && a.document != nil {
		err = a.end()
	}
	if err != nil {
		return err
	}
	return a.w.Flush()
}

// line takes a line to the document that it belongs to.
func (a *answering) line(b []byte, begins bool) error {
	if a.document != nil {
		e := a.follow(b)
		switch {
		case len(a.held)+len(b) > a.bound:
			a.o.Counts.Keep(fmt.Sprintf("a process takes more than %d bytes of text: its images are found by name alone", a.bound), "")
		case e == report.EndsHere:
			a.held = append(a.held, b...)
			return a.end()
		case e == report.GoesOn:
			a.held = append(a.held, b...)
			return nil
		}
		if err := a.end(); err != nil {
			return err
		}
	}
	for i := range a.documents {
		d := &a.documents[i]
		if !begins || d.Read == nil || !d.Begins(trimmed(b)) {
			continue
		}
		follow := d.Follow()
		e := follow(b)
		if e == report.EndedBefore {
			continue
		}
		a.document, a.follow, a.held = d, follow, append(a.held[:0], b...)
		if e == report.EndsHere {
			return a.end()
		}
		return nil
	}
	_, err := a.w.Write(b)
	return err
}

// end answers the document at hand, and writes it.
func (a *answering) end() error {
	made := a.document.Read(a.held, report.Options{Frame0: a.o.Frame0})
	a.document, a.follow = nil, nil
	if made == nil {
		_, err := a.w.Write(a.held)
		return err
	}
	made.Text = a.held
	for _, u := range made.Unread {
		a.o.Counts.Keep(u.Why, "")
	}
	if err := a.ask(made); err != nil {
		return err
	}
	answers := make([][]symbol.Answer, len(made.Threads))
	for t := range made.Threads {
		frames := made.Threads[t].Frames
		answers[t] = make([]symbol.Answer, len(frames))
		for i := range frames {
			if found := a.known[place(&frames[i])]; found != nil && !isAnswered(made, &frames[i]) {
				answers[t][i] = symbol.Answer{Status: symbol.Found, Frames: found}
			}
		}
	}
	return report.Print(a.w, made, answers)
}

// ask asks for the places of a document that were not asked for yet.
func (a *answering) ask(made *report.Report) error {
	var questions []report.Frame
	for t := range made.Threads {
		for _, f := range made.Threads[t].Frames {
			key := place(&f)
			_, known := a.known[key]
			switch {
			case len(f.Image) == 0:
				continue
			case isAnswered(made, &f):
				a.o.Counts.Named++
				continue
			case known:
				continue
			}
			if a.room -= int64(2*len(key) + 128); a.room < 0 {
				a.o.Counts.Keep("the text has more places than memory holds, and the last frames stay", "frames")
				continue
			}
			a.known[key] = nil
			questions = append(questions, f)
		}
	}
	return a.o.Look(a.ctx, questions, func(i int, found *symbol.Answer) {
		if found.Status != symbol.Found || len(found.Frames) == 0 {
			return
		}
		for k := range found.Frames {
			f := &found.Frames[k]
			a.room -= int64(len(f.Function) + len(f.Linkage) + len(f.File) + 128)
		}
		if a.room < 0 {
			a.o.Counts.Keep("the names take more than memory holds, and the last frames stay", "frames")
			return
		}
		a.known[place(&questions[i])] = slices.Clone(found.Frames)
	})
}

// place tells one place from another.
func place(f *report.Frame) string {
	return fmt.Sprintf("%q %q %d %x %x", f.Image, f.File, f.At.Space, f.At.Value, f.At.Load)
}

// isAnswered reports whether a frame is as answers are written.
func isAnswered(made *report.Report, f *report.Frame) bool {
	read, ok := parseFrame(made.FrameText(f))
	return ok && read.answered
}
