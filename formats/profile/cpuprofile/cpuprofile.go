// Package cpuprofile answers the profiles of JavaScript engines of Chrome, Node and Hermes through source maps.
//
//	nodes        {"nodes": [{"id", "callFrame", "hitCount", "children" | "parent", "positionTicks"}], "samples", "timeDeltas"}:
//	             .cpuprofile of Chrome, Node and Hermes; alone, as "profile" of an object, or several in a list
//	head         {"head": {"callFrame", "children": [{…}]}}: .heapprofile, and .cpuprofile of old versions of Chrome
//	trace        traceEvents with events ProfileChunk: Chrome's performance panel, React Native's
//	stackFrames  {"traceEvents", "samples": [{"sf"}], "stackFrames": {"1": {"name", "parent"}}}: Hermes's sampling profiler
//
// V8 says of a node where its function begins: at the parenthesis of its parameters, or at the parameter of an arrow.
// Hermes says where in the function the program was, or an address of bytecode.
//
// Nodes that become one function below one node are merged: hits are added, ticks too, samples name the node that stays, and
// their children are merged in turn. Traces and stackFrames are answered without merging: their parts stand far apart.
package cpuprofile

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile"
)

// Format is CPU and heap profiles of JavaScript engines.
var Format = &profile.Format{
	Name:    "cpuprofile",
	Title:   "CPU and heap profiles of V8 and Hermes",
	Endings: []string{".cpuprofile", ".heapprofile"},
	Media:   []string{"application/vnd.v8.cpuprofile+json"},
	Begins:  begins,
	Answer:  answer,
	Samples: samplesOf,
}

// begins looks at the outermost members of an object, or of the first object of a list.
func begins(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(head) == 0 {
		return false
	}
	switch head[0] {
	case '{':
		return isTrace(head) || isProfile(&json.Walker{Bytes: head}, 0)
	case '[':
		if bytes.Contains(head, []byte(`"ph"`)) {
			return isTrace(head)
		}
		j := &json.Walker{Bytes: head}
		first := false
		j.Array(func(i int) {
			if i == 0 {
				first = isProfile(j, 0)
			}
			j.Failed = true // no other counts
		})
		return first
	}
	return false
}

// isTrace reports whether events of Chrome's hold parts of a profile of V8, or belong to Hermes's.
func isTrace(head []byte) bool {
	if !bytes.Contains(head, []byte(`"ph"`)) && !bytes.Contains(head, []byte(`"traceEvents"`)) {
		return false
	}
	for _, word := range []string{`"ProfileChunk"`, `"cpuProfile"`, `"disabled-by-default-v8.cpu_profiler"`} {
		if bytes.Contains(head, []byte(word)) {
			return true
		}
	}
	return bytes.Contains(head, []byte(`"traceEvents"`)) && (bytes.Contains(head, []byte(`"sf":`)) && bytes.Contains(head, []byte(`"samples":`)) ||
		bytes.Contains(head, []byte(`"stackFrames"`)) && (bytes.Contains(head, []byte(`"funcVirtAddr"`)) || bytes.Contains(head, []byte(`"funcLine"`))))
}

// isProfile reports whether the object at hand is a profile, as far as it goes.
func isProfile(j *json.Walker, depth int) (is bool) {
	if j.Peek() != '{' || depth > 3 {
		return false
	}
	numbers := false // samples come first, and are numbers
	sure := false
	j.Object(func(key string) {
		switch key {
		case "nodes":
			sure = true
			j.Array(func(i int) {
				if i == 0 {
					is = isNode(j)
				}
				j.Failed = true
			})
		case "head":
			sure = true
			is = isNode(j)
			j.Failed = true
		case "profile":
			sure = true
			is = isProfile(j, depth+1)
			j.Failed = true
		case "samples":
			if j.Peek() == '[' {
				rest := bytes.TrimLeft(j.Bytes[min(len(j.Bytes), j.Pos+1):], " \t\r\n")
				numbers = len(rest) > 0 && (rest[0] >= '0' && rest[0] <= '9')
			}
		case "timeDeltas":
			numbers = numbers || j.Peek() == '['
		}
	})
	return is || numbers && !sure && j.Failed && j.Pos >= len(j.Bytes)
}

// isNode reports whether the object at hand is a node of a call tree.
func isNode(j *json.Walker) (is bool) {
	if j.Peek() != '{' {
		return false
	}
	own := 0
	j.Object(func(key string) {
		switch key {
		case "callFrame":
			is = j.Peek() == '{'
		case "functionName", "scriptId", "url", "hitCount", "callUID":
			own++
		}
	})
	return is || own >= 3
}
