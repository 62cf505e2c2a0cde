package event

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
)

var machoUUID = []byte(`"machoUUID"`)

// bugsnag reads the events of Bugsnag's library for Apple's systems: stacks at any place of the value. Their
// frames name their image, and say where it was loaded (BugsnagStackframe.m). A frame
// with isPC is where the thread stood; without it the first one, too, is a return address.
type bugsnag struct {
	*json.Walker
	r *crash.Loaded
}

func readBugsnag(text []byte, o report.Options) *report.Report {
	if !bytes.Contains(text, machoUUID) {
		return nil
	}
	e := bugsnag{&json.Walker{Bytes: text}, &crash.Loaded{Form: bugsnagEvent}}
	e.value(0)
	if e.Broken() {
		return nil
	}
	return e.r.Report(text, o)
}

// value looks for stacks in the value at hand: each list of frames is one.
func (e bugsnag) value(depth int) {
	switch c := e.Peek(); {
	case depth > json.MaxDepth:
		e.Skip()
	case c == '[':
		var t crash.LoadedThread
		e.Array(func(int) {
			f, exact, inlined, ok := e.frame(depth + 1)
			if !ok {
				return
			}
			if len(t.Frames) == 0 {
				t.Returns = !exact
			}
			t.Object(f, inlined)
		})
		e.r.Threads = append(e.r.Threads, t)
	case c == '{':
		e.Object(func(key string) {
			if key == "cpuAbi" { // a list, of one
				e.Array(func(int) { e.r.Arch = report.AppleArch(e.Text()) })
				return
			}
			e.value(depth + 1)
		})
	default:
		e.Skip()
	}
}

// frame reads an element of a list; ok: it is a frame, else stacks were looked for in it.
func (e bugsnag) frame(depth int) (f crash.LoadedFrame, exact, inlined, ok bool) {
	if e.Peek() != '{' {
		e.value(depth)
		return f, false, false, false
	}
	f = crash.LoadedFrame{Image: -1, Number: -1}
	f.Span[0] = e.Pos
	placed := false
	e.Object(func(key string) {
		switch key {
		case "machoUUID":
			s := e.Text()
			f.UUID, _, ok = scan.UUID([]byte(s), 0)
		case "machoFile":
			f.Name = scan.Base([]byte(e.Text()))
		case "frameAddress":
			f.Addr, placed = e.Number(), true
		case "machoLoadAddress":
			f.Load = e.Number()
			f.Based = true
		case "isPC":
			exact = e.IsTrue()
		case "inline":
			inlined = e.IsTrue()
		default:
			e.value(depth + 1)
		}
	})
	f.Span[1] = e.Pos
	return f, exact, inlined, ok && placed && !e.Failed
}

var bugsnagKeys = crash.Keys{Function: "method", File: "file", Line: "lineNumber", Gone: "columnNumber"}
