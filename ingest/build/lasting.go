package build

import (
	"fmt"
	"runtime/debug"

	"github.com/symlake/symlake/sinks/bucket"
)

// lasting reports whether the strings of runs last until the load is encoded: the object is open so
// long, but the lake keeps strings longer.
func (e *encoding) lasting() bool { return e.of.Lasting && e.x.b.Publisher.Lake == nil }

// mapped calls f, which reads strings that may lie in a mapped file. The error is bucket.ErrChanged if
// the file became shorter meanwhile.
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
