package answer

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// sameMapping: two managed lines that name their mapping alike.
func sameMapping(a, b *report.Frame) bool {
	return a.Managed != nil && b.Managed != nil && slices.Equal(a.Image, b.Image)
}

// Tried is one name that was asked for, and what it led to.
type Tried struct {
	Name string
	lookup.Resolution
}

// target is what the frames of one image lead to, as one call sees it.
type target struct {
	tried []Tried // every name that was asked for; the last one is the outcome
	dart  bool    // a snapshot of Dart
	group int32   // of the artifact in the call's batch; -1: not yet
}

// bytes is about the memory that a target holds, without what the caches hold too.
func (t *target) bytes() int64 {
	n := int64(targetRoom + triedRoom*len(t.tried))
	for i := range t.tried {
		tried := &t.tried[i]
		n += int64(len(tried.Name))
		if tried.Err != nil {
			n += int64(len(tried.Err.Error()))
		}
		if tried.Record != nil {
			for _, name := range tried.Record.Names {
				n += int64(len(name.Text)) + ownNameRoom
			}
		}
	}
	return n
}

// is the outcome.
func (t *target) is() *lookup.Resolution { return &t.tried[len(t.tried)-1].Resolution }

// resolved are the targets of a call: hundreds of frames share a few images.
type resolved struct {
	all  map[imageKey]*target
	sets map[string]int // the options that were met, by what they say: keys hold their numbers
	last *Options
	set  int         // of last
	near []nearImage // images that are found without a key; the length is a power of two
}

// mostNear bounds near.
const mostNear = 256

// newResolved makes room for the images of so many frames: one stack has few, and is asked for alone most often.
func newResolved(frames int) resolved {
	return resolved{near: make([]nearImage, min(mostNear, 2<<bits.Len(uint(frames/8))))}
}

// nearImage is an image by the frame that it was found for last.
type nearImage struct {
	f *report.Frame
	o *Options
	t *target
}

// nearSlot is where an image is looked for first.
func nearSlot(f *report.Frame) uint64 {
	h := uint64(len(f.File))
	if len(f.Image) > 0 {
		s := f.Image[0]
		for i := max(0, len(s)-8); i < len(s); i++ { // of a path or an id, the end tells most
			h = h<<7 ^ h>>57 ^ uint64(s[i])
		}
	}
	return h * 0x9E3779B97F4A7C15 >> 56
}

// sameImage: two frames lead to one target. Strings that are one are compared by their address.
func sameImage(f *report.Frame, o *Options, g *report.Frame, p *Options) bool {
	return f.File == g.File && f.Kind == g.Kind && f.Arch == g.Arch && (f.Script == nil) == (g.Script == nil) && (f.Managed == nil) == (g.Managed == nil) &&
		slices.Equal(f.Image, g.Image) && anchorOf(f) == anchorOf(g) &&
		(o == p || o.App == p.App && o.Kind == p.Kind && slices.Equal(o.Artifacts, p.Artifacts))
}

// imageKey is all that an image is found by. It is made without allocating where a frame gives two names at most.
type imageKey struct {
	first, second, others string
	file, arch            string
	kind, platform        symbol.Kind
	script                bool
	managed               bool
	given                 bool // the names come from the options
	anchor                string
	options               int
}

// options gives the number of what a stack's text does not say. All that callers send may be long and is kept once.
func (r *resolved) options(o *Options) int {
	if o == r.last {
		return r.set
	}
	said := strings.Join(o.Artifacts, "\x00") + "\x00\x00" + o.App
	set, known := r.sets[said]
	if !known {
		if r.sets == nil {
			r.sets = map[string]int{}
		}
		set = len(r.sets)
		r.sets[said] = set
	}
	r.last, r.set = o, set
	return set
}

func (r *resolved) keyOf(f *report.Frame, o *Options) imageKey {
	k := imageKey{file: f.File, arch: f.Arch, kind: f.Kind, platform: o.Kind, script: f.Script != nil, managed: f.Managed != nil, anchor: anchorOf(f), options: r.options(o)}
	switch {
	case len(f.Image) > 0 && len(f.Image) == len(o.Artifacts) && &f.Image[0] == &o.Artifacts[0]:
		k.given = true
	case len(f.Image) > 2:
		k.others = strings.Join(f.Image[2:], "\x00")
		fallthrough
	case len(f.Image) == 2:
		k.second = f.Image[1]
		fallthrough
	case len(f.Image) == 1:
		k.first = f.Image[0]
	}
	return k
}

// targetRoom is about the memory of an image, of each name that was tried for it, and of a name in its record.
const (
	targetRoom  = 512
	triedRoom   = 384
	ownNameRoom = 64
)

