package pqfile

import "io"

// Counted counts what is written. After an error it writes nothing more.
type Counted struct {
	W   io.Writer
	N   *int64
	Err error
}

func (c *Counted) Write(b []byte) (int, error) {
	if c.Err != nil {
		return 0, c.Err
	}
	n, err := c.W.Write(b)
	*c.N += int64(n)
	c.Err = err
	return n, err
}
