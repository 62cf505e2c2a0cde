package dart_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/dart"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, dart.Dialect,
		reporttest.Fixture{Name: "trace", Frames: 2, Text: "Unhandled exception:\naa: type 'b' is not a subtype of type 'c<d>'\n*** *** ***\npid: 1, tid: 2, name x\nos: android arch: arm64 comp: yes sim: no\nbuild_id: 'abcdef0123456789'\nisolate_dso_base: 1000, vm_dso_base: 1000\nisolate_instructions: 2000, vm_instructions: 1000\n    #00 abs 3010 virt 2010 _kDartIsolateSnapshotInstructions+0x1010\n<asynchronous suspension>\n    #01 abs 1030 virt 30 _kDartVmSnapshotInstructions+0x30\n"},
		reporttest.Fixture{Name: "crash", Frames: 2, Text: "isolate_instructions=7baa7a6a40, vm_instructions=7baa790000\n  pc 0x0000007baa845768 fp 0x0000007fd0 sp 0x0000007fc0 _kDartIsolateSnapshotInstructions+0x9ed28\n  pc 0x7b00001234 fp 0x7fd0 sp 0x10 /data/app/lib/libflutter.so+0x1234\n"},
		reporttest.Fixture{Name: "list", Frames: 2, Text: "_kDartIsolateSnapshotInstructions+0x9ed27\nlibapp.so _kDartVmSnapshotInstructions+0x10\n"},
		reporttest.Fixture{Name: "addresses", Frames: 2, Options: report.Options{Artifacts: []string{"a"}, IsolateStart: 0x1000, VMStart: 0x500}, Text: "0x1234\n0x600\n"},
	)
}
