package hbase

import (
	"errors"

	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// store is one namespace of one HBase.
type store struct {
	address
	c        *client.Client
	w        *writer
	readOnly bool
}

var errReadOnly = errors.New("store was opened for reading only")
