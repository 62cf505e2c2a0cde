package goruntime_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/goruntime"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, goruntime.Dialect,
		reporttest.Fixture{Name: "panic", Frames: 3, Options: report.Options{Artifacts: []string{"shop"}}, Text: "panic: x\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4896b5]\n\ngoroutine 1 [running]:\nmain.add(0x1)\n\t/src/cart.go:20 +0x15\nmain.main()\n\t/src/main.go:9 +0x25\n\ngoroutine 7 [chan receive]:\ncreated by main.g in goroutine 1\n\t/src/main.go:30 +0x40\n"},
	)
}
