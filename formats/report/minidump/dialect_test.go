package minidump_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/minidump"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, minidump.Dialect,
		reporttest.Fixture{Name: "text", Frames: 2, Text: "Operating system: Linux\nCPU: amd64\n\nThread 0 (crashed)\n 0  libcart.so + 0x228fe\n    rip = 0x00005586cb3368fe   rsp = 0x00007ffd5f6ec6d0\n    Found by: given as instruction pointer in context\n 1  shop + 0x10\n    rip = 0x00005586cb314010   rsp = 0x00007ffd5f6ec6e0\n\nLoaded modules:\n0x5586cb314000 - 0x5586cb315fff  shop  ???  (main)\n"},
		reporttest.Fixture{Name: "fields", Frames: 2, Text: "OS|Linux|6.8.0\nCPU|amd64|family 6|4\nModule|libcart.so||libcart.so|3605900A74E7316CAE5BD3D3916D09000|0x1|0x2|1\n\n0|0|libcart.so||||0x228fe\n0|1|libcart.so||||0x10\n"},
		reporttest.Fixture{Name: "json", Frames: 2, Text: "{\"system_info\":{\"cpu_arch\":\"arm64\",\"os\":\"Linux\"},\"modules\":[{\"filename\":\"libcart.so\",\"debug_id\":\"3605900A74E7316CAE5BD3D3916D09000\"}],\n\"threads\":[{\"frames\":[{\"module\":\"libcart.so\",\"module_offset\":\"0x47d4\",\"offset\":\"0x7047d4\"},\n{\"module\":\"libcart.so\",\"module_offset\":\"0x10\",\"offset\":\"0x700010\"}]}]}\n"},
	)
}
