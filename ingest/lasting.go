package ingest

import (
	"fmt"
	"runtime/debug"

	"github.com/symlake/symlake/sinks/bucket"
)

// lasting reports whether the strings of runs are there as long as anybody wants them: the object is open until it is
// encoded, but the lake keeps strings longer.
func (e *encoding) lasting() bool { return e.of.Lasting && e.x.j.o.Lake == nil }

// mapped calls f, which reads strings that may lie in a mapped file. It is bucket.ErrChanged when the file became
// shorter meanwhile.
func mapped(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if fault, ok := v.(interface{ Addr() uintptr }); ok {
			err = fmt.Errorf("read a name at %#x: %w", fault.Addr(), bucket.ErrChanged)
		} else if v != nil {
			panic(v)
		}
	}()
	return f()
}
