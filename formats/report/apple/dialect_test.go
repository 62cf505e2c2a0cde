package apple_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/apple"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, apple.Dialect,
		reporttest.Fixture{Name: "crash report", Frames: 2, Text: "Incident Identifier: 1\nCode Type: ARM-64\n\nThread 0 name:  main\nThread 0 Crashed:\n0   game   0x0000000104a3004c 0x104a2c000 + 16460\n1   game   0x0000000104a30050 game + 16464\n\nBinary Images:\n0x104a2c000 - 0x104a3bfff game arm64  <4c4c44d855553144a18c9d79e6bf39ea> /var/game\n"},
		reporttest.Fixture{Name: "lines", Frames: 2, Text: "0   game   0x0000000104a3004c 0x104a2c000 + 16460 (f + 1)\n1   lib   0x00007fff349f505e f(int) + 250\n"},
		reporttest.Fixture{Name: "ips", Frames: 2, Text: "{\"cpuType\":\"ARM-64\",\"threads\":[{\"frames\":[{\"imageOffset\":16,\"imageIndex\":0},\n{\"imageOffset\":32,\"imageIndex\":0,\"symbol\":\"f\"}]}],\n\"usedImages\":[{\"base\":4096,\"size\":4096,\"uuid\":\"4c4c44d8-5555-3144-a18c-9d79e6bf39ea\",\"path\":\"/a/game\"}]}\n"},
		reporttest.Fixture{Name: "kscrash", Frames: 1, Text: "{\"binary_images\":[{\"image_addr\":4096,\"image_size\":4096,\"name\":\"/a/game\",\"uuid\":\"4c4c44d8-5555-3144-a18c-9d79e6bf39ea\"}],\"crash\":{\"error\":{\"type\":\"nsexception\"},\"threads\":[{\"crashed\":true,\"backtrace\":{\"contents\":[{\"instruction_addr\":4112,\"object_addr\":4096}]}}]}}\n"},
		reporttest.Fixture{Name: "metrickit", Frames: 2, Text: "{\"callStackPerThread\":true,\"callStacks\":[{\"callStackRootFrames\":[{\"binaryUUID\":\"4C4C44D8-5555-3144-A18C-9D79E6BF39EA\",\"offsetIntoBinaryTextSegment\":16,\"binaryName\":\"game\",\"address\":4112,\n\"subFrames\":[{\"binaryUUID\":\"4C4C44D8-5555-3144-A18C-9D79E6BF39EA\",\"offsetIntoBinaryTextSegment\":32,\"binaryName\":\"game\",\"address\":4128}]}]}]}\n"},
		reporttest.Fixture{Name: "sample", Frames: 2, Text: "Heaviest stack for the target process:\n  18  ??? (game + 16460) [0x104a3004c]\n  18  ??? (game + 16464) [0x104a30050]\n\nBinary Images:\n0x104a2c000 - 0x104a3bfff game (1.0) <4c4c44d855553144a18c9d79e6bf39ea> /var/game\n"},
	)
}
