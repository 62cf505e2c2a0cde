package formats

import (
	"context"
	"errors"
	"io"
)

// Open finds the first format of list that knows the input and opens it under
// Guard. Nobody knows it: nil, nil, nil.
func Open(ctx context.Context, list []*Format, in *Input) (*Format, *Object, error) {
	if in.Size > in.Limits.ObjectBytes {
		return nil, nil, &Error{Format: "object", Offset: in.Limits.ObjectBytes, Want: "a smaller object", Err: ErrLimit}
	}
	head := make([]byte, min(in.Size, HeadBytes))
	if n, err := in.Bytes.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	} else {
		head = head[:n]
	}
	for _, f := range list {
		if !f.Detect(in.Name, head) {
			continue
		}
		var obj *Object
		err := Guard(f.Name, func() (err error) {
			obj, err = f.Open(ctx, in)
			return err
		})
		return f, obj, err
	}
	return nil, nil, nil
}
