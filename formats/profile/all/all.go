// Package all is the list of forms of profiles. It is the only package that names them; to add one,
// write its folder and one line here.
package all

import (
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/collapsed"
	"github.com/symlake/symlake/formats/profile/cpuprofile"
	"github.com/symlake/symlake/formats/profile/gecko"
	"github.com/symlake/symlake/formats/profile/otlp"
	"github.com/symlake/symlake/formats/profile/perfetto"
	"github.com/symlake/symlake/formats/profile/perfscript"
	"github.com/symlake/symlake/formats/profile/pprof"
	"github.com/symlake/symlake/formats/profile/sample"
	"github.com/symlake/symlake/formats/profile/simpleperf"
	"github.com/symlake/symlake/formats/profile/speedscope"
	"github.com/symlake/symlake/formats/samples/flame"
	"github.com/symlake/symlake/formats/samples/records"
)

// Formats are all forms. The first that knows an input reads it.
var Formats = []*profile.Format{
	otlp.Format, // before Perfetto, which takes some old messages of OpenTelemetry for its own
	perfetto.Format,
	simpleperf.Format,
	simpleperf.Text,
	pprof.Format,
	cpuprofile.Format,
	collapsed.Format,
	speedscope.Format,
	gecko.Format,
	flame.SVG,
	flame.Page,
	records.Format,
	perfscript.Format,
	sample.Format,
}
