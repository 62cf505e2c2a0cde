package query

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// outFile is the file that --output names. It has its name when it is whole.
type outFile struct {
	*os.File
	path string // "": it has its name already: a pipe, a terminal
	done bool
}

// createOut opens the output.
func createOut(path string) (*outFile, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("open output: %w", err)
		}
		return &outFile{File: f}, nil
	}
	dir, base := filepath.Split(path)
	f, err := os.CreateTemp(dir, base+".*.part")
	if err != nil {
		return nil, fmt.Errorf("create output: %w", err)
	}
	if err := f.Chmod(0o644); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &outFile{File: f, path: path}, nil
}

// commit gives the output its name.
func (o *outFile) commit() error {
	if o.done {
		return nil
	}
	o.done = true
	err := o.Close()
	if err == nil && o.path != "" {
		err = os.Rename(o.Name(), o.path)
	}
	if err != nil && o.path != "" {
		os.Remove(o.Name())
	}
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// abort removes an uncommitted output; after commit it does nothing.
func (o *outFile) abort() {
	if o.done {
		return
	}
	o.done = true
	o.Close()
	if o.path != "" {
		os.Remove(o.Name())
	}
}
