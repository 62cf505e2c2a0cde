package all

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
)

// TestFramesBehindBounds: reports with more frames than a thread may have count the others.
func TestFramesBehindBounds(t *testing.T) {
	t.Parallel()
	const over = 7
	var ips, walk, text strings.Builder
	for i := range report.MaxFrames + over {
		between := ","
		if i == 0 {
			between = ""
		}
		fmt.Fprintf(&ips, `%s{"imageOffset":%d,"imageIndex":0}`, between, i)
		fmt.Fprintf(&walk, `%s{"frame":%d,"module":"libcart.so","module_offset":"0x%x","offset":"0x%x"}`, between, i, i, i)
		fmt.Fprintf(&text, "%d   game   0x0000000104a3%04x 0x104a2c000 + %d\n", i, i, 0x4000+i)
	}
	for name, c := range map[string]string{
		"ips":       `{"cpuType":"ARM-64","threads":[{"frames":[` + ips.String() + `]}],"usedImages":[{"base":4096,"size":4096,"uuid":"4c4c44d8-5555-3144-a18c-9d79e6bf39ea","name":"g"}]}` + "\n",
		"stackwalk": `{"status":"OK","system_info":{"cpu_arch":"arm64","os":"Android"},"modules":[{"filename":"libcart.so","code_id":"564bb6c8be48eea9d9db622b8689806eea5af3c7"}],"threads":[{"frames":[` + walk.String() + `]}]}` + "\n",
		"apple":     "Thread 0 Crashed:\n" + text.String() + "\nBinary Images:\n0x104a2c000 - 0x104a8ffff game arm64 <4c4c44d855553144a18c9d79e6bf39ea> /game\n",
	} {
		frames, unread := 0, 0
		err := report.Split(t.Context(), strings.NewReader(c), Dialects, report.Options{}, func(r *report.Report) error {
			frames += r.Frames()
			for _, u := range r.Unread {
				if u.Why == report.WhyFrames {
					unread += u.Frames
				}
			}
			return nil
		})
		if err != nil || frames != report.MaxFrames || unread != over {
			t.Errorf("%s: %v, %d frames and %d behind the bound", name, err, frames, unread)
		}
	}
}
