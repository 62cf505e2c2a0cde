package parquet

import "io"

// counted counts what is written. After an error it writes nothing more.
type counted struct {
	w   io.Writer
	n   *int64
	err error
}

func (c *counted) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(b)
	*c.n += int64(n)
	c.err = err
	return n, err
}
