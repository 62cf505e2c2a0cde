package sourcemap

import (
	"context"
	"errors"
	"unsafe"

	"github.com/symlake/symlake/formats"
)

// texts emits sourcesContent: of the packager's map, where that is what the map's answers name.
func (o *object) texts(ctx context.Context, emit func(file string, text []byte) error) (err error) {
	in, l := o.in, o.layout
	if l.isCompilers() {
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
	read := func(l *layout, _, _ position) error { return mapTexts(ctx, in, l, emit) }
	err = l.each(position{}, end, read)
	for i := 0; i < len(l.segments) && err == nil; i++ {
		err = l.segments[i].layout.each(position{}, end, read)
	}
	return err
}

// mapTexts emits the texts of one map.
func mapTexts(ctx context.Context, in *formats.Input, l *layout, emit func(file string, text []byte) error) error {
	if l.content == (span{}) {
		return nil
	}
	e := newEmitter(ctx, in.Limits, 0, nil)
	t := newText(name, in, 0)
	w, err := e.readFiles(t, l)
	if err != nil {
		return err
	}
	t.section = "sourcesContent"
	t.seek(l.content.from)
	return t.array(0, func(i int) error {
		if t.null() {
			return nil
		}
		if i >= len(w.sources) || w.sources[i] == 0 {
			return skipText(t, true)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := t.string(in.Limits.SourceBytes)
		if errors.Is(err, formats.ErrLimit) {
			return nil // it was passed over
		}
		if err != nil {
			return err
		}
		return emit(e.run.Strings[w.sources[i]], unsafe.Slice(unsafe.StringData(text), len(text)))
	})
}
