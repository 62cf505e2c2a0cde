package jobs

import (
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/stack"
)

// dartFlags say what a stack of Dart without a header does not.
type dartFlags struct {
	IsolateStart string   `help:"Where the isolate's instructions of a Dart program were mapped, for addresses without a header." placeholder:"ADDRESS"`
	VMStart      string   `name:"vm-start" help:"Where the virtual machine's were." placeholder:"ADDRESS"`
	Unit         []string `help:"Artifact of a Dart program's deferred loading unit; repeatable." placeholder:"NUMBER:NAME"`
}

// options fills in what the flags say.
func (d *dartFlags) options(o *stack.Options) error {
	for _, f := range []struct {
		flag, text string
		to         *uint64
	}{{"--isolate-start", d.IsolateStart, &o.IsolateStart}, {"--vm-start", d.VMStart, &o.VMStart}} {
		if f.text == "" {
			continue
		}
		v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(f.text), "0x"), 16, 64)
		if err != nil {
			return usage("%s %q: want a hexadecimal address", f.flag, f.text)
		}
		*f.to = v
	}
	for _, u := range d.Unit {
		number, name, found := strings.Cut(u, ":")
		n, err := strconv.Atoi(number)
		if !found || err != nil || n < 1 || name == "" {
			return usage("--unit %q: want NUMBER:NAME", u)
		}
		if o.Units == nil {
			o.Units = map[int]string{}
		}
		o.Units[n] = name
	}
	return nil
}
