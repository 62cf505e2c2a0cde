package android_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/android"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, android.Dialect,
		reporttest.Fixture{Name: "tombstone", Frames: 3, Text: "*** *** *** *** *** *** *** ***\nABI: 'arm64'\npid: 1, tid: 2, name: x  >>> y <<<\nbacktrace:\n      #00 pc 00000000000047d4  /data/app/base.apk!libcart.so (offset 0x1c4000) (BuildId: 564bb6c8)\n      #01 pc 0000000000005000  /apex/lib64/libc.so (f+4)\n--- --- --- --- --- ---\npid: 1, tid: 3, name: z  >>> y <<<\n      #00 pc 0000000000005000  /apex/lib64/libc.so\n"},
		reporttest.Fixture{Name: "history of memory tags", Frames: 3, Text: "*** *** *** *** *** *** *** ***\nABI: 'arm64'\npid: 1, tid: 2, name: x  >>> y <<<\nbacktrace:\n      #00 pc 00000000000047d4  /data/app/libcart.so (BuildId: 564bb6c8)\nstack_record fp:0x7ff0 tag:0xa1 pc:/data/app/libcart.so+0x47d4 (BuildId: 564bb6c8)\nstack_record fp:0x7ff8 tag:0xa2 pc:/apex/lib64/libc.so+0x5000\n"},
		reporttest.Fixture{Name: "log", Frames: 2, Text: "02-03 10:11:12.313  4300  4300 F DEBUG   :       #00 pc 00000000000047d4  /data/libcart.so (BuildId: 564bb6c8)\n02-03 10:11:12.313  4300  4300 F DEBUG   :       #01 pc 0000000000005000  /apex/lib64/libc.so\n"},
		reporttest.Fixture{Name: "traces of ART", Frames: 1, Text: "\"main\" prio=5 tid=1 Native\n  | sysTid=7\n  native: #00 pc 0000000000005000  /apex/lib64/libc.so (f+4)\n"},
		reporttest.Fixture{Name: "monitor", Frames: 2, Text: "pc 0x0000000000022074 libc.so [arm64-v8a::77e6ab]\npc 0x0000000000001000 libcart.so [arm64-v8a::77e6ac]\n"},
	)
}
