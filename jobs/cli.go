package jobs

import (
	"context"
	"io"

	"github.com/symlake/symlake/formats"
	formatsall "github.com/symlake/symlake/formats/all"
)

// commands are all of them, in the order of --help.
func commands() []command {
	return []command{
		{"init", new(initJob), "Create what is missing: symlake.yaml, keyset, folders."},
		{"ingest", new(ingestJob), "Find new objects, explode, load, publish."},
		{"report", new(reportJob), "Print what runs did and could not tell."},
		{"load", new(loadJob), "Copy published loads of one store to another."},
		{"lookup", new(lookupJob), "Print the frames at positions of an artifact."},
		{"symbolicate", newSymbolicate(explodeFiles, restTables{}), "Turn raw stacks into source-level ones."},
		{"artifacts", new(artifactsJob), "List what is stored."},
		{"objects", new(objectsJob), "Print the ledger: what was seen, loaded, kept, skipped, rejected and why."},
		{"status", new(statusJob), "Print what an operator asks first."},
		{"serve", new(serveJob), "Answer over HTTP."},
		{"inspect", new(inspectJob), "Print what symlake sees in a file."},
		{"plan", new(planJob), "Print the pending objects, big ones first."},
		{"rollback", new(rollbackJob), "Publish the previous load of an artifact again, and pin it."},
		{"forget", new(forgetJob), "Remove artifacts from store, lake and names."},
		{"verify", new(verifyJob), "Read everything back and check it."},
		{"gc", new(gcJob), "Remove abandoned loads and those older than the previous one."},
		{"compact", new(compactJob), "Merge small files of the lake."},
		{"keys", new(keysJob), "List, rotate, shred and export keys."},
		{"audit", new(auditJob), "Print who rotated, shredded, exported, copied, forced, and when."},
		{"demangle", new(demangleJob), "Print the readable form of C++ and Rust names."},
		{"version", new(versionJob), "Print version, commit and Go version."},
	}
}

// Main runs one command of symlake and returns the exit code of the process.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	return mainWith(ctx, formatsall.Formats(), args, in, out, errOut)
}

// mainWith is Main with the formats that ingest reads.
func mainWith(ctx context.Context, known []*formats.Format, args []string, in io.Reader, out, errOut io.Writer) int {
	g := program{commands: commands, formats: known, bind: func(p *process) any { return newWorkspace(p) }}
	return g.main(ctx, args, in, out, errOut)
}
