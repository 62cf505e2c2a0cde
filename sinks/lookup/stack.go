package lookup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
)

// StackOptions say what a stack's text does not.
type StackOptions struct {
	// Artifacts are names to ask for where a frame gives no id of its own:
	// of these, the one with the frame's file name; the first that is stored, if the frame has none.
	Artifacts []string
	// App is APP@BUILD: it narrows file names.
	App string
}

// Stack answers the frames of a stack, [thread][frame]. Each frame's artifact is
// found by the names it gives, best first. An id decides: where it is not
// stored, no artifact of the same file name answers in its place. The only
// error is ctx's.
func (c *Client) Stack(ctx context.Context, s *stack.Stack, o StackOptions) ([][]symbol.Answer, error) {
	answers := make([][]symbol.Answer, len(s.Threads))
	var qs []Query
	var to []*symbol.Answer
	var lines managed
	seen := resolved{}
	var tables []Query // of frames whose positions count from a place that their map tells
	var shifted []int  // of qs
	for t := range s.Threads {
		frames := s.Threads[t].Frames
		answers[t] = make([]symbol.Answer, len(frames))
		var r Resolution
		for i := range frames {
			var err error
			if i == 0 || !sameMapping(&frames[i-1], &frames[i]) {
				r, _, err = c.image(ctx, &frames[i], o, seen)
			}
			if err != nil {
				return nil, err
			}
			lines.lost = lines.lost || frames[i].Managed != nil && r.Status != symbol.Found
			if r.Status != symbol.Found {
				answers[t][i] = symbol.Answer{Status: r.Status, Err: r.Err}
				continue
			}
			if frames[i].Managed != nil {
				lines.add(t, i, r.Record.ID)
				continue
			}
			if via, ok := tableOf(&frames[i], r.Record); ok {
				tables = append(tables, via)
				shifted = append(shifted, len(qs))
			}
			qs = append(qs, Query{r.Record.ID, frames[i].At})
			to = append(to, &answers[t][i])
		}
	}
	if err := c.shift(ctx, tables, shifted, qs); err != nil {
		return nil, err
	}
	err := c.Frames(ctx, qs, func(i int, a symbol.Answer) { *to[i] = a })
	if err != nil {
		return nil, err
	}
	if err := c.retrace(ctx, s, &lines, answers); err != nil {
		return nil, err
	}
	return answers, nil
}

// sameMapping: two managed lines that name their mapping alike.
func sameMapping(a, b *stack.Frame) bool {
	return a.Managed != nil && b.Managed != nil && slices.Equal(a.Image, b.Image)
}

// Tried is one name that was asked for, and what it led to.
type Tried struct {
	Name string
	Resolution
}

// resolved are the outcomes of one stack's names: hundreds of frames share a
// few images.
type resolved map[string][]Tried

// image finds the artifact of a frame. tried holds every name asked for; the
// last one is the outcome. The error is ctx's.
func (c *Client) image(ctx context.Context, f *stack.Frame, o StackOptions, seen resolved) (Resolution, []Tried, error) {
	key := strings.Join(f.Image, "\x00") + "\x00\x00" + f.File + "\x00" + f.Arch
	tried, ok := seen[key]
	if !ok {
		tried = c.try(ctx, f, o)
		if err := ctx.Err(); err != nil {
			return Resolution{}, nil, err
		}
		seen[key] = tried
	}
	return tried[len(tried)-1].Resolution, tried, nil
}

func (c *Client) try(ctx context.Context, f *stack.Frame, o StackOptions) (tried []Tried) {
	n := Narrow{Kind: f.Kind, Arch: f.Arch, App: o.App}
	if f.Script != nil {
		n.Path = f.File
	}
	if f.File != "" {
		n.File = fileName(f.File)
	}
	ask := func(name string) Resolution {
		r := c.Resolve(ctx, name, n)
		tried = append(tried, Tried{name, r})
		return r
	}
	ids := slices.DeleteFunc(slices.Clone(f.Image), func(name string) bool { return !isContent(strings.ToLower(name)) })
	if len(ids) > 0 {
		for _, name := range ids {
			if ask(name).Status != symbol.NoArtifact {
				return tried
			}
		}
		last := &tried[len(tried)-1]
		last.Err = c.otherBuilds(ctx, n.File, last.Err)
		return tried
	}
	if n.File != "" {
		for _, name := range o.Artifacts {
			if r := ask(name); r.Record != nil && hasName(r.Record, symbol.NameFile, n.File) {
				return tried
			}
		}
	}
	names := f.Image
	if len(names) == 0 {
		names = o.Artifacts
	}
	if len(names) == 0 && f.Managed != nil && o.App != "" {
		names = []string{o.App}
	}
	for _, name := range names {
		if ask(name).Status != symbol.NoArtifact {
			return tried
		}
	}
	if f.Script != nil && len(f.Image) > 0 { // one map is given for scripts of any name
		for _, name := range o.Artifacts {
			if ask(name).Status != symbol.NoArtifact {
				return tried
			}
		}
	}
	if len(tried) == 0 {
		tried = append(tried, Tried{"", unresolved(lacking(symbol.NoArtifact, "the frame names no artifact"))})
	}
	return tried
}

// maxOthers bounds the artifacts that a reason lists.
const maxOthers = 3

// otherBuilds adds to the reason why nothing is stored under an id what is
// stored under the image's file name: an id that differs is what most people
// whose frames stay bare are looking for.
func (c *Client) otherBuilds(ctx context.Context, file string, reason error) error {
	if file == "" || reason == nil {
		return reason
	}
	same := c.sameFile(ctx, file)
	if len(same) == 0 {
		return fmt.Errorf("%w; nothing is stored under the name %q either", reason, file)
	}
	var others []string
	for _, s := range same[:min(len(same), maxOthers)] {
		others = append(others, fmt.Sprintf("%s (%s, from %s)", s.Canonical, s.Arch, s.Object))
	}
	if more := len(same) - len(others); more > 0 {
		others = append(others, fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w; under the name %q is stored: %s", reason, file, strings.Join(others, ", "))
}
