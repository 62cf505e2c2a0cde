//go:build !linux

package newfile

import (
	"errors"
	"os"
)

func unnamed(string, os.FileMode) (*os.File, error) { return nil, nil }

func link(*os.File, string) error { return errors.ErrUnsupported }
