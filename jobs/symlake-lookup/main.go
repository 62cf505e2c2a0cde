// Command symlake-lookup answers from a store: positions, stacks and names, on the command line and over HTTP. It is
// the program for hosts that only ask. It has the commands of symlake by the same code, and links neither S3 nor
// Parquet, Arrow, HDFS, OpenTelemetry and gRPC.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/symlake/symlake/jobs/docs"
	"github.com/symlake/symlake/jobs/internal/program"
	"github.com/symlake/symlake/jobs/internal/query"
)

const (
	name = "symlake-lookup"
	help = "the symbol lake's answers: source-level stacks out of a store"
)

// commands are all of them, in the order of --help.
func commands() []program.Command {
	const (
		lookUp  = "Look up"
		operate = "Operate"
	)
	return []program.Command{
		{Name: "symbolicate", Group: lookUp, Job: query.NewSymbolicate(nil, nil), Help: "Turn raw stacks into source-level ones."},
		{Name: "lookup", Group: lookUp, Job: new(query.LookupJob), Help: "Print the frames at positions of an artifact."},
		{Name: "demangle", Group: lookUp, Job: new(query.DemangleJob), Help: "Print the readable form of C++ (Microsoft's too), Rust and Swift names."},
		{Name: "serve", Group: lookUp, Job: query.NewServe(nil), Help: "Answer over HTTP, with a page for browsers."},
		{Name: "version", Group: operate, Job: new(query.VersionJob), Help: "Print version, commit and Go version."},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	g := program.Program{Name: name, Help: help, Version: query.Version(), Commands: commands, Topics: docs.Topics, About: query.About}
	code := g.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
