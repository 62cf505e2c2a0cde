// Package profiles answers profiles from a store, for the command symbolicate and for the server.
//
// Package formats/profile and the folders below it read and write profiles. This package asks for their places.
package profiles

import (
	"context"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
)

// Options of an Asker.
type Options struct {
	Artifacts []string // names for places and classes that name none
	App       string   // APP@BUILD: it narrows file names, and names a mapping for classes
	All       bool     // without both: all mappings of the store have classes
	Kind      symbol.Kind
	Frame0    report.Frame0
	Memory    int64                           // of a format, in bytes; 0: profile.MemoryBytes
	Scratch   func() (profile.Scratch, error) // nil: formats stay within Memory
	// Open returns the client. The first place or class needs it; a profile with names needs none.
	Open func() (c *answer.Client, close func() error, err error)
	// Used, unless nil, is called with each artifact of a place.
	Used func(symbol.ID)
	// Asked, unless nil, is called with each pile of places, when its answers have been taken.
	Asked func(r *report.Report, answers [][]symbol.Answer) error
}

// Asker answers the questions of profiles. One goroutine.
type Asker struct {
	Options
	client *answer.Client
	end    func() error
	given  *mapping // that the options name; nil: not resolved yet
	images map[string]*mapping
	counts *profile.Counts
}

// New returns an asker. Close ends it.
func New(o Options) *Asker { return &Asker{Options: o, images: map[string]*mapping{}} }

// Close closes what Open opened.
func (a *Asker) Close() error {
	if a.end == nil {
		return nil
	}
	return a.end()
}

// Profile returns the options by which a format asks. They are for one profile.
func (a *Asker) Profile() *profile.Options {
	o := &profile.Options{Ask: a.ask, Classes: a.classes, Mapped: a.mapped, Frame0: a.Frame0, Memory: a.Memory, Scratch: a.Scratch}
	a.counts = &o.Counts
	return o
}

// open makes the client.
func (a *Asker) open() (err error) {
	if a.client == nil {
		a.client, a.end, err = a.Open()
	}
	return err
}

// pileFrames are looked up at once: names are resolved once for all of them, and blocks read once.
const pileFrames = 8 << 10

// ask looks frames up.
func (a *Asker) ask(ctx context.Context, frames []report.Frame, answered func(i int, a *symbol.Answer)) error {
	if len(frames) == 0 {
		return nil
	}
	if err := a.open(); err != nil {
		return err
	}
	o := answer.Options{Artifacts: a.Artifacts, App: a.App, Kind: a.Kind, Used: a.Used}
	pile := &report.Report{Form: &form}
	for from := 0; from < len(frames); from += pileFrames {
		pile.Threads = threads(pile.Threads[:0], frames[from:min(len(frames), from+pileFrames)])
		answers, err := a.client.Stack(ctx, pile, o)
		if err != nil {
			return err
		}
		i := from
		for t := range answers {
			for k := range answers[t] {
				answered(i, &answers[t][k])
				i++
			}
		}
		if a.Asked != nil {
			if err := a.Asked(pile, answers); err != nil {
				return err
			}
		}
	}
	return nil
}

// form is the form of the reports that places are asked by.
var form = report.Form{Name: "profile"}

// threads cuts frames into threads. Java's retracing reads a thread as one stack, so each of its lines has one for itself.
func threads(to []report.Thread, frames []report.Frame) []report.Thread {
	from := 0
	for i := range frames {
		if frames[i].Managed == nil {
			continue
		}
		if i > from {
			to = append(to, report.Thread{Frames: frames[from:i]})
		}
		to = append(to, report.Thread{Frames: frames[i : i+1]})
		from = i + 1
	}
	if from < len(frames) {
		to = append(to, report.Thread{Frames: frames[from:]})
	}
	return to
}
