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
	"github.com/symlake/symlake/jobs/internal/program"
	"github.com/symlake/symlake/jobs/internal/query"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks/all"
)

// commands are all of them, in the order of --help.
func commands() []program.Command {
	return []program.Command{
		{Name: "init", Job: new(initJob), Help: "Create what is missing: symlake.yaml, keyset, folders."},
		{Name: "ingest", Job: new(ingestJob), Help: "Find new objects, explode, load, publish."},
		{Name: "report", Job: new(reportJob), Help: "Print what runs did and could not tell."},
		{Name: "load", Job: new(loadJob), Help: "Copy published loads of one store to another."},
		{Name: "lookup", Job: new(query.LookupJob), Help: "Print the frames at positions of an artifact."},
		{Name: "symbolicate", Job: query.NewSymbolicate(workspace.ExplodeFiles, restTables{}), Help: "Turn raw stacks into source-level ones."},
		{Name: "artifacts", Job: new(artifactsJob), Help: "List what is stored."},
		{Name: "objects", Job: new(objectsJob), Help: "Print the ledger: what was seen, loaded, kept, skipped, rejected and why."},
		{Name: "status", Job: new(statusJob), Help: "Print what an operator asks first."},
		{Name: "serve", Job: new(query.ServeJob), Help: "Answer over HTTP."},
		{Name: "inspect", Job: new(inspectJob), Help: "Print what symlake sees in a file."},
		{Name: "plan", Job: new(planJob), Help: "Print the pending objects, big ones first."},
		{Name: "rollback", Job: new(rollbackJob), Help: "Publish the previous load of an artifact again, and pin it."},
		{Name: "forget", Job: new(forgetJob), Help: "Remove artifacts from store, lake and names."},
		{Name: "verify", Job: new(verifyJob), Help: "Read everything back and check it."},
		{Name: "gc", Job: new(gcJob), Help: "Remove abandoned loads and those older than the previous one."},
		{Name: "compact", Job: new(compactJob), Help: "Merge small files of the lake."},
		{Name: "keys", Job: new(keysJob), Help: "List, rotate, shred and export keys."},
		{Name: "audit", Job: new(auditJob), Help: "Print who rotated, shredded, exported, copied, forced, and when."},
		{Name: "demangle", Job: new(query.DemangleJob), Help: "Print the readable form of C++ and Rust names."},
		{Name: "version", Job: new(query.VersionJob), Help: "Print version, commit and Go version."},
	}
}

// Main runs one command of symlake and returns the exit code of the process.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	return mainWith(ctx, formatsall.Formats(), args, in, out, errOut)
}

// mainWith is Main with the formats that ingest reads.
func mainWith(ctx context.Context, known []*formats.Format, args []string, in io.Reader, out, errOut io.Writer) int {
	g := program.Program{Name: "symlake", Help: "The symbol lake: symbol files in, source-level stacks out.", Commands: commands, Formats: known, Stores: all.Open, Run: runJob}
	return g.Main(ctx, args, in, out, errOut)
}

// runJob runs a job that takes a workspace.
func runJob(job any, s *session.Session) error {
	return job.(interface {
		Run(*workspace.Workspace) error
	}).Run(workspace.New(s))
}
