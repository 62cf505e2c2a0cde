package scan

import (
	"strings"
	"testing"
)

func TestPrefix(t *testing.T) {
	for _, prefix := range []string{
		"02-03 10:11:12.300  4300  4300 F DEBUG   : ",
		"2025-02-03 10:11:12.300456 +0100 u0_a321  4300  4300 F DEBUG   : ",
		"02-03 10:11:12.300 F/DEBUG   ( 4300): ",
		"I/DEBUG   (  145): ", "F/DEBUG: ", "F DEBUG   : ",
		"2019-06-19 18:00:22.204 27335-27783/me.chunyu.ChunyuDoctor E/CrashReport: ",
		"2022-12-29 04:00:18.823 30249-30321 DEBUG   com.example.game   F  ",
		"06-30 14:08:54.754    2107-2107/? I/DEBUG\ufe55 ",
		"\x1b[38;5;196m02-03 10:11:12.300  4300  4300 F DEBUG   : ", "\x1b[1m\x1b[31mF/DEBUG   ( 4300): ",
	} {
		for _, message := range []string{"", "#00 pc 0010  /a/b.so (BuildId: ab)", "pc 0x10 libc.so [arm64-v8a::77]", "a: b"} {
			if got := LogPrefix([]byte(prefix + message)); got != len(prefix) {
				t.Errorf("%q: prefix %q", prefix+message, (prefix + message)[:got])
			}
		}
	}
	for _, line := range []string{
		"", " ", "F", "FATAL: x", "#00 pc 0010 a.so", "pc 0x10 libc.so", "libgame.so 0x10", "D 0x10", "  F DEBUG   : x", "Fa/b: c",
		"02-03 10:11:12.3x0  4300  4300 F DEBUG   : x", "02-03 10:11:12.300  a b c d e f g h F DEBUG: x", "F/a(b): c", "F/a:b", "F/a\ufe55b", "F/a\ufe55", "\x1b[31m", "\x1b[31", "\x1b[31mx", "\x1b[31m  F/a: b", "\x1b[31kF/a: b", "F/" + strings.Repeat("x", 2*maxTagBytes) + ": x",
	} {
		if got := LogPrefix([]byte(line)); got != 0 {
			t.Errorf("%q: prefix %q", line, line[:got])
		}
	}
}
