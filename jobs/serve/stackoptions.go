package serve

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/answer"
)

// rawStack is a stack as it was reported, and what its text does not say.
type rawStack struct {
	Text      *string  `json:"text"`
	App       string   `json:"app"`      // APP or, with build, APP@BUILD
	Build     string   `json:"build"`    //
	Platform  string   `json:"platform"` // see answer.PlatformKind
	Frame0    string   `json:"frame0"`   // exact, return or stepped
	Artifacts []string `json:"artifacts"`
	wire.Reading
	wire.Dart
}

// textOptions are what the query says of a text.
type textOptions struct {
	raw     rawStack
	output  string
	explain bool
	details bool
}

func parseOptions(c *call) (o textOptions, err error) {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return o, failed(http.StatusBadRequest, "the query is not encoded as it should be")
	}
	known := []string{"app", "build", "platform", "frame0", "artifact", "school", "regex", "verbose", "explain", "details", "output", "isolate_start", "vm_start", "unit"}
	for name, values := range q {
		if !slices.Contains(known, name) {
			return o, failed(http.StatusBadRequest, "the query has a parameter that is not known: want %s", strings.Join(known, ", "))
		}
		if len(values) > 1 && name != "artifact" && name != "unit" {
			return o, failed(http.StatusBadRequest, "%s: want it once", name)
		}
	}
	o.raw = rawStack{App: q.Get("app"), Build: q.Get("build"), Platform: q.Get("platform"), Frame0: q.Get("frame0"), Artifacts: q["artifact"],
		Reading: wire.Reading{School: q.Get("school"), Regex: q.Get("regex")},
		Dart:    wire.Dart{IsolateStart: q.Get("isolate_start"), VMStart: q.Get("vm_start"), Units: q["unit"]}}
	for name, to := range map[string]*bool{"verbose": &o.raw.Verbose, "explain": &o.explain, "details": &o.details} {
		if v := q.Get(name); v != "" {
			if *to, err = strconv.ParseBool(v); err != nil {
				return o, failed(http.StatusBadRequest, "%s: want true or false", name)
			}
		}
	}
	o.output = q.Get("output")
	if !slices.Contains([]string{"", "text", "records"}, o.output) {
		return o, failed(http.StatusBadRequest, "output: want text or records")
	}
	return o, nil
}

// options returns the settings of a raw stack. i is its index in the request.
func (s *Server) options(c *call, i int, raw *rawStack) (split report.Options, o answer.Options, err error) {
	kind, known := answer.PlatformKind(raw.Platform)
	if !known {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: platform is not known", i)
	}
	frame0, err := report.ParseFrame0(raw.Frame0)
	if err != nil {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: frame0: want exact, return or stepped", i)
	}
	const maxNames = 64
	if len(raw.Artifacts) > maxNames || len(raw.Units) > maxNames {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: more than %d artifacts or units", i, maxNames)
	}
	for _, name := range slices.Concat(raw.Artifacts, raw.Units, []string{raw.App, raw.Build}) {
		if len(name) > maxNameBytes {
			return split, o, failed(http.StatusBadRequest, "stacks[%d]: a name of more than %d bytes", i, maxNameBytes)
		}
	}
	app := raw.App
	if raw.Build != "" {
		app += "@" + raw.Build
	}
	managed, err := raw.Managed(c.ctx, s.o.Client, raw.Artifacts, app)
	if err != nil {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: %v", i, err)
	}
	split = report.Options{Artifacts: raw.Artifacts, Frame0: frame0, Managed: managed, Steps: maxSteps}
	if err := raw.Dart.Options(&split); err != nil {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: %v", i, err)
	}
	return split, answer.Options{Artifacts: raw.Artifacts, App: app, Kind: kind, Used: c.used}, nil
}

const (
	// maxNameBytes bounds a name of an artifact: none is longer than a path.
	maxNameBytes = 4096
	// maxSteps bounds the work of an expression on a raw stack: some seconds.
	maxSteps = 1 << 29
)
