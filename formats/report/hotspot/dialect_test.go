package hotspot_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/hotspot"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, hotspot.Dialect,
		reporttest.Fixture{Name: "log", Frames: 2, Text: "# Java VM: OpenJDK 64-Bit Server VM (17.0.1+12, mixed mode, linux-amd64)\n\nNative frames: (J=compiled Java code)\nC  [libcart.so+0x1f3a]  cart_add+0x1a\nV  [libjvm.so+0x8c4d21]  JavaThread::run()+0x37d  (thread.cpp:1234)\n"},
	)
}
