package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Task is an object that a run is to read, and how far the run is with it. One goroutine at a time
// has it.
type Task struct {
	Source  *CheckedSource
	Entry   bucket.Entry
	URL     string
	Ledger  *catalog.Object // the ledger's entry; nil: none
	Sidecar bool            // a sidecar lies beside it
	Named   bool            // the ledger finds it by its names
	Suspect bool            // it was open when a process died
	Fresh   bool            // the run is to read it: for objects that no listing gave

	// Owed are the obligations that the run derives the object again for, as they stood before it
	// was read. Rederive: an earlier run has counted the object already.
	Owed     []*catalog.Obligation
	Rederive bool

	// Before is the ledger's entry of the time before this run noted its attempt, and Begun says
	// that it did. Seen: the ledger noted an earlier attempt. Heir: this worker had it and died.
	Before *catalog.Object
	Begun  bool
	Seen   bool
	Heir   row.WorkerID

	Alone   bool // the run reads nothing else beside it
	Retries int  // how often it changed while the run read it
}

// Round is a part of a source's objects, compared with the ledger.
type Round struct {
	Tasks    []*Task
	Suspects []*Task           // objects that were open when a process died
	Gone     []*catalog.Object // objects that the source has no longer
	Seen     int               // objects that the source has and the run wants

	more    bool
	partial error // wraps bucket.ErrPartial; nil: nothing is missing
}

// Part moves suspects out of Tasks. A run reads them one at a time, so that the next death has one
// culprit.
func (r *Round) Part() {
	var rest []*Task
	for _, t := range r.Tasks {
		if t.Suspect {
			r.Suspects = append(r.Suspects, t)
		} else {
			rest = append(rest, t)
		}
	}
	r.Tasks = rest
}

// Disputed reports whether the ledger knows of a conflict about an artifact of t's object.
func (t *Task) Disputed(id symbol.ID, member string) bool {
	return t.Ledger != nil && slices.ContainsFunc(t.Ledger.Artifacts, func(a catalog.ObjectArtifact) bool {
		return a.ID == id && a.Member == member && a.Outcome == ledger.OutcomeConflict
	})
}

// metadataNames reads the user metadata that an uploader may set.
func metadataNames(_ string, meta map[string]string) (app, build string) {
	return meta["symlake-app"], meta["symlake-build"]
}

// App finds APP and BUILD of an object: in its user metadata, by names (nil: symlake-app and
// symlake-build), in its sidecar, by its source's pattern. The error is bucket.ErrChanged if the object
// is not the listed one any more.
func (t *Task) App(ctx context.Context, names func(url string, meta map[string]string) (app, build string)) (app, build string, err error) {
	e, meta, err := t.Source.Bucket.Stat(ctx, t.Entry.Key)
	if err != nil {
		return "", "", err
	}
	if e.ETag != t.Entry.ETag {
		return "", "", fmt.Errorf("%s: %w", t.URL, bucket.ErrChanged)
	}
	if names == nil {
		names = metadataNames
	}
	if app, build = names(t.URL, meta); app != "" && build != "" {
		return app, build, nil
	}
	if t.Sidecar {
		if app, build, err = readSidecar(ctx, t.Source.Bucket, t.Entry.Key+SidecarSuffix); err != nil || app != "" {
			return app, build, err
		}
	}
	app, build = t.Source.Names.Find(t.Entry.Key)
	return app, build, nil
}

// readSidecar reads {"app": …, "build": …}. A missing or broken sidecar names nothing.
func readSidecar(ctx context.Context, b bucket.Bucket, key string) (app, build string, err error) {
	e, _, err := b.Stat(ctx, key)
	if errors.Is(err, bucket.ErrNotFound) || err == nil && e.Size > 64<<10 {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return "", "", err
	}
	text, err := io.ReadAll(io.NewSectionReader(r, 0, e.Size))
	if err := errors.Join(err, r.Close()); err != nil {
		return "", "", err
	}
	var form struct{ App, Build string }
	if json.Unmarshal(text, &form) != nil || form.App == "" || form.Build == "" {
		return "", "", nil
	}
	return form.App, form.Build, nil
}

// AppBuild returns APP@BUILD, or "" unless both are known.
func AppBuild(app, build string) string {
	if app == "" || build == "" {
		return ""
	}
	return app + "@" + build
}

// AppNames returns the names that an APP@BUILD gives an artifact with names of its own: file names
// are kept per app.
func AppNames(app string, own []symbol.Name) []symbol.Name {
	if app == "" {
		return nil
	}
	names := []symbol.Name{{Kind: symbol.NameApp, Text: app}}
	for _, n := range own {
		if n.Kind == symbol.NameFile {
			names = append(names, symbol.Name{Kind: symbol.NameApp, Text: app + "/" + n.Text})
		}
	}
	return names
}
