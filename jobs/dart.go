package jobs

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/jobs/wire"
)

// dartFlags say what a stack of Dart without a header does not.
type dartFlags struct {
	IsolateStart string   `help:"Where the isolate's instructions of a Dart program were mapped, for addresses without a header." placeholder:"ADDRESS"`
	VMStart      string   `name:"vm-start" help:"Where the virtual machine's were." placeholder:"ADDRESS"`
	Unit         []string `help:"Artifact of a Dart program's deferred loading unit; repeatable." placeholder:"NUMBER:NAME"`
}

// options fills in what the flags say.
func (d *dartFlags) options(o *report.Options) error {
	said := d.said()
	if err := said.Options(o); err != nil {
		return usage("%w", err)
	}
	return nil
}

func (d *dartFlags) said() wire.Dart {
	return wire.Dart{IsolateStart: d.IsolateStart, VMStart: d.VMStart, Units: d.Unit}
}
