package report

import "testing"

// A report within a property list has its brackets escaped.
func TestAppleEscapedImage(t *testing.T) {
	const uuid = "4c4c44d8-5555-3144-a18c-9d79e6bf39ea"
	img, ok := parseAppleImage([]byte(" 0x1936000 -  0x1a0afff +game armv7  &lt;4c4c44d855553144a18c9d79e6bf39ea&gt; /var/game.app/game"))
	want := appleImage{name: "game", path: "/var/game.app/game", uuid: uuid, arch: "armv7", start: 0x1936000, end: 0x1a0b000}
	if !ok || img != want {
		t.Errorf("%v %+v", ok, img)
	}
}
