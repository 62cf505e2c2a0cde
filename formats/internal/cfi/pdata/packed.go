package pdata

import "github.com/symlake/symlake/formats/internal/pefile"

// packed adds the rules of a function of ARM64 with unwind information in the function table itself. A part of a function has
// neither prolog nor epilog.
func (r *reader) packed(fn *pefile.Function, part bool) (want string, err error) {
	p := packedARM64{
		floats: int64(fn.Unwind >> 13 & 7), integers: int64(fn.Unwind >> 16 & 15), homed: fn.Unwind>>20&1 == 1,
		link: fn.Unwind >> 21 & 3, frame: int64(fn.Unwind>>23) * 16,
	}
	var ok bool
	if r.ops, ok = p.steps(r.ops[:0]); !ok {
		return "packed unwind information that a prolog has", nil
	}
	r.work -= int64(len(r.ops))
	q := sequence{ops: r.ops, own: len(r.ops), back: 4}
	if part {
		q.own = 0
	}
	e := emitter{r: r, fn: fn, end: uint64(fn.End - fn.Start)}
	if want, err = e.prolog(q); want != "" || err != nil || part {
		if want == "" && err == nil {
			err = e.finish()
		}
		return want, err
	}
	n := e.length(q)
	if p.homed {
		n -= 16
		q.unhome()
	}
	if n <= e.end {
		if want, err = e.epilog(e.end-n, q); want != "" || err != nil {
			return want, err
		}
	}
	return "", e.finish()
}

// unhome leaves out the instructions that store arguments, which no epilog undoes: the stack pointer moves with the rest.
func (q sequence) unhome() {
	for i := range q.ops {
		if o := &q.ops[i]; i+3 < len(q.ops) && *o == alloc(0) && q.ops[i+1] == alloc(0) && q.ops[i+2] == alloc(0) {
			for j := i; j < i+4; j++ {
				q.ops[j].quiet = true
			}
			return
		}
	}
}
