package profiletest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

// toy is a form of lines: "toy", then a sample of one place a line: an address, or a name that says more.
var toy = &profile.Format{
	Name: "toy", Title: "Toy", Endings: []string{".toy"},
	Begins: func(head []byte) bool { return bytes.HasPrefix(head, []byte("toy\n")) },
	Answer: answerToy,
	Samples: func(_ context.Context, in *profile.Input, to *samples.Profile) error {
		return eachLine(in, func(line string, _ bool) error {
			if line == "toy" || line == "" {
				return nil
			}
			frame, err := to.Frame(samples.Frame{Function: line})
			if err != nil {
				return err
			}
			stack, err := to.Push(samples.None, frame)
			if err != nil {
				return err
			}
			return to.Add(samples.Sample{Stack: stack, Thread: samples.None, Time: -1})
		})
	},
}

func eachLine(in *profile.Input, emit func(line string, whole bool) error) error {
	r, err := in.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if line != "" {
			whole := strings.HasSuffix(line, "\n")
			if err := emit(strings.TrimSuffix(line, "\n"), whole); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

func answerToy(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	names := map[uint64]string{}
	return eachLine(in, func(line string, whole bool) error {
		at, err := strconv.ParseUint(strings.TrimPrefix(line, "0x"), 16, 64)
		if line != "toy" {
			o.Counts.Samples++
		}
		if err == nil {
			if _, known := names[at]; !known {
				names[at] = ""
				err := o.Look(ctx, []report.Frame{{Image: []string{"toy"}, At: symbol.Where{Value: at}}}, func(_ int, a *symbol.Answer) {
					if a.Status == symbol.Found {
						names[at] = a.Frames[len(a.Frames)-1].Function
					}
				})
				if err != nil {
					return err
				}
			}
			if names[at] != "" {
				line = names[at]
			}
		}
		if whole {
			line += "\n"
		}
		_, err = fmt.Fprint(out, line)
		return err
	})
}

func TestToy(t *testing.T) {
	t.Parallel()
	profiletest.Run(t, toy,
		profiletest.Fixture{Name: "places", Data: []byte("toy\n0x10\n0x20\nunknown part\n0x10\n"), Samples: 4, Places: 2, Keeps: [][]byte{[]byte("unknown part")}},
		profiletest.Fixture{Name: "empty", Data: []byte("toy\n")},
	)
}

func FuzzToy(f *testing.F) {
	f.Add([]byte("toy\n0x10\n"))
	profiletest.Fuzz(f, toy)
}

// Sound tells what a form does wrong.
func TestSound(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]func(io.Writer){
		"panics": func(io.Writer) { panic("at the disco") },
		"loses":  func(w io.Writer) { io.WriteString(w, "toy") },
		"adds":   func(w io.Writer) { io.WriteString(w, "toy\n0x10\n0x20\n") },
	} {
		form := *toy
		form.Answer = func(_ context.Context, _ *profile.Input, out io.Writer, _ *profile.Options) error {
			wrong(out)
			return nil
		}
		if err := profiletest.Sound(&form, []byte("toy\n0x10\n")); err == nil {
			t.Errorf("a form that %s passes", name)
		}
	}
	if err := profiletest.Sound(toy, []byte("toy\n0x10\n")); err != nil {
		t.Error(err)
	}
}
