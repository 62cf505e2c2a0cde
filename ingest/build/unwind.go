package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build/callframes"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row/loads"
)

// maxUnwindWarnings is how many places of damaged call frame information a load names.
const maxUnwindWarnings = 5

// unwinding reads the call frame information of an artifact, once, also where the load is encoded twice. Damage costs no more
// than it hides.
type unwinding struct {
	b         *Builder
	format    *formats.Format
	of        *formats.Artifact
	canonical string
	ruleBytes int64 // that its rules may take

	reading  chan error // what begin's goroutine ends with; nil: there is none
	stop     context.CancelFunc
	frames   *callframes.Sorter // nil: it was not read
	broken   uint32
	warnings []string
}

// isLeftOut reports whether the load gets no call frame information.
func (w *unwinding) isLeftOut() bool { return w.of.Unwind == nil || w.b.NoUnwind }

// begin reads the call frame information in a goroutine, while the caller does something else before addTo.
func (w *unwinding) begin(ctx context.Context) {
	if w.isLeftOut() || w.frames != nil {
		return
	}
	ctx, w.stop = context.WithCancel(ctx)
	w.reading = make(chan error, 1)
	go func() { w.reading <- w.read(ctx) }()
}

// end waits for begin's goroutine.
func (w *unwinding) end() error {
	err := <-w.reading
	w.reading = nil
	w.stop()
	return err
}

// addTo adds the call frame information to the rows of a load. fresh reports whether it was read just now.
func (w *unwinding) addTo(ctx context.Context, enc *loads.Encoder) (fresh bool, err error) {
	if w.isLeftOut() {
		return false, nil
	}
	switch {
	case w.reading != nil:
		fresh, err = true, w.end()
	case w.frames == nil:
		fresh, err = true, w.read(ctx)
	}
	if err != nil {
		return true, err
	}
	rules := w.frames.Rules()
	err = w.frames.Each(ctx, func(g symbol.UnwindRange) error { return enc.AddUnwind(g, rules) })
	if left := w.frames.Left + enc.UnwindLeft(); left > 0 {
		w.warn(fmt.Sprintf("%d ranges of call frame information are left out: they break limits, or are malformed", left))
	}
	return fresh, err
}

// read sorts what the parser says.
func (w *unwinding) read(ctx context.Context) error {
	b := w.b
	w.frames = callframes.New(callframes.Options{Budget: b.Budget, Scratch: b.Scratch, Disk: b.Disk, Limits: b.Limits, RuleBytes: w.ruleBytes})
	within, ended := b.Tally.Begin(ctx, report.StageUnwind, w.canonical)
	var q symbol.Quality
	var ours error // the sorter's
	err := mapped(func() error {
		return formats.Guard(w.format.Name, func() (err error) {
			q, err = w.of.Unwind(within, func(u *symbol.Unwind) error {
				if ours == nil {
					ours = w.frames.Add(u)
				}
				if ours == nil && ctx.Err() != nil {
					ours = context.Cause(ctx)
				}
				return ours
			})
			return err
		})
	})
	if err != nil && ours == nil && formats.Rejects(err) && !errors.Is(err, bucket.ErrChanged) {
		q.UnitsBroken++
		q.Warnings = append(q.Warnings, err.Error())
		err = nil
	}
	ended(err)
	if err != nil {
		return err
	}
	w.frames.Sort()
	w.broken = q.UnitsBroken
	for _, text := range q.Warnings[:min(len(q.Warnings), maxUnwindWarnings)] {
		w.warn("call frame information: " + text)
	}
	return nil
}

// warn keeps a warning once.
func (w *unwinding) warn(text string) {
	if !slices.Contains(w.warnings, text) {
		w.warnings = append(w.warnings, text)
	}
}

// addQuality adds to a load's quality what its call frame information lacks.
func (w *unwinding) addQuality(q *symbol.Quality) {
	q.UnwindBroken = w.broken
	q.Warnings = slices.Concat(q.Warnings, w.warnings)
	q.Warnings = q.Warnings[:min(len(q.Warnings), outcome.MaxWarnings)]
}

// close gives back what sorted call frame information takes.
func (w *unwinding) close() error {
	if w.reading != nil { // it is not asked for any more
		w.stop()
		w.end()
	}
	if w.frames == nil {
		return nil
	}
	return w.frames.Close()
}
