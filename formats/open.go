package formats

import (
	"context"
	"errors"
	"io"
)

// Open finds the first format of list that knows the input and opens it under Guard. It returns
// nil, nil, nil if no format knows the input, and the error of an input with Err.
func Open(ctx context.Context, list []*Format, in *Input) (*Format, *Object, error) {
	if in.Err != nil {
		return nil, nil, in.Err
	}
	if in.Size > in.Limits.ObjectBytes {
		return nil, nil, tooLarge(in)
	}
	var head []byte
	err := Guard("object", func() (err error) {
		head, err = in.head()
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, f := range list {
		var known bool
		var obj *Object
		// Detect too: head may be a view of a file that is cut short meanwhile.
		err := Guard(f.Name, func() (err error) {
			if known = f.Detect(in.Name, head); !known {
				return nil
			}
			if in.Fetch != nil {
				if err := in.Fetch(ctx); err != nil {
					return err
				}
				if in.Size > in.Limits.ObjectBytes {
					return tooLarge(in)
				}
			}
			obj, err = f.Open(ctx, in)
			return err
		})
		if known || err != nil {
			return f, obj, err
		}
	}
	return nil, nil, nil
}

// head is what Detect is shown.
func (in *Input) head() ([]byte, error) {
	n := min(in.Size, HeadBytes)
	if in.Mapped != nil {
		return in.Mapped[:n:n], nil
	}
	head := make([]byte, n)
	got, err := in.Bytes.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return head[:got], nil
}

func tooLarge(in *Input) error {
	return &Error{Format: "object", Section: "limits.object", Offset: in.Limits.ObjectBytes, Want: "a smaller object", Err: ErrLimit}
}
