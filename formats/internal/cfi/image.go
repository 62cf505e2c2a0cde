package cfi

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats"
)

// ImageID returns the id by which a debug file asks for its image, and by which an image with call frame information is known.
func ImageID(canonical string) string { return "image:" + canonical }

// FromImage adds to t what the image of a debug file says. It asks for files of the names beside first, then for the image's id. read
// adds what a file says, and reports whether the file is an image of the right build. A damaged image is as good as a missing one.
func FromImage(ctx context.Context, in *formats.Input, canonical string, beside []string, t *Table, read func(*formats.Input) (bool, error)) error {
	if in.Companion == nil {
		return nil
	}
	asks := make([]formats.Ref, 0, len(beside)+1)
	for _, name := range beside {
		asks = append(asks, formats.Ref{Name: name, Optional: true})
	}
	for _, want := range append(asks, formats.Ref{ID: ImageID(canonical)}) {
		image, err := in.Companion(ctx, want)
		if errors.Is(err, formats.ErrNoCompanion) {
			continue
		}
		if err != nil {
			return err
		}
		found, err := read(image)
		if t.Err() == nil && formats.Rejects(err) {
			err = nil
		}
		if image.Release != nil {
			err = errors.Join(err, image.Release())
		}
		if found || err != nil {
			return err
		}
	}
	return nil
}
