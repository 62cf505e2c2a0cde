// Package gecko answers profiles of the Firefox Profiler, as JSON. Firefox hands out one form. The profiler's page,
// samply and other tools write another, the "processed" profiles. The package reads all versions.
//
// Native frames are addresses from a library's base. In processed profiles from version 38 on, addresses of callers stand in
// their calls. In older ones and in the browser's they are return addresses, but for a sample's own frame.
//
// An answer is what the profiler's own symbolication makes: functions with a file, native symbols, lines of frames, and for inlined
// functions frames of their own with an inline depth, for which stacks get rows. Frames of scripts become places in their
// sources: as original locations where the version has them, else in the place of the script's. The browser's form
// has one text for a frame, "f (in library) (file:line)". All members and columns that the package does not know stay, and so do all
// numbers as they are spelled.
//
// The profile is read three times and never held: its tables are kept as numbers, its samples and markers are streamed.
package gecko

import (
	"bytes"
	"context"
	"io"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile"
)

// Format is the Firefox Profiler's JSON.
var Format = &profile.Format{
	Name:    "gecko",
	Title:   "Firefox Profiler",
	Endings: []string{".gecko.json", ".profile.json"},
	Media:   []string{"application/vnd.firefox-profile+json"},
	Begins:  begins,
	Answer:  answer,
	Samples: samplesOf,
}

// begins reports whether a profile begins: with a meta that has a version of processing, or with what a browser says of itself.
func begins(head []byte) bool {
	head = bytes.TrimLeft(head, "\ufeff \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	sure := false
	signs := map[string]bool{}
	w := json.Walker{Bytes: head}
	w.Object(func(key string) {
		switch key {
		case "meta":
			w.Object(func(key string) {
				switch key {
				case "preprocessedProfileVersion":
					sure = true
				case "interval", "stackwalk", "processType", "startTime", "abi", "product", "version":
					signs[key] = true
				}
			})
		case "libs":
			text := w.Pos
			w.Skip()
			signs["libs"] = bytes.Contains(head[text:w.Pos], []byte("breakpadId"))
		case "threads":
			text := w.Pos
			w.Skip()
			signs["threads"] = bytes.Contains(head[text:w.Pos], []byte(`"stackTable"`))
		}
	})
	return sure || signs["interval"] && signs["version"] && (signs["stackwalk"] || signs["processType"] || signs["product"]) && (signs["startTime"] || signs["libs"] || signs["threads"]) ||
		signs["libs"] && (signs["threads"] || w.Failed)
}

// answer writes a profile with answers.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	d, err := read(ctx, in, o.Room(), func(d *document) { d.need(false) })
	if err != nil {
		return err
	}
	o.Counts.Samples = d.samples
	if d.damage != nil {
		o.Counts.Keep(reason(d.damage), where(d.at))
	}
	p := &places{room: &room{left: o.Room()}, images: map[string]int32{}, hints: map[place]string{}, words: map[string]string{}}
	all := d.tables()
	for _, t := range all {
		if !t.isFit() {
			if t.named["frameTable"] != nil {
				o.Counts.Keep("a table has columns of other lengths, or is not whole, and stays", "frame table")
			}
			continue
		}
		if t.named["stackTable"] != nil && !t.of("stackTable").isTree(t.of("frameTable")) {
			o.Counts.Keep("stacks refer to themselves, to later ones or to no frame, and get no inlined functions", "stack table")
		}
		p.ofTables(t, &o.Counts)
	}
	if err := p.ask(ctx, o); err != nil {
		return err
	}
	w := &writer{doc: d, plans: map[*tables]*plan{}}
	for _, t := range all {
		if t.isFit() {
			if made := newPlan(t, p, &o.Counts); made != nil {
				w.plans[t] = made
			}
		}
	}
	_, _, err = walk(ctx, in, out, d, w, false)
	return err
}
