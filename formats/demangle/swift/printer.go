package swift

import (
	"strconv"
)

// printer writes a tree in one of the two forms.
type printer struct {
	*tree
	out         []byte
	max         int // bytes of out
	steps       int // left
	nested      int // names inside names
	simple      bool
	where       bool // show the requirements of signatures
	specialized bool // the simplified form says so once
	failed      bool // a bound was met, or the tree makes no sense
}

func (p *printer) put(s string) {
	p.out = append(p.out, s...)
	if len(p.out) > p.max {
		p.failed = true
	}
}

func (p *printer) putNumber(n uint64) { p.out = strconv.AppendUint(p.out, n, 10) }
