package all

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/room"
)

var errRoom = errors.New("no room")

// A text that expands is refused before it takes memory: the requests before the refusal are little more than the room.
func TestSplitAsksForRoom(t *testing.T) {
	pb := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1) // arm64
	pb = protowire.AppendTag(pb, 5, protowire.VarintType)                              // pid
	pb = protowire.AppendVarint(pb, 7)
	pb = protowire.AppendBytes(protowire.AppendTag(pb, 9, protowire.BytesType), bytes.Repeat([]byte("x"), 100<<10)) // command line
	for i := range 2000 {
		thread := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(i))
		entry := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(i))
		entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), thread)
		pb = protowire.AppendBytes(protowire.AppendTag(pb, 16, protowire.BytesType), entry)
	}
	for name, text := range map[string]string{
		"a command line for each of 2,000 threads": string(pb),
		"objects of three bytes":                   `{"usedImages":[` + strings.Repeat("{},", 1<<20) + `{}],"threads":[]}`,
		"threads of three bytes":                   `{"usedImages":[],"threads":[` + strings.Repeat("{},", 1<<20) + `{}]}`,
		"frames of four bytes":                     strings.Repeat("0x1\n", 1<<18),
	} {
		const most = 4 << 20
		left := int64(most)
		ctx := room.With(t.Context(), func(n int64) error {
			if left -= n; left < 0 {
				return errRoom
			}
			return nil
		})
		err := report.Split(ctx, strings.NewReader(text), Dialects, report.Options{Artifacts: []string{"a"}}, func(*report.Report) error { return nil })
		if !errors.Is(err, errRoom) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An expression is bounded in size before it is compiled, and in the work on a line and on a text.
func TestExpressionIsBounded(t *testing.T) {
	for _, source := range []string{strings.Repeat(".*", 1000), "(a{1000}){1000}", strings.Repeat(".{900}", 500), strings.Repeat("x", 4<<10+1)} {
		if _, err := report.ParseExpression(source); err == nil {
			t.Errorf("%.20s… of %d bytes is taken", source, len(source))
		}
	}
	e, err := report.ParseExpression(strings.Repeat(".*", 400) + "%c")
	if err != nil {
		t.Fatal(err)
	}
	if e.Steps(make([]byte, 1<<20)) != 0 {
		t.Error("a long line is looked at")
	}
	text := strings.Repeat(strings.Repeat("y", 1000)+"\n", 64)
	split := func(steps int64) error {
		return report.Split(t.Context(), strings.NewReader(text), Dialects, report.Options{Steps: steps, Managed: report.ManagedOptions{Line: e}}, func(*report.Report) error { return nil })
	}
	if err := split(1 << 22); !errors.Is(err, report.ErrExpression) {
		t.Error(fmt.Sprint("beyond the steps: ", err))
	}
}
