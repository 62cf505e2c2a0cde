package profiletest

import (
	"fmt"
	"testing"

	"github.com/symlake/symlake/formats/samples"
)

// Check fails a test if samples are not well-formed.
func Check(t testing.TB, p *samples.Profile) {
	t.Helper()
	if err := malformed(p); err != nil {
		t.Error(err)
	}
}

// malformed returns the fault of samples: numbers that lead nowhere, callers behind their callees, frames without a name.
func malformed(p *samples.Profile) error {
	if len(p.Values) != len(p.Samples)*len(p.Types) {
		return fmt.Errorf("%d samples of %d types have %d values", len(p.Samples), len(p.Types), len(p.Values))
	}
	if p.Default < 0 || p.Default > 0 && p.Default >= len(p.Types) {
		return fmt.Errorf("the default is type %d of %d", p.Default, len(p.Types))
	}
	for i, f := range p.Frames {
		if f.Function == "" {
			return fmt.Errorf("frame %d has no name: %+v", i, f)
		}
	}
	for i, s := range p.Stacks {
		if s.Caller < samples.None || int(s.Caller) >= i || s.Frame < 0 || int(s.Frame) >= len(p.Frames) {
			return fmt.Errorf("stack %d is %+v of %d frames", i, s, len(p.Frames))
		}
	}
	for i, s := range p.Samples {
		if s.Stack < samples.None || int(s.Stack) >= len(p.Stacks) || s.Thread < samples.None || int(s.Thread) >= len(p.Threads) {
			return fmt.Errorf("sample %d is %+v of %d stacks and %d threads", i, s, len(p.Stacks), len(p.Threads))
		}
	}
	return nil
}
