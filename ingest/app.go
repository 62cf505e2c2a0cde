package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks/bucket"
)

// appOf finds APP and BUILD of an object: metadata, sidecar, pattern.
func (j *job) appOf(ctx context.Context, t *task) (app, build string, err error) {
	e, meta, err := t.src.Bucket.Stat(ctx, t.entry.Key)
	if err != nil {
		return "", "", err
	}
	if e.ETag != t.entry.ETag {
		return "", "", fmt.Errorf("%s: %w", t.url, bucket.ErrChanged)
	}
	if app, build = j.o.Names(t.url, meta); app != "" && build != "" {
		return app, build, nil
	}
	if t.sidecar {
		if app, build, err = readSidecar(ctx, t.src.Bucket, t.entry.Key+sidecar); err != nil || app != "" {
			return app, build, err
		}
	}
	app, build = t.src.Knows.Find(t.entry.Key)
	return app, build, nil
}

// readSidecar reads {"app": …, "build": …}. One that is gone or broken names nothing.
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

// allNames are the names of an artifact of x: its own, and those of the app.
func (x *object) allNames(a *symbol.Artifact) []symbol.Name {
	return append(slices.Clone(a.Names), record.AppNames(x.app, a.Names)...)
}
