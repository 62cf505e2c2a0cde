// Package profile answers profiles: it finds the places that a profile knows by an address, an obfuscated name or a
// column, has each looked up once, and writes the profile again in its own form, with names.
//
// It is syntax only. The caller looks places up, by [Options].Ask and [Options].Classes. The formats are the packages
// below this one, and [Answer] selects one by the first bytes of an input.
//
// Invariants:
//   - all that a format does not understand stays as it came, and is counted in [Counts] by its reason;
//   - a place is asked for once, however many samples lead to it;
//   - memory is bounded by [Options].Memory for any size of input;
//   - damage ends the reading behind it, never before it: the rest of the profile is copied, and counted.
package profile

import (
	"context"
	_ "embed"
	"io"

	"github.com/symlake/symlake/formats/samples"
)

// README is the document of this folder. The command line prints it as a help topic.
//
//go:embed README.md
var README string

// HeadBytes of an input are looked at to tell its format.
const HeadBytes = 64 << 10

// Format is one form of profiles. It is a value without state.
type Format struct {
	Name  string // of its folder
	Title string // in documents and messages: "pprof"
	// Endings of file names ask for the form: ".pb.gz". The first is the usual one.
	Endings []string
	// Media are the media types by which a request or an answer names the form.
	Media []string
	// Begins reports whether an input may begin with head, up to HeadBytes of it, uncompressed. It must be sure: many
	// inputs are reports or method traces.
	Begins func(head []byte) bool
	// Answer writes a profile with answers. The error is ctx's, of reading, of writing or of Options.Ask, or a *formats.Error
	// that says why the profile cannot be read at all.
	Answer func(ctx context.Context, in *Input, out io.Writer, o *Options) error
	// Appends: Answer writes only what goes behind the bytes of the profile, which it reads once from start to end.
	Appends bool
	// Report: the form is a report of stacks too, which is answered as text unless another form is asked for.
	Report bool
	// Samples reads the samples of a profile with the names that it has. Nil: it has none in common with others.
	Samples func(ctx context.Context, in *Input, to *samples.Profile) error
	// Write writes samples as a profile of the form, packed if the form always is. Nil: nothing is converted to it.
	Write func(out io.Writer, from *samples.Profile) error
}

// Find returns the first format that head may begin; nil: none.
func Find(list []*Format, head []byte) *Format {
	for _, f := range list {
		if f.Begins != nil && f.Begins(head) {
			return f
		}
	}
	return nil
}
