package sinks

import (
	"bytes"
	"fmt"
)

// Prefix is artifact ‖ load: what a store knows of a key.
type Prefix [PrefixBytes]byte

// Next is the first key above every key with this prefix; nil: there is none.
func (p Prefix) Next() []byte {
	for i := len(p) - 1; i >= 0; i-- {
		p[i]++
		if p[i] != 0 {
			return p[:i+1]
		}
	}
	return nil
}

// Order holds the rows of a batch against what Batch demands of them: each
// load's rows together and ascending. The zero Order has seen none.
type Order struct {
	seen map[Prefix]bool
	at   Prefix
	last []byte // key of the row before; nil: there was none
}

// Add takes the key of the batch's next row, which its maker never changes, and
// reports whether it is the first of its load.
func (o *Order) Add(key []byte) (begins bool, err error) {
	if len(key) < PrefixBytes {
		return false, fmt.Errorf("key %x is shorter than a prefix (%d bytes)", key, PrefixBytes)
	}
	if at := Prefix(key); at != o.at || o.last == nil {
		if o.seen[at] {
			return false, fmt.Errorf("key %x: the rows of its load do not come together", key)
		}
		if o.seen == nil {
			o.seen = make(map[Prefix]bool)
		}
		o.seen[at], o.at = true, at
		begins = true
	} else if bytes.Compare(o.last, key) >= 0 {
		return false, fmt.Errorf("key %x after %x: keys of a load must ascend", key, o.last)
	}
	o.last = key
	return begins, nil
}
