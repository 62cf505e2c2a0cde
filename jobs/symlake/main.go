// Command symlake is the symbol lake's one binary; see symlake --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/symlake/symlake/jobs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := jobs.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
