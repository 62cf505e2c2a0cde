package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/bucket"
)

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
