package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/scratch"
)

// open opens an input: the object itself, or a member of it. An error that condemns the input alone
// is noted, not returned.
func (x *object) open(ctx context.Context, in *formats.Input, member string, depth int) (err error) {
	if in.Limits == nil {
		in.Limits = x.b.Limits
	}
	f, obj, err := formats.Open(ctx, x.b.Formats, in)
	if f != nil {
		x.NoteParser(f.Name, f.Version)
	}
	if err != nil {
		return x.reject(ctx, symbol.ID{}, member, err)
	}
	if f == nil {
		if member == "" {
			x.NoteUnknown(discover.Versions(x.b.Formats))
		}
		return nil
	}
	if obj == nil {
		return fmt.Errorf("%s: %s gives no object", in.Name, f.Name)
	}
	defer func() {
		err = errors.Join(err, closeObject(f, obj))
	}()
	if err := x.rightBuild(f, obj, depth); err != nil {
		return x.reject(ctx, symbol.ID{}, member, err)
	}
	var builds []string
	for i := range obj.Artifacts {
		a := &obj.Artifacts[i]
		builds = append(builds, companions.BuildKeys(a.Names)...)
		if err := x.artifact(ctx, f, a, member); err != nil {
			return err
		}
	}
	if obj.Members == nil {
		if len(obj.Artifacts) == 0 {
			x.holdsNothing(obj, member)
		}
		if x.Task.Rederive {
			return nil
		}
		return x.b.Waits.Bring(ctx, x.Object, in.Name, obj.Companions, builds, x.b.DryRun)
	}
	if member == "" {
		x.NoteReason(ledger.ReasonEmpty)
	}
	if depth >= in.Limits.Nesting {
		return x.reject(ctx, symbol.ID{}, member, &formats.Error{Format: f.Name, Offset: int64(depth), Want: "fewer archives inside archives", Err: formats.ErrLimit})
	}
	var ours error // an error that is not the archive's fault
	err = formats.Guard(f.Name, func() error {
		return obj.Members(ctx, func(m *formats.Input) error {
			if m.Spool == nil {
				m.Spool = in.Spool
			}
			inner := strings.TrimPrefix(strings.TrimPrefix(m.Name, in.Name), "!")
			if member != "" {
				inner = member + "!" + inner
			}
			ours = x.open(ctx, m, inner, depth+1)
			if ours == nil {
				ours = ctx.Err()
			}
			return ours
		})
	})
	if ours != nil {
		return ours
	}
	if err != nil {
		return x.reject(ctx, symbol.ID{}, member, err)
	}
	return nil
}

// rightBuild returns an error if the source was asked for a build by its id and gave another one.
func (x *object) rightBuild(f *formats.Format, obj *formats.Object, depth int) error {
	by, is := x.Task.Source.Bucket.(bucket.ByBuildID)
	if !is || depth > 0 {
		return nil
	}
	id := by.BuildID(x.Task.Entry.Key)
	isBuild := func(n symbol.Name) bool { return n.Kind == symbol.NameBuildID && n.Text == id }
	right := obj.Members == nil
	for i := range obj.Artifacts {
		right = right && slices.ContainsFunc(obj.Artifacts[i].Names, isBuild)
	}
	if len(obj.Artifacts) == 0 {
		right = right && (len(obj.Companions) == 0 || slices.ContainsFunc(obj.Companions, func(c string) bool { return companions.BuildID(c) == id }))
	}
	if id == "" || right {
		return nil
	}
	return &formats.Error{Format: f.Name, Section: "build-id", Want: "the build " + id + " that was asked for", Err: formats.ErrCorrupt}
}

// holdsNothing notes why an object, or a member with a note, has no artifact.
func (x *object) holdsNothing(obj *formats.Object, member string) {
	part := len(obj.Companions) > 0 || strings.HasPrefix(obj.Note, ledger.ReasonCompanion)
	switch {
	case member != "" && obj.Note != "" && !part:
		x.NoteArtifact(catalog.ObjectArtifact{Member: member, Outcome: ledger.OutcomeSkipped, Error: obj.Note})
	case member != "":
	case obj.Note != "":
		x.NoteReason(obj.Note)
	case part:
		x.NoteReason(ledger.ReasonCompanion)
	default:
		x.NoteReason(ledger.ReasonEmpty)
	}
	if part && member == "" {
		x.ForgetMissed()
	}
}

func closeObject(f *formats.Format, obj *formats.Object) error {
	if obj.Close == nil {
		return nil
	}
	return formats.Guard(f.Name, obj.Close)
}

// reject notes an error that condemns an input, and returns any other. A file that was changed under
// the parser is not to blame.
func (x *object) reject(ctx context.Context, id symbol.ID, member string, err error) error {
	if errors.Is(err, scratch.ErrDisk) {
		if !x.Task.Alone {
			return err // other objects may have the space that it needs
		}
		err = &formats.Error{Format: "ingest", Section: "limits.disk", Want: fmt.Sprintf("at most %d bytes of scratch files", x.b.DiskBytes), Err: formats.ErrLimit}
	}
	if !formats.Rejects(err) || errors.Is(err, bucket.ErrChanged) {
		return err
	}
	if serr := x.unchanged(ctx); serr != nil {
		return serr
	}
	x.NoteArtifact(catalog.ObjectArtifact{ID: id, Member: member, Outcome: ledger.OutcomeRejected, Error: err.Error()})
	return nil
}

// unchanged checks that the object still is the listed one: another process may have written over a
// mapped file while it was read.
func (x *object) unchanged(ctx context.Context) error {
	e, _, err := x.Task.Source.Bucket.Stat(ctx, x.Task.Entry.Key)
	if err != nil {
		return err
	}
	if e.ETag != x.Task.Entry.ETag {
		return fmt.Errorf("%s: %w", x.Task.URL, bucket.ErrChanged)
	}
	return nil
}
