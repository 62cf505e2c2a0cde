// Package upstream tells a decoder's two kinds of trouble apart: that its
// input could not be read, which is no fault of the object's, and that what
// was read is no sound stream.
package upstream

import "io"

// Reader is what a decoder reads from. N is how much it has read, in bytes. Err is the last failure of R, nil if
// there was none: when it is set, whatever the decoder says of the data is not to be believed.
type Reader struct {
	R   io.Reader
	N   int64
	Err error
}

// Read reads from R. The end of R is no failure.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.R.Read(p)
	r.N += int64(n)
	if err != nil && err != io.EOF {
		r.Err = err
	}
	return n, err
}
