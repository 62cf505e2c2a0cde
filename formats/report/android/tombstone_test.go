package android

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/report"
)

// A tombstone stays binary if its text would be longer than a document may be, with or without a room.
func TestTombstoneTextIsBounded(t *testing.T) {
	frame := &pbThread{id: 1}
	p := &pbTombstone{command: []string{strings.Repeat("x", 1<<20)}}
	for range 100 {
		p.threads = append(p.threads, *frame)
	}
	if text, ok := p.render(&report.Options{}); ok || len(text) > report.MaxDocumentBytes+4<<20 {
		t.Errorf("%d bytes, %v", len(text), ok)
	}
}

// field is a field of a message, with the number n.
func field(n protowire.Number, v any) []byte {
	switch v := v.(type) {
	case string:
		return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), v)
	case []byte:
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), v)
	}
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), uint64(v.(int)))
}

// TestTombstoneOfLaterSystems renders the fields that Android 14 to 16 have added.
func TestTombstoneOfLaterSystems(t *testing.T) {
	t.Parallel()
	frame := slices.Concat(field(1, 0x47d4), field(6, "/data/app/libcart.so"), field(8, "564bb6c8"))
	thread := slices.Concat(field(1, 7), field(2, slices.Concat(field(1, 7), field(2, "main"), field(4, frame), field(9, "/data/app/odd.so"))))
	pb := slices.Concat(field(1, 1), field(2, "google/x"), field(5, 7), field(6, 7), field(8, "u:r:app"), field(9, "com.shop"),
		field(14, "why"), field(16, thread), field(19, slices.Concat(field(1, 3), field(2, "/dev/null"))),
		field(19, slices.Concat(field(1, 4), field(2, "/x"), field(3, "FILE*"), field(4, 16))),
		field(21, slices.Concat(field(1, "user\x01"), field(2, "a b"))), field(22, 16384), field(24, 1), field(25, thread),
		field(26, slices.Concat(field(1, 7), field(2, slices.Concat(field(1, frame), field(2, 0x7ff0), field(3, 0xa1))))),
		field(27, "/system/bin/app_process64"), field(28, "6.6.30"), field(1000, "lineage"))
	text, ok := tombstoneText(pb, report.Options{})
	if !ok || !tombstoneBegins(pb) {
		t.Fatal("no tombstone")
	}
	for _, want := range []string{
		"Kernel Release: '6.6.30'\n", "Guest architecture: 'arm64'\n", "Page size: 16384 bytes\n", "Executable: /system/bin/app_process64\n",
		"Extra crash detail: user\\1: 'a b'\n", "Guest thread information for tid: 7\n", "open files:\n    fd 3: /dev/null (unowned)\n",
		"    fd 4: /x (owned by FILE* 0x10)\n", "stack_record fp:0x7ff0 tag:0xa1 pc:/data/app/libcart.so+0x47d4 (BuildId: 564bb6c8)\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
