package wire

import (
	"context"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
)

// Reading says how lines of Java and Kotlin are read.
type Reading struct {
	School  string `json:"school"`  // r8 or list
	Regex   string `json:"regex"`   // an expression for lines, as R8's retrace takes it
	Verbose bool   `json:"verbose"` // what methods return and take
}

// Check returns an error if school or regex is wrong. The error begins with that word.
func (r Reading) Check() error {
	_, err := r.Managed(context.Background(), nil, nil, "")
	return err
}

// Managed gives the options. Where a mapping is named, every line may name one of its classes, as R8's
// retrace has it. The error is of school or regex, and begins with that word.
func (r Reading) Managed(ctx context.Context, client *answer.Client, artifacts []string, app string) (o report.ManagedOptions, err error) {
	if o.School, err = report.ParseSchool(r.School); err != nil {
		return o, fmt.Errorf("school: %w", err)
	}
	if r.Regex != "" {
		if o.Line, err = report.ParseExpression(r.Regex); err != nil {
			return o, fmt.Errorf("regex: %w", err)
		}
	}
	o.Verbose = r.Verbose
	if app != "" {
		artifacts = append(slices.Clip(artifacts), app)
	}
	for _, name := range artifacts {
		r := client.Resolve(ctx, name, lookup.Narrow{Kind: symbol.R8, App: app})
		o.All = o.All || r.Record != nil && r.Record.Published != nil && r.Record.Published.Artifact.Kind == symbol.R8
	}
	return o, nil
}
