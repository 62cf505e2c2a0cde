// Steps counts what it costs to read objects: the basic blocks of our parsers that run, and the bytes that they
// allocate. Neither depends on how fast the host is.
//
// Usage: steps KIND FILE...
//
// KIND says how each FILE is read. An "object" is opened and exploded with all its members, from memory; "unmapped" does
// the same through ReadAt. A "stack" is split and printed, "retrace" does that by the mapping.txt beside it, a "trace" is
// read, and a "name" is demangled. A "group" is the name of a function that is named for its group. Files of one folder
// are companions of each other.
//
// The program reads the last file once before it measures: tables that are made once do not count, nor do rooms that grow.
// It prints one JSON record a file.
//
// Build it with -cover -covermode=atomic and -coverpkg for the packages that count.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/coverage"
	"runtime/debug"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/report"
	reportall "github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/sinks/group"
)

// cost is what one file cost. Err is the error that ended the reading, or "".
type cost struct {
	Steps uint64 `json:"steps"`
	Bytes uint64 `json:"bytes"`
	Runs  int    `json:"runs"` // findings: runs, frames, events or bytes of a name
	Err   string `json:"err"`
}

func main() {
	debug.SetGCPercent(-1) // pools stay as they are while an object is read
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
}

func run(kind string, paths []string) error {
	last := paths[len(paths)-1]
	data, err := os.ReadFile(last)
	if err != nil {
		return err
	}
	if _, err := readAs(kind, last, data); err != nil && !formats.Rejects(err) {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, path := range paths {
		c, err := measure(kind, path)
		if err == nil {
			err = out.Encode(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func measure(kind, path string) (c cost, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	runtime.GC()
	if err := coverage.ClearCounters(); err != nil {
		return c, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	runs, rejected := readAs(kind, path, data)
	runtime.ReadMemStats(&after)
	if rejected != nil {
		c.Err = rejected.Error()
	}
	c.Runs, c.Bytes = runs, after.TotalAlloc-before.TotalAlloc
	c.Steps, err = steps()
	return c, err
}

// steps sums the counters of all functions.
func steps() (sum uint64, err error) {
	var b bytes.Buffer
	if err := coverage.WriteCounters(&b); err != nil {
		return 0, err
	}
	return sumCounters(b.Bytes())
}

var errCounters = errors.New("the counters of this Go version have another form")

// sumCounters reads what WriteCounters wrote: a header, one segment and a footer. Go's internal/coverage describes them.
func sumCounters(b []byte) (sum uint64, err error) {
	const (
		headerBytes  = 32
		segmentBytes = 16
		uleb         = 2
	)
	if len(b) < headerBytes+segmentBytes || binary.LittleEndian.Uint32(b[4:]) != 1 || b[24] != uleb || b[25] != 0 {
		return 0, errCounters
	}
	segment := b[headerBytes:]
	functions := binary.LittleEndian.Uint64(segment)
	texts := int(binary.LittleEndian.Uint32(segment[8:])) + int(binary.LittleEndian.Uint32(segment[12:]))
	at := headerBytes + segmentBytes + texts
	at = (at + 3) &^ 3
	next := func() uint64 {
		if at > len(b) {
			return 0
		}
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			at = len(b) + 1
		}
		at += n
		return v
	}
	for range functions {
		counters := next()
		next() // the package
		next() // the function
		for range counters {
			sum += next()
		}
	}
	if at > len(b) {
		return 0, errCounters
	}
	return sum, nil
}

func readAs(kind, path string, data []byte) (int, error) {
	ctx := context.Background()
	switch kind {
	case "object", "unmapped":
		in := formattest.InputOf(filepath.Base(path), data, formats.Limits{})
		in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
			return companion(kind, path, want)
		}
		if kind == "unmapped" {
			in = formattest.Unmapped(in)
		}
		return readObject(ctx, in, 0)
	case "stack":
		return readStack(ctx, data, nil)
	case "retrace":
		return retraceAll(ctx, path, data)
	case "trace":
		events := 0
		_, err := trace.Read(ctx, bytes.NewReader(data), trace.Options{Scratch: newScratch}, func(*trace.Event) error {
			events++
			return nil
		})
		return events, err
	case "name":
		return len(demangle.Name(string(data))), nil
	case "group":
		return groupNames(string(data)), nil
	}
	return 0, fmt.Errorf("no kind %q", kind)
}

// groupNames names a function for its group, as one of each language, and returns the bytes of the names.
func groupNames(function string) (bytes int) {
	for _, f := range []symbol.Frame{{}, {Linkage: "_R"}, {Linkage: "$s"}, {Linkage: "?" + function}, {File: "a.go"}, {File: "a.ts"}, {File: "a.dart"}} {
		var n group.Namer
		f.Function = function
		name, _ := n.Name(nil, &f)
		managed, _ := n.Name(&report.Frame{Managed: new(report.Managed)}, &f)
		bytes += len(name) + len(managed)
	}
	return bytes
}

// companion gives the file of the same folder that has the name, or the id as its name.
func companion(kind, path string, want formats.Ref) (*formats.Input, error) {
	for _, name := range []string{want.Name, want.ID} {
		if name = filepath.Base(name); name == "." || name == "/" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err != nil {
			continue
		}
		in := formattest.InputOf(name, data, formats.Limits{})
		if kind == "unmapped" {
			in = formattest.Unmapped(in)
		}
		return in, nil
	}
	return nil, formats.ErrNoCompanion
}

// readObject reads all that an object holds, and says how many runs that is.
func readObject(ctx context.Context, in *formats.Input, parents int) (runs int, err error) {
	f, obj, err := formats.Open(ctx, all.Formats(), in)
	if obj == nil || err != nil {
		return 0, err
	}
	if obj.Close != nil {
		defer obj.Close()
	}
	for i := range obj.Artifacts {
		a := &obj.Artifacts[i]
		quality := symbol.Quality{}
		for part := range a.Parts {
			err := formats.Guard(f.Name, func() error {
				q, err := a.ExplodeInto(ctx, part, formats.Takers{
					Run:    func(*symbol.Run) error { runs++; return nil },
					Script: func(*symbol.Script) error { runs++; return nil },
					Class:  func(*symbol.Class) error { runs++; return nil },
				})
				quality.Add(q)
				return err
			})
			if err != nil {
				return runs, err
			}
		}
		if a.Unwind != nil {
			if _, err := a.Unwind(ctx, func(*symbol.Unwind) error { runs++; return nil }); err != nil {
				return runs, err
			}
		}
		if a.Texts != nil {
			if err := a.Texts(ctx, func(string, []byte) error { runs++; return nil }); err != nil {
				return runs, err
			}
		}
		if a.Check != nil {
			if err := a.Check(quality); err != nil {
				return runs, err
			}
		}
	}
	if obj.Members == nil || parents >= in.Limits.Nesting {
		return runs, nil
	}
	err = obj.Members(ctx, func(m *formats.Input) error {
		n, err := readObject(ctx, m, parents+1)
		runs++
		if runs += n; formats.Rejects(err) {
			err = nil
		}
		return err
	})
	return runs, err
}

// retraceAll retraces the stack by the mapping that lies beside it.
func retraceAll(ctx context.Context, path string, data []byte) (int, error) {
	mapping, err := companion("object", path, formats.Ref{Name: "mapping.txt"})
	if err != nil {
		return 0, err
	}
	obj, err := r8.Format.Open(ctx, mapping)
	if err != nil {
		return 0, err
	}
	classes := map[string]*retrace.Class{}
	a := &obj.Artifacts[0]
	for part := range a.Parts {
		_, err := a.ExplodeClasses(ctx, part, func(c *symbol.Class) error {
			c = c.Clone()
			classes[c.Name] = retrace.NewClass(c, c)
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return readStack(ctx, data, func(name string) *retrace.Class { return classes[name] })
}

// readStack splits and prints a text. With classes, its frames are retraced.
func readStack(ctx context.Context, data []byte, classes func(string) *retrace.Class) (frames int, err error) {
	options := report.Options{Artifacts: []string{"a"}, Managed: report.ManagedOptions{All: classes != nil}}
	err = report.Split(ctx, bytes.NewReader(data), reportall.Dialects, options, func(s *report.Report) error {
		answers := make([][]symbol.Answer, len(s.Threads))
		for i := range s.Threads {
			frames += len(s.Threads[i].Frames)
			answers[i] = make([]symbol.Answer, len(s.Threads[i].Frames))
			if classes != nil {
				if err := retrace.Retrace(&s.Threads[i], classes, retrace.Options{}, answers[i]); err != nil {
					return err
				}
				continue
			}
			for k := range answers[i] {
				answers[i][k] = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "f", File: "f.c", Line: 1}}}
			}
		}
		return report.Print(io.Discard, s, answers)
	})
	return frames, err
}

// scratch is a file in memory.
type scratch struct{ bytes.Buffer }

func newScratch() (trace.Scratch, error) { return &scratch{}, nil }

func (s *scratch) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(s.Bytes()).ReadAt(p, off)
}

func (s *scratch) Close() error { return nil }
