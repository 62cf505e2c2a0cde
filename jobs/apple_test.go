package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// event is a crash as the fixtures have it, in the shape of both sources.
type event struct {
	arch, system string
	images       []eventImage
	threads      [][]eventFrame // innermost frame first
}

type eventImage struct {
	Name string `json:"name"`
	UUID string `json:"uuid"`
	From uint64
	To   uint64
}

type eventFrame struct {
	image      string
	load, addr uint64
	expected   *expectedFrame
}

type expectedFrame struct {
	At      []wire.Frame `json:"at_vaddr"`
	AtCall  []wire.Frame `json:"at_vaddr_minus_1"`
	Object  string
	Address string `json:"vaddr"`
}

// want is what the frame in place i of its thread must answer.
func (f *eventFrame) want(i int) string {
	frames := f.expected.AtCall
	if i == 0 {
		frames = f.expected.At
	}
	return frameText(frames)
}

func hexNumber(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func readJSONFile(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// probeEvent reads an event of CrashProbe; its innermost frame is the last.
func probeEvent(t *testing.T, file string) *event {
	var in struct {
		Arch   string
		OS     struct{ Name, Version string }
		Images []struct {
			Name, UUID string
			Addr       string `json:"image_addr"`
			Size       uint64 `json:"image_size"`
		}
		Threads []struct {
			Frames []struct {
				Image    string `json:"image_addr"`
				Addr     string `json:"instruction_addr"`
				Package  string
				Expected *expectedFrame
			}
		}
	}
	readJSONFile(t, file, &in)
	e := &event{arch: in.Arch, system: in.OS.Name}
	for _, i := range in.Images {
		from := hexNumber(t, i.Addr)
		e.images = append(e.images, eventImage{i.Name, i.UUID, from, from + i.Size})
	}
	for _, thread := range in.Threads {
		var frames []eventFrame
		for _, f := range slices.Backward(thread.Frames) {
			frames = append(frames, eventFrame{filepath.Base(f.Package), hexNumber(t, f.Image), hexNumber(t, f.Addr), f.Expected})
		}
		e.threads = append(e.threads, frames)
	}
	return e
}

// measureEvent reads an event of measure.
func measureEvent(t *testing.T, file string) *event {
	type frame struct {
		Name     string `json:"binary_name"`
		Image    string `json:"binary_address"`
		Addr     string `json:"symbol_address"`
		Expected *expectedFrame
	}
	var in struct {
		Exceptions, Threads []struct{ Frames []frame }
		Images              []struct {
			From string `json:"start_addr"`
			To   string `json:"end_addr"`
			Path string
			UUID string
		} `json:"binary_images"`
	}
	readJSONFile(t, file, &in)
	e := &event{arch: "arm64", system: "iOS"}
	for _, i := range in.Images {
		e.images = append(e.images, eventImage{i.Path, i.UUID, hexNumber(t, i.From), hexNumber(t, i.To) + 1})
	}
	for _, thread := range append(in.Exceptions, in.Threads...) {
		var frames []eventFrame
		for _, f := range thread.Frames {
			frames = append(frames, eventFrame{f.Name, hexNumber(t, f.Image), hexNumber(t, f.Addr), f.Expected})
		}
		e.threads = append(e.threads, frames)
	}
	return e
}

// text is the event as a crash report.
func (e *event) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Incident Identifier: 6156848E-344E-4D9E-84E0-87AFD0D0AE7B\nProcess:             app [1]\nCode Type:           ARM-64\nOS Version:          iPhone OS 10.2\n\nException Type:  EXC_CRASH\n")
	for i, frames := range e.threads {
		fmt.Fprintf(&b, "\nThread %d:\n", i)
		for n, f := range frames {
			fmt.Fprintf(&b, "%-3d %-30s 0x%016x 0x%x + %d\n", n, f.image, f.addr, f.load, f.addr-f.load)
		}
	}
	b.WriteString("\nBinary Images:\n")
	for _, i := range e.images {
		fmt.Fprintf(&b, "0x%x - 0x%x %s %s <%s> %s\n", i.From, i.To-1, filepath.Base(i.Name), e.arch, strings.ReplaceAll(strings.ToLower(i.UUID), "-", ""), i.Name)
	}
	return b.String()
}

// ips is the event as the body of an .ips report.
func (e *event) ips() string {
	type frame struct {
		Offset uint64 `json:"imageOffset"`
		Index  int    `json:"imageIndex"`
	}
	type thread struct {
		Frames []frame `json:"frames"`
	}
	type image struct {
		Base uint64 `json:"base"`
		Size uint64 `json:"size"`
		UUID string `json:"uuid"`
		Path string `json:"path"`
		Arch string `json:"arch"`
	}
	out := struct {
		CPU     string   `json:"cpuType"`
		Threads []thread `json:"threads"`
		Images  []image  `json:"usedImages"`
	}{CPU: "ARM-64"}
	for _, frames := range e.threads {
		var th thread
		for _, f := range frames {
			at := slices.IndexFunc(e.images, func(i eventImage) bool { return i.From == f.load })
			th.Frames = append(th.Frames, frame{f.addr - f.load, at})
		}
		out.Threads = append(out.Threads, th)
	}
	for _, i := range e.images {
		out.Images = append(out.Images, image{i.From, i.To - i.From, i.UUID, i.Name, e.arch})
	}
	b, _ := json.MarshalIndent(out, "", "  ")
	return string(b) + "\n"
}

// kscrash is the event as KSCrash writes it, on one line.
func (e *event) kscrash() string {
	type frame struct {
		Addr   uint64 `json:"instruction_addr"`
		Image  uint64 `json:"object_addr"`
		Object string `json:"object_name"`
	}
	type contents struct {
		Contents []frame `json:"contents"`
	}
	type thread struct {
		Backtrace contents `json:"backtrace"`
		Index     int      `json:"index"`
	}
	type image struct {
		Addr uint64 `json:"image_addr"`
		Size uint64 `json:"image_size"`
		Name string `json:"name"`
		UUID string `json:"uuid"`
		CPU  uint32 `json:"cpu_type"`
	}
	var out struct {
		Images []image `json:"binary_images"`
		Crash  struct {
			Error struct {
				Type string `json:"type"`
			} `json:"error"`
			Threads []thread `json:"threads"`
		} `json:"crash"`
	}
	out.Crash.Error.Type = "mach"
	for i, frames := range e.threads {
		th := thread{Index: i}
		for _, f := range frames {
			th.Backtrace.Contents = append(th.Backtrace.Contents, frame{f.addr, f.load, f.image})
		}
		out.Crash.Threads = append(out.Crash.Threads, th)
	}
	for _, i := range e.images {
		out.Images = append(out.Images, image{i.From, i.To - i.From, i.Name, i.UUID, 12 | 1<<24})
	}
	b, _ := json.Marshal(out)
	return string(b) + "\n"
}

// Real crashes of iOS answer as llvm-symbolizer does for their dSYMs: function,
// file, line and inline depth of every frame, in each form of report.
func TestAppleCrashes(t *testing.T) {
	crashes := formattest.Fixture(t, "apple-crashes")
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", formattest.Fixture(t, "macho"))
	var events []*event
	var names, paths []string
	for pattern, read := range map[string]func(*testing.T, string) *event{"crashprobe-*/*.json": probeEvent, "measure/*.json": measureEvent} {
		files, err := filepath.Glob(filepath.Join(crashes, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal("no events", err)
		}
		for _, f := range files {
			events, names, paths = append(events, read(t, f)), append(names, filepath.Base(f)), append(paths, f)
		}
	}
	for form, write := range map[string]func(*event) string{"apple-crash": (*event).text, "ips": (*event).ips, "kscrash": (*event).kscrash, "as it is": nil} {
		t.Run(form, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"--store", store, "--json", "symbolicate"}
			for i, e := range events {
				if write == nil {
					args = append(args, paths[i])
					continue
				}
				file := filepath.Join(dir, strconv.Itoa(i))
				if err := os.WriteFile(file, []byte(write(e)), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, file)
			}
			out, _ := mustRun(t, []int{0}, args...)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if len(lines) != len(events) {
				t.Fatalf("%d stacks of %d events", len(lines), len(events))
			}
			compared := 0
			for i, e := range events {
				var got wire.Stack
				if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
					t.Fatal(err)
				}
				if got.Format != form && (write != nil || got.Format != "sentry" && got.Format != "measure") {
					t.Fatalf("%s is read as %s", names[i], got.Format)
				}
				compared += compareEvent(t, names[i], e, got)
			}
			if compared < 149+15 {
				t.Errorf("%d frames compared", compared)
			}
		})
	}
}

// compareEvent compares the frames with a known answer.
func compareEvent(t *testing.T, name string, e *event, got wire.Stack) (n int) {
	threads := slices.DeleteFunc(slices.Clone(e.threads), func(frames []eventFrame) bool { return len(frames) == 0 })
	if len(got.Threads) != len(threads) {
		t.Fatalf("%s: %d threads, want %d", name, len(got.Threads), len(threads))
	}
	for i, frames := range threads {
		if len(got.Threads[i].Frames) != len(frames) {
			t.Fatalf("%s: thread %d has %d frames, want %d", name, i, len(got.Threads[i].Frames), len(frames))
		}
		for k, f := range frames {
			answer := got.Threads[i].Frames[k]
			if f.expected == nil {
				if answer.Status == "found" || answer.Reason == "" {
					t.Errorf("%s: thread %d frame %d of %s: %s without a reason", name, i, k, f.image, answer.Status)
				}
				continue
			}
			n++
			if want, have := f.want(k), frameText(answer.Frames); want != have {
				t.Errorf("%s: thread %d frame %d, %s %#x: %s (-want +got)\n%s", name, i, k, f.image, f.addr, answer.Reason, cmp.Diff(want, have))
			}
		}
	}
	return n
}
