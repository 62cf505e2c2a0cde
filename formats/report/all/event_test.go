package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

const bugsnagReport = `{"apiKey":"0","events":[{"exceptions":[{"errorClass":"SIGSEGV","stacktrace":[` +
	`{"frameAddress":"0x104a3004c","machoLoadAddress":"0x104a2c000","machoVMAddress":"0x100000000","machoFile":"/var/game.app/game","machoUUID":"4C4C44D8-5555-3144-A18C-9D79E6BF39EA","isPC":true},` +
	`{"frameAddress":"0x104a30050","machoLoadAddress":"0x104a2c000","machoFile":"game","machoUUID":"4C4C44D8-5555-3144-A18C-9D79E6BF39EA","isLR":true}]}],` +
	`"threads":[{"id":"7","stacktrace":[{"frameAddress":"0x104a30050","machoLoadAddress":"0x104a2c000","machoFile":"game","machoUUID":"4C4C44D8-5555-3144-A18C-9D79E6BF39EA"}]}],"app":{"binaryArch":"arm64"},"device":{"cpuAbi":["arm64"]}}]}` + "\n"

const sentryReport = `{"event_id":"1","sdk":{"name":"sentry.native"},"exception":{"values":[{"type":"SIGSEGV","thread_id":7,"stacktrace":{"frames":[` +
	`{"instruction_addr":"0x7f55c4824785","package":"/usr/lib/libcart.so","function":"old"},{"instruction_addr":"0x7f55c4824724"}]}}]},` +
	`"threads":{"values":[{"id":8,"stacktrace":{"instruction_addr_adjustment":"all","frames":[{"instruction_addr":"0x7f55c4824724"},{"instruction_addr":"0x1","addr_mode":"rel:0"}]}}]},` +
	`"debug_meta":{"images":[{"type":"elf","code_id":"0a900536e7746c31ae5bd3d3916d09002c8dbf1b","debug_id":"3605900a-74e7-316c-ae5b-d3d3916d0900","image_addr":"0x7f55c4820000","image_size":24576,"code_file":"/usr/lib/libcart.so","arch":"x86_64"},` +
	`{"type":"sourcemap","code_file":"https://host/a.js","debug_id":"1"}]}}` + "\n"

const datadogReport = `{"type":"error","error":{"message":"SIGSEGV","stack":"0   My \"Game\" x\t0x0000000104a3004c 0x104a2c000 + 16460\n1   game                 0x0000000104a30050 0x104a2c000 + 16464\n2   ???   0x000000001000bbbb 0x0 + 0",` +
	`"threads":[{"name":"Thread 3","crashed":false,"stack":"0   game   0x0000000104a30050 0x104a2c000 + 16464\n","state":"x"}],` +
	`"binary_images":[{"uuid":"4C4C44D8-5555-3144-A18C-9D79E6BF39EA","name":"game","is_system":false,"load_address":"104a2c000","max_address":"104a3c000","arch":"arm64"}]}}` + "\n"

// Stacks in strings are read, and stay strings.
func TestDatadog(t *testing.T) {
	s := one(t, datadogReport, report.Options{})
	var got []string
	for _, th := range s.Threads {
		got = append(got, th.Name)
		for i := range th.Frames {
			got = append(got, place(&th.Frames[i]))
		}
	}
	const game = gameUUID + ",game "
	if diff := cmp.Diff([]string{"", game + "0x104a3004c 0x104a2c000+0x404c", game + "0x104a30050 0x104a2c000+0x404c", " 0x1000bbbb 0x0+0x1000bbb4", "Thread 3", game + "0x104a30050 0x104a2c000+0x4050"}, got); diff != "" || s.Format() != "datadog" {
		t.Error(s.Format(), diff)
	}
	var out bytes.Buffer
	found := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: `in"ner`, File: "/src/a.h", Line: 3}, {Function: "outer"}}}
	if err := report.Print(&out, s, [][]symbol.Answer{{{}, found}}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(datadogReport, `0x104a2c000 + 16464\n2`, `in\"ner (in game) (a.h:3)\n                                            outer (in game)\n2`, 1)
	if diff := cmp.Diff(want, out.String()); diff != "" || !json.Valid(out.Bytes()) {
		t.Error(diff)
	}
}

// Events say of their frames what they are: where the thread stood, or where it returns to.
func TestEvents(t *testing.T) {
	const game, cart = gameUUID + ",game ", "0a900536e7746c31ae5bd3d3916d09002c8dbf1b,libcart.so "
	for _, c := range []struct {
		text, format string
		want         []string
	}{
		{bugsnagReport, "bugsnag", []string{"0", game + "0x104a3004c 0x104a2c000+0x404c", game + "0x104a30050 0x104a2c000+0x404c", "7", game + "0x104a30050 0x104a2c000+0x404c"}},
		{sentryReport, "sentry", []string{"7", cart + "0x7f55c4824724 0x7f55c4820000+0x4724", cart + "0x7f55c4824785 0x7f55c4820000+0x4784", "8", cart + "0x7f55c4820001 0x7f55c4820000+0x0", cart + "0x7f55c4824724 0x7f55c4820000+0x4723"}},
		{strings.Replace(sentryReport, "sentry.native", "sentry.dart.flutter", 1), "sentry", []string{"7", cart + "0x7f55c4824724 0x7f55c4820000+0x4724", cart + "0x7f55c4824785 0x7f55c4820000+0x4785", "8", cart + "0x7f55c4820001 0x7f55c4820000+0x1", cart + "0x7f55c4824724 0x7f55c4820000+0x4724"}},
	} {
		s := one(t, c.text, report.Options{})
		var got []string
		for _, th := range s.Threads {
			got = append(got, fmt.Sprint(th.ID))
			for i := range th.Frames {
				got = append(got, place(&th.Frames[i]))
			}
		}
		// Of threads that begin at one place of the text, the order is the text's.
		if diff := cmp.Diff(c.want, got); diff != "" || s.Format() != c.format {
			t.Error(s.Format(), diff)
		}
	}
	found := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "inner", File: "/src/a.h", Line: 3, Column: 4}, {Function: "outer"}}}
	for text, edits := range map[string][]string{
		bugsnagReport: {`"machoUUID":"4C4C44D8-5555-3144-A18C-9D79E6BF39EA","isLR":true,"method":"inner","file":"a.h","lineNumber":3,"inline":true},{"frameAddress":"0x104a30050"`},
		sentryReport: {`{"instruction_addr":"0x7f55c4824785","package":"/usr/lib/libcart.so","function":"outer"},{"instruction_addr":"0x7f55c4824785","package":"/usr/lib/libcart.so",` +
			`"function":"inner","filename":"a.h","abs_path":"/src/a.h","lineno":3,"colno":4,"inline":true},{"instruction_addr":"0x7f55c4824724"}`},
	} {
		s := one(t, text, report.Options{})
		var out bytes.Buffer
		if err := report.Print(&out, s, [][]symbol.Answer{{{}, found}}); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out.Bytes()) || !strings.Contains(out.String(), edits[0]) {
			t.Errorf("%s", out.String())
		}
		again := one(t, out.String(), report.Options{})
		if len(again.Threads[0].Frames) != len(s.Threads[0].Frames) {
			t.Errorf("read again: %s", dump([]*report.Report{again}))
		}
		printsAlike(t, again, [][]symbol.Answer{{{}, found}}, out.String())
	}
}
