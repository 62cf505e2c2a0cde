package swift_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/reporttest"
	"github.com/symlake/symlake/formats/report/swift"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, swift.Dialect,
		reporttest.Fixture{Name: "text", Frames: 2, Text: "*** Program crashed: Bad pointer dereference at 0x0 ***\n\nPlatform: x86_64 Linux (Ubuntu 24.04)\n\nThread 0 crashed:\n\n0               0x000055e8f46101ab f(_:) + 12 in shop at /src/main.swift:12:11\n1 [ra]          0x000055e8f4561e85 main + 3 in shop\n\nImages (1 omitted):\n\n0x000055e8f43ce000–0x000055e8f46f16d8 8619e777abcdef01 shop /home/u/shop\n"},
		reporttest.Fixture{Name: "json", Frames: 2, Text: "{\"kind\": \"crashReport\", \"faultAddress\": \"0x0\", \"platform\": \"Linux\", \"architecture\": \"x86_64\",\n\"threads\": [{\"crashed\": true, \"frames\": [{\"kind\": \"programCounter\", \"address\": \"0x55e8f46101ab\"},\n{\"kind\": \"returnAddress\", \"address\": \"0x55e8f4561e85\"}]}],\n\"images\": [{\"name\": \"shop\", \"buildId\": \"8619e777abcdef01\", \"path\": \"/home/u/shop\", \"baseAddress\": \"0x55e8f43ce000\", \"endOfText\": \"0x55e8f46f16d8\"}]}\n"},
	)
}
