package all

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// A report that begins behind its headers goes on to its images, past its registers.
func TestAppleWithoutHeader(t *testing.T) {
	_, text, _ := strings.Cut(quotedReport, "Crashed:\n")
	s := one(t, text, report.Options{})
	if got, want := place(&s.Threads[0].Frames[1]), gameUUID+",My Game 0x104a30050 0x104a2c000+0x4050"; s.Format() != "apple-backtrace" || strings.Replace(want, "4050", "404c", 1) != got {
		t.Error(s.Format(), got)
	}
}

// Lines of lists, of debuggers and of NSLog are frames.
func TestAppleMarks(t *testing.T) {
	const list = "[  0] 4C4C44D8-5555-3144-A18C-9D79E6BF39EA 0x0000000104a2c000 /private/var/game.app/game\n"
	const named = "game 0x104a3004c 0x104a2c000+0x404a"
	const found, exact = gameUUID + "," + named, gameUUID + ",game 0x104a3004c 0x104a2c000+0x404c"
	for _, c := range []struct{ text, want string }{
		{"- 0x0000000104a3004c game 0x104a2c000 + 16460", named},
		{"\u2022 0x0000000104a3004c game 0x104a2c000 + 16460,", named},
		{"#0 0x0000000104a3004c game 0x104a2c000 + 16460 [4C4C44D8-5555-3144-A18C-9D79E6BF39EA],", found},
		{"[3] 0x0000000104a3004c game 0x104a2c000 + 16460", named},
		{"(3) game 0x0000000104a3004c 0x104a2c000 + 16460", named},
		{"3: 0x0000000104a3004c game 0x104a2c000 + 16460", named},
		{"3. game 0x0000000104a3004c 0x104a2c000 + 16460", named},
		{"(\n\t\"0   game   0x0000000104a3004c game + 16460\",\n)", named},
		{"0   2048   0x0000000104a3004c 0x104a2c000 + 16460", "2048 0x104a3004c 0x104a2c000+0x404a"},
		{"2048 0x0000000104a3004c 0x104a2c000 + 16460", "2048 0x104a3004c 0x104a2c000+0x404a"},
		{"0   0xGame   0x0000000104a3004c 0x104a2c000 + 16460", "0xGame 0x104a3004c 0x104a2c000+0x404a"},
		{list + "0x104a3004c", found},
		{list + "#0 0x104a3004c", found},
		{list + "[0] 0x104a3004c", found},
		{list + "(lldb) bt\n* thread #1, queue = 'com.apple.main-thread'\n  * frame #0: 0x0000000104a3004c game`___lldb_unnamed_symbol12 + 44", exact},
		{list + "frame #0: 0x0000000104a3004c game`f(int) at a.cpp:3:4", exact},
	} {
		s := one(t, c.text, report.Options{})
		if got := place(&s.Threads[0].Frames[0]); got != c.want || s.Format() != "apple-backtrace" || len(s.Threads[0].Frames) != 1 {
			t.Errorf("%q: %s %s, want %s", c.text, s.Format(), got, c.want)
		}
	}
	var out bytes.Buffer
	s := one(t, "(\n    \"0   game   0x0000000104a3004c game + 16460\",\n)\n", report.Options{})
	if err := report.Print(&out, s, [][]symbol.Answer{{{Status: symbol.Found, Frames: []symbol.Frame{{Function: "f"}}}}}); err != nil {
		t.Fatal(err)
	}
	if want := "    \"0   game   0x0000000104a3004c f (in game)\",\n)\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	for _, text := range []string{"#0  0x00007ffff7a3004c in f () from /lib/libx.so", "#0 0x000055a4bcef (/system/lib64/libcart.so+0x25bce)", "#00 pc 0x0000000104a3004c  a.so"} {
		for _, s := range split(t, list+text+"\n", report.Options{}) {
			for _, th := range s.Threads {
				if strings.HasPrefix(s.Format(), "apple") {
					t.Errorf("%q is %s", text, place(&th.Frames[0]))
				}
			}
		}
	}
}

// The header says what frames are of that no image is listed for.
func TestAppleArch(t *testing.T) {
	text, _, _ := strings.Cut(quotedReport, "Binary Images")
	if f := one(t, text, report.Options{}).Threads[0].Frames[1]; f.Arch != "arm64" {
		t.Errorf("%q", f.Arch)
	}
}
