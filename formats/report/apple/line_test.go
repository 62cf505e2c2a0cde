package apple

import (
	"testing"

	"github.com/symlake/symlake/formats/report/internal/crash"
)

// A report within a property list has its brackets escaped.
func TestAppleEscapedImage(t *testing.T) {
	const uuid = "4c4c44d8-5555-3144-a18c-9d79e6bf39ea"
	img, ok := parseAppleImage([]byte(" 0x1936000 -  0x1a0afff +game armv7  &lt;4c4c44d855553144a18c9d79e6bf39ea&gt; /var/game.app/game"))
	want := crash.Image{Name: "game", Path: "/var/game.app/game", UUID: uuid, Arch: "armv7", Start: 0x1936000, End: 0x1a0b000}
	if !ok || img != want {
		t.Errorf("%v %+v", ok, img)
	}
}
