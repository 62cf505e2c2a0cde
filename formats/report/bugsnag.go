package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
)

var machoUUID = []byte(`"machoUUID"`)

// bugsnag reads what Bugsnag's library for Apple's systems sends: stacks at any place of the value, whose
// frames say what image they are of, and where it was loaded (BugsnagStackframe.m). A frame
// with isPC is where the thread stood; without it the first one, too, is a return address.
type bugsnag struct {
	*jsonText
	r *appleReport
}

func readBugsnag(text []byte, o Options) *Report {
	if !bytes.Contains(text, machoUUID) {
		return nil
	}
	e := bugsnag{&jsonText{b: text}, &appleReport{form: bugsnagEvent}}
	e.value(0)
	if e.broken() {
		return nil
	}
	return e.r.stack(text, o)
}

// value looks for stacks in the value at hand: each list of frames is one.
func (e bugsnag) value(depth int) {
	switch c := e.peek(); {
	case depth > maxJSONDepth:
		e.skip()
	case c == '[':
		var t appleThread
		e.array(func(int) {
			f, exact, inlined, ok := e.frame(depth + 1)
			if !ok {
				return
			}
			if len(t.frames) == 0 {
				t.returns = !exact
			}
			t.object(f, inlined)
		})
		e.r.threads = append(e.r.threads, t)
	case c == '{':
		e.object(func(key string) {
			if key == "cpuAbi" { // a list, of one
				e.array(func(int) { e.r.arch = AppleArch(e.text()) })
				return
			}
			e.value(depth + 1)
		})
	default:
		e.skip()
	}
}

// frame reads an element of a list; ok: it is a frame, else stacks were looked for in it.
func (e bugsnag) frame(depth int) (f appleFrame, exact, inlined, ok bool) {
	if e.peek() != '{' {
		e.value(depth)
		return f, false, false, false
	}
	f = appleFrame{image: -1, number: -1}
	f.span[0] = e.p
	placed := false
	e.object(func(key string) {
		switch key {
		case "machoUUID":
			s := e.text()
			f.uuid, _, ok = scan.UUID([]byte(s), 0)
		case "machoFile":
			f.name = scan.Base([]byte(e.text()))
		case "frameAddress":
			f.addr, placed = e.number(), true
		case "machoLoadAddress":
			f.load = e.number()
			f.based = true
		case "isPC":
			exact = e.isTrue()
		case "inline":
			inlined = e.isTrue()
		default:
			e.value(depth + 1)
		}
	})
	f.span[1] = e.p
	return f, exact, inlined, ok && placed && !e.bad
}

var bugsnagKeys = frameKeys{"method", "file", "lineNumber", "columnNumber"}
