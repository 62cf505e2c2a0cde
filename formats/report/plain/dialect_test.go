package plain_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/plain"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, plain.Dialect,
		reporttest.Fixture{Name: "named", Frames: 2, Text: "libcart.so 0x1f3a\nlibcart.so +0x20\n"},
		reporttest.Fixture{Name: "bare", Frames: 2, Options: report.Options{Artifacts: []string{"libcart.so"}}, Text: "0x1f3a\n0x20\n"},
	)
}
