package query

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/wire"
)

// DartFlags say what a stack of Dart without a header does not.
type DartFlags struct {
	IsolateStart string   `help:"Where the instructions of the isolate were mapped, for addresses without a header." placeholder:"ADDRESS" group:"~Dart"`
	VMStart      string   `name:"vm-start" help:"Where the instructions of the virtual machine were mapped." placeholder:"ADDRESS" group:"~Dart"`
	Unit         []string `help:"Artifact of a deferred loading unit." placeholder:"NUMBER:NAME" group:"~Dart"`
}

// Options fills in what the flags say.
func (d *DartFlags) Options(o *report.Options) error {
	said := d.said()
	if err := said.Options(o); err != nil {
		return exit.Usage("%w", err)
	}
	return nil
}

func (d *DartFlags) said() wire.Dart {
	return wire.Dart{IsolateStart: d.IsolateStart, VMStart: d.VMStart, Units: d.Unit}
}
