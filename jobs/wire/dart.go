package wire

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
)

// Dart says what a stack of Dart without a header does not.
type Dart struct {
	IsolateStart string   `json:"isolate_start"` // where the isolate's instructions were mapped, hexadecimal
	VMStart      string   `json:"vm_start"`      // where the virtual machine's were
	Units        []string `json:"units"`         // NUMBER:NAME, artifacts of deferred loading units
}

// Options fills in the given settings. The error names the wrong one.
func (d *Dart) Options(o *report.Options) error {
	for _, f := range []struct {
		name, text string
		to         *uint64
	}{{"isolate start", d.IsolateStart, &o.IsolateStart}, {"VM start", d.VMStart, &o.VMStart}} {
		if f.text == "" {
			continue
		}
		v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(f.text), "0x"), 16, 64)
		if err != nil {
			return fmt.Errorf("%s %q: want a hexadecimal address", f.name, f.text)
		}
		*f.to = v
	}
	for _, u := range d.Units {
		number, name, found := strings.Cut(u, ":")
		n, err := strconv.Atoi(number)
		if !found || err != nil || n < 1 || name == "" || strconv.Itoa(n) != number {
			return fmt.Errorf("unit %q: want NUMBER:NAME", u)
		}
		if o.Units == nil {
			o.Units = map[int]string{}
		}
		o.Units[n] = name
	}
	return nil
}
