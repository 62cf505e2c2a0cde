package linux_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/linux"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, linux.Dialect,
		reporttest.Fixture{Name: "sanitizer", Frames: 2, Text: "==7==ERROR: AddressSanitizer\n    #0 0x55a4bce in f(int) /a.c:1 (/lib/libcart.so+0x1f3a) (BuildId: 0123456789abcdef)\n    #1 0x55a4bcf  (/lib/libc.so.6+0x20)\n"},
		reporttest.Fixture{Name: "thread sanitizer", Frames: 2, Text: "  #0 f(int) cart.cc:8 (libcart.so+0x25bce)\n  #1 main cart.cc:9 (shop+0x25bce)\n"},
		reporttest.Fixture{Name: "llvm", Frames: 2, Text: " #0 0x00007f5c5d5f5f3a f(int) (/usr/lib/libcart.so+0x1f3a)\n #1 0x00007f5c5d5f5f4a g(int) (/usr/lib/libcart.so+0x1f4a)\n"},
		reporttest.Fixture{Name: "coredump", Frames: 2, Text: "Stack trace of thread 12:\n#0  0x00007f5c5d5f5f3a f (libcart.so + 0x1f3a)\n#1  0x00007f5c5d5f5f4a main (shop + 0x1f4a)\n"},
		reporttest.Fixture{Name: "backtrace_symbols", Frames: 2, Text: "/usr/lib/libcart.so(+0x1f3a) [0x7f5c5d5f5f3a]\n./shop(checkout+0x1d) [0x401136]\n"},
		reporttest.Fixture{Name: "perf", Frames: 2, Text: "shop 12/12 [000] 1.5:  1 cycles:u:\n\t    55d0c1a2b13d main+0x1d (/home/u/shop)\n\t    7f3b2c1a2b3c [unknown] (/usr/lib/libpcre.so)\n\n"},
		reporttest.Fixture{Name: "kernel", Frames: 3, Text: "[   16.338551]  cart_scan+0x2c0/0x340 [cart_core]\n[   16.338551]  ? worker_thread+0x1f9/0x3d0\n[   16.338551] RIP: 0010:cart_add+0xc9/0x7e0 [cart_core]\n"},
	)
}
