package event_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/event"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, event.Dialect,
		reporttest.Fixture{Name: "bugsnag", Frames: 2, Text: "{\"events\":[{\"exceptions\":[{\"stacktrace\":[{\"isPC\":true,\"machoUUID\":\"4C4C44D8-5555-3144-A18C-9D79E6BF39EA\",\"machoFile\":\"/a/game\",\"frameAddress\":\"0x104a3004c\",\"machoLoadAddress\":\"0x104a2c000\"},\n{\"machoUUID\":\"4C4C44D8-5555-3144-A18C-9D79E6BF39EA\",\"machoFile\":\"/a/game\",\"frameAddress\":\"0x104a30050\",\"machoLoadAddress\":\"0x104a2c000\"}]}]}]}\n"},
		reporttest.Fixture{Name: "sentry", Frames: 2, Text: "{\"exception\":{\"values\":[{\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x104a30050\",\"package\":\"/a/game\"},\n{\"instruction_addr\":\"0x104a3004c\",\"package\":\"/a/game\"}]}}]},\n\"debug_meta\":{\"images\":[{\"type\":\"macho\",\"debug_id\":\"4c4c44d8-5555-3144-a18c-9d79e6bf39ea\",\"image_addr\":\"0x104a2c000\",\"image_size\":65536,\"code_file\":\"/a/game\"}]}}\n"},
		reporttest.Fixture{Name: "sentry wasm", Frames: 4, Text: sentryModules},
		reporttest.Fixture{Name: "datadog", Frames: 2, Text: "{\"error\":{\"stack\":\"0   game\\t0x0000000104a3004c 0x104a2c000 + 16460\\n1   game\\t0x0000000104a30050 0x104a2c000 + 16464\\n\",\n\"binary_images\":[{\"uuid\":\"4C4C44D8-5555-3144-A18C-9D79E6BF39EA\",\"name\":\"game\",\"load_address\":\"0x104a2c000\",\"max_address\":\"0x104a3bfff\",\"arch\":\"arm64\"}]}}\n"},
		reporttest.Fixture{Name: "scripts", Frames: 1, Text: "{\"x\":1,\n\"frames\":[{\"filename\":\"a.js\",\"lineno\":1,\"colno\":\"2\",\"function\":\"f\"}]}\n"},
		reporttest.Fixture{Name: "java", Frames: 2, Text: "{\"platform\":\"java\",\"exception\":{\"values\":[{\"type\":\"s.c\",\"stacktrace\":{\"frames\":[{\"module\":\"s.b\",\"function\":\"a\",\"filename\":\"SourceFile\",\"lineno\":8}]}}]}}\n"},
	)
}
