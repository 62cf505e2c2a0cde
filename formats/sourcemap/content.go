package sourcemap

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
)

// texts emits sourcesContent: of the packager's map, where that is what the map's answers name.
func (o *object) texts(ctx context.Context, emit func(file string, text []byte) error) (err error) {
	in, l := o.in, o.layout
	if l.IsCompilers() {
		found, below, err := findPackagers(ctx, in, l)
		if err != nil {
			return err
		}
		if found != nil {
			if found.Release != nil {
				defer func() { err = errors.Join(err, found.Release()) }()
			}
			in, l = found, below
		}
	}
	read := func(l *mapfile.Layout, _, _ mapfile.Position) error { return mapTexts(ctx, in, l, emit) }
	err = l.Each(mapfile.Position{}, end, read)
	for i := 0; i < len(l.Segments) && err == nil; i++ {
		err = l.Segments[i].Layout.Each(mapfile.Position{}, end, read)
	}
	return err
}

// mapTexts emits the texts of one map.
func mapTexts(ctx context.Context, in *formats.Input, l *mapfile.Layout, emit func(file string, text []byte) error) error {
	if l.Content == (mapfile.Span{}) {
		return nil
	}
	e := newEmitter(ctx, in.Limits, 0, nil)
	t := json.NewReader(mapfile.Name, in, 0)
	w, err := e.readFiles(t, l)
	if err != nil {
		return err
	}
	t.Section = "sourcesContent"
	t.SeekTo(l.Content.From)
	return t.Array(0, func(i int) error {
		if t.Null() {
			return nil
		}
		if i >= len(w.sources) || w.sources[i] == 0 {
			return mapfile.SkipText(t, true)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := t.Text(in.Limits.SourceBytes)
		if errors.Is(err, formats.ErrLimit) {
			return nil // it was passed over
		}
		if err != nil {
			return err
		}
		return emit(e.run.Strings[w.sources[i]], text)
	})
}
