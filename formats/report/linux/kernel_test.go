package linux

import (
	"testing"

	"github.com/symlake/symlake/formats/report"
)

func TestNoKernelLine(t *testing.T) {
	for _, text := range []string{"+0x10/0x90", "f+0x91/0x90", "f+0x10/0x9z", "f+0x10 0x90", "load at 0x10+0x20"} {
		var f report.Found
		if findKernel([]byte(text), false, &f) {
			t.Errorf("%q is %+v", text, f.Place)
		}
	}
}