// image finds the artifact of a frame. The error comes from ctx or its room.
func (c *Client) image(ctx context.Context, f *report.Frame, o *Options, seen *resolved) (*target, error) {
	near := &seen.near[nearSlot(f)&uint64(len(seen.near)-1)]
	if near.t != nil && sameImage(f, o, near.f, near.o) {
		return near.t, nil
	}
	key := seen.keyOf(f, o)
	t, ok := seen.all[key]
	if !ok {
		t = &target{tried: c.try(ctx, f, *o), group: -1}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := room.Take(ctx, t.bytes()); err != nil {
			return nil, err
		}
		if r := t.is(); r.Status == symbol.Found {
			t.dart = r.Record.Published.Artifact.IsDart()
		}
		if seen.all == nil {
			seen.all = map[imageKey]*target{}
		}
		seen.all[key] = t
	}
	*near = nearImage{f, o, t}
	return t, nil
}

// tryKind finds the artifact of a frame, of the frame's kind.
func (c *Client) tryKind(ctx context.Context, f *report.Frame, o Options) (tried []Tried) {
	n := narrowOf(f, o)
	ask := func(name string) lookup.Resolution {
		r := c.Resolve(ctx, name, n)
		if f.Managed == nil && r.Status == symbol.Found && r.Record.Published.Artifact.Kind.HasClasses() {
			r = lookup.Resolution{Status: symbol.NoArtifact, Err: fmt.Errorf("%s holds names, and no positions", name)}
		}
		tried = append(tried, Tried{name, r})
		return r
	}
	ids := slices.DeleteFunc(slices.Clone(f.Image), func(name string) bool { return !lookup.IsContent(strings.ToLower(name)) })
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
			if r := ask(name); r.Record != nil && r.Record.HasName(symbol.NameFile, n.File) {
				return tried
			}
		}
	}
	for _, name := range namesOf(f, n, o) {
		if ask(name).Status != symbol.NoArtifact {
			return tried
		}
	}
	if (f.Script != nil || n.Kind == symbol.Wasm || n.Kind == symbol.SourceMap) && len(f.Image) > 0 { // one map is given for scripts of any name
		for _, name := range o.Artifacts {
			if ask(name).Status != symbol.NoArtifact {
				return tried
			}
		}
	}
	if len(tried) == 0 {
		tried = append(tried, Tried{"", lookup.Resolution{Status: symbol.NoArtifact, Err: errNameless}})
	}
	if last := &tried[len(tried)-1]; last.Status == symbol.NoArtifact {
		last.Err = fileless(f.File, last.Err)
	}
	return tried
}

// narrowOf says of the artifact of a frame what the frame and the options tell beside its names.
func narrowOf(f *report.Frame, o Options) lookup.Narrow {
	n := lookup.Narrow{Kind: f.Kind, Arch: f.Arch, Variants: true, App: o.App, Anchor: anchorOf(f)}
	if n.Kind == "" && f.Managed == nil && f.Script == nil {
		n.Kind = o.Kind
	}
	if f.Script != nil || f.Kind == symbol.SourceMap {
		n.Path = f.File
	}
	if f.File != "" {
		n.File = lookup.FileName(f.File)
	}
	return n
}

// namesOf returns the names to ask for, of a frame without an id of its content.
func namesOf(f *report.Frame, n lookup.Narrow, o Options) []string {
	names := f.Image
	switch {
	case len(names) == 0:
		names = o.Artifacts
	case f.Script != nil && f.File == "": // the frame's names are common: those of the caller come first
		names = slices.Concat(o.Artifacts, names)
	}
	if len(names) == 0 && (f.Managed != nil || n.Anchor != "") && o.App != "" {
		return []string{o.App}
	}
	return names
}

// Reasons of frames that no file has symbols for.
var (
	errNameless = errors.New("the frame names no artifact")
	errKernel   = errors.New("the code is the kernel's: no file has it")
	errMade     = errors.New("the code was made at run time: no file has it")
	errUnknown  = errors.New("the report does not know the file of the frame")
)

// fileless returns the reason why no artifact has an image that is no file; else it returns reason.
func fileless(image string, reason error) error {
	switch {
	case image == "":
		return reason
	case strings.HasPrefix(image, "[vdso"), strings.HasPrefix(image, "[vsyscall"), image == "[vectors]", image == "[sigpage]":
		return errKernel
	case strings.HasPrefix(image, "[anon"), strings.HasPrefix(image, "<anonymous"), strings.HasPrefix(image, "//anon"), image == "[heap]", strings.HasPrefix(image, "[stack"),
		strings.Contains(image, "jit-cache"), strings.Contains(image, "jit-code-cache"), strings.Contains(image, "jit-zygote-cache"):
		return errMade
	case image == "<unknown>", image == "[unknown]", image == "???":
		return errUnknown
	}
	return reason
}

// maxOthers bounds the artifacts that a reason lists.
const maxOthers = 3

// otherBuilds adds the artifacts stored under the image's file name to the reason why nothing is
// stored under its id. Bare frames mostly come from an id that differs.
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
