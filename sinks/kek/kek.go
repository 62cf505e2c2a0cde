// Package kek holds key-encryption keys.
package kek

import (
	"errors"

	"github.com/symlake/symlake/sinks"
)

var errSkeleton = errors.New("not written yet")

func CreateKeyset(path string) error            { return errSkeleton }
func OpenKeyset(path string) (sinks.KEK, error) { return nil, errSkeleton }
func Ephemeral() sinks.KEK                      { return nil }
