// Command symlake-lookup answers from a store: positions, stacks and names, on the command line and over HTTP. It is
// the program for hosts that only ask. It has the commands of symlake by the same code, and links neither S3 nor
// Parquet, Arrow, HDFS and OpenTelemetry.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/symlake/symlake/jobs/internal/program"
	"github.com/symlake/symlake/jobs/internal/query"
)

const (
	name = "symlake-lookup"
	help = "The symbol lake's answers: source-level stacks out of a store."
)

// commands are all of them, in the order of --help.
func commands() []program.Command {
	return []program.Command{
		{Name: "lookup", Job: new(query.LookupJob), Help: "Print the frames at positions of an artifact."},
		{Name: "symbolicate", Job: query.NewSymbolicate(nil, nil), Help: "Turn raw stacks into source-level ones."},
		{Name: "serve", Job: new(query.ServeJob), Help: "Answer over HTTP."},
		{Name: "demangle", Job: new(query.DemangleJob), Help: "Print the readable form of C++ and Rust names."},
		{Name: "version", Job: new(query.VersionJob), Help: "Print version, commit and Go version."},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	g := program.Program{Name: name, Help: help, Commands: commands}
	code := g.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
