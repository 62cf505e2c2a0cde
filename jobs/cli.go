// Package jobs is the command line of symlake: one file a command. The commands that answer from a store are in
// internal/query, since symlake-lookup has them too. The packages below internal hold what commands share.
//
// A command builds things from flags and settings and runs them. All that a test would want to know is below, in ingest,
// sinks and formats.
package jobs

import (
	"context"
	"io"

	"github.com/symlake/symlake/formats"
	formatsall "github.com/symlake/symlake/formats/all"
	docs "github.com/symlake/symlake/jobs/docs/all"
	"github.com/symlake/symlake/jobs/internal/program"
	"github.com/symlake/symlake/jobs/internal/query"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/setup"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/serve/rpc"
	"github.com/symlake/symlake/sinks/all"
)

// commands are all of them, in the order of --help.
func commands() []program.Command {
	const (
		first   = "First steps"
		lookUp  = "Look up"
		store   = "Store"
		lake    = "Lake"
		keys    = "Keys"
		operate = "Operate"
	)
	return []program.Command{
		{Name: "init", Group: first, Job: new(initJob), Help: "Make symlake.yaml, the keyset and the store."},
		{Name: "ingest", Group: first, Job: new(ingestJob), Help: "Find new symbol files, load them and publish them."},
		{Name: "symbolicate", Group: lookUp, Job: query.NewSymbolicate(workspace.ExplodeFiles, restTables{}), Help: "Turn raw stacks into source-level ones."},
		{Name: "lookup", Group: lookUp, Job: new(query.LookupJob), Help: "Print the frames at positions of an artifact."},
		{Name: "artifacts", Group: lookUp, Job: new(artifactsJob), Help: "List what the store holds, or what was asked for and missing."},
		{Name: "inspect", Group: lookUp, Job: new(inspectJob), Help: "Print the symbols in a file."},
		{Name: "demangle", Group: lookUp, Job: new(query.DemangleJob), Help: "Print the readable form of C++ (Microsoft's too), Rust and Swift names."},
		{Name: "serve", Group: lookUp, Job: query.NewServe(rpc.New), Help: "Answer over HTTP, with a page for browsers."},
		{Name: "objects", Group: store, Job: new(objectsJob), Help: "List symbol files that runs met, with their state and the reason."},
		{Name: "load", Group: store, Job: new(loadJob), Help: "Copy published loads from one store to another."},
		{Name: "rollback", Group: store, Job: new(rollbackJob), Help: "Publish the previous load of an artifact again, and pin it."},
		{Name: "forget", Group: store, Job: new(forgetJob), Help: "Remove artifacts from store, lake and names."},
		{Name: "verify", Group: store, Job: new(verifyJob), Help: "Read everything back and check it."},
		{Name: "gc", Group: store, Job: new(gcJob), Help: "Remove abandoned and outdated loads."},
		{Name: "compact", Group: lake, Job: new(compactJob), Help: "Merge small files of the lake."},
		{Name: "lake", Group: lake, Job: new(lakeJob), Help: "Publish the lake's Iceberg tables."},
		{Name: "keys", Group: keys, Job: new(keysJob), Help: "List, rotate, shred and export keys."},
		{Name: "audit", Group: keys, Job: new(auditJob), Help: "List who changed keys and data, and when."},
		{Name: "status", Group: operate, Job: new(statusJob), Help: "Print lag, backlog, rejects, last runs and sizes."},
		{Name: "config", Group: operate, Job: new(setup.ConfigJob), Help: "Show every setting, and try the places that settings name."},
		{Name: "plan", Group: operate, Job: new(planJob), Help: "List the pending symbol files, big ones first."},
		{Name: "report", Group: operate, Job: new(reportJob), Help: "Print the reports that runs could not deliver."},
		{Name: "version", Group: operate, Job: new(query.VersionJob), Help: "Print version, commit and Go version."},
	}
}

// Main runs one command of symlake and returns the exit code of the process.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	return mainWith(ctx, formatsall.Formats(), args, in, out, errOut)
}

// mainWith is Main with the formats that ingest reads.
func mainWith(ctx context.Context, known []*formats.Format, args []string, in io.Reader, out, errOut io.Writer) int {
	return commandLine(known).Main(ctx, args, in, out, errOut)
}

// commandLine returns the command line with the formats that ingest reads.
func commandLine(known []*formats.Format) *program.Program {
	return &program.Program{Name: "symlake", Help: "the symbol lake: symbol files in, source-level stacks out", Version: query.Version(),
		Commands: commands, Topics: docs.Topics, Formats: known, Stores: all.Open, Credentials: all.Credentials, About: query.About, Run: runJob}
}

// runJob runs a job that takes a workspace.
func runJob(job any, s *session.Session) error {
	return job.(interface {
		Run(*workspace.Workspace) error
	}).Run(workspace.New(s))
}
