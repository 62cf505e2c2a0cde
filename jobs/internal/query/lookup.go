package query

import (
	"errors"

	"github.com/symlake/symlake/jobs/garbage"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/sinks/lookup"
)

type LookupJob struct {
	Artifact  string   `arg:"" optional:"" help:"Any name of it: build-id, debug-id, file name, APP@BUILD."`
	Positions []string `arg:"" optional:"" name:"position" help:"0x1f3a: address of the file; +0x1f3a: from the image base; NAME+0x1f3a: from a symbol or section; LINE:COLUMN: of a script, from 1 and from 0."`
	Stdin     bool     `help:"Read ARTIFACT POSITION lines from standard input."`
	Style     string   `help:"Text form: llvm (as llvm-symbolizer prints) or addr2line (as addr2line -ipfC)." enum:"llvm,addr2line" default:"llvm"`
	Context   uint32   `help:"Print up to N lines of the source before and behind each frame's, where its map was loaded with them (sources_content)." placeholder:"N"`
	Demangle  bool     `help:"Print readable names." default:"true" negatable:""`
	App       string   `help:"APP@BUILD that an ambiguous name belongs to." placeholder:"APP@BUILD"`
	Arch      string   `help:"Architecture that an ambiguous name belongs to." placeholder:"ARCH"`
}

func (LookupJob) Help() string {
	return "Example:\n  symlake lookup 564bb6c8be48eea9d9db622b8689806eea5af3c7 0x47d4 0x4748"
}

// lookupCacheBytes is what one command may remember: enough for every block
// and name of a large image.
const lookupCacheBytes = 1 << 30

const LookupGCPercent = 200

// Run answers positions in the order asked.
func (j LookupJob) Run(p *session.Session) error {
	switch {
	case j.Stdin && j.Artifact != "":
		return exit.Usage("--stdin reads artifacts and positions from standard input: give none")
	case j.Context > 0 && j.Style != "llvm":
		return exit.Usage("--context goes with --style llvm or --json")
	case !j.Stdin && len(j.Positions) == 0:
		return exit.Usage("want ARTIFACT POSITION …, or --stdin")
	}
	server, err := p.Remote()
	if err != nil {
		return err
	}
	var client *lookup.Client
	if server == nil {
		var close func() error
		if client, close, err = p.OpenClient(lookup.Options{NoDemangle: !j.Demangle, CacheBytes: lookupCacheBytes}); err != nil {
			return err
		}
		defer close()
	}
	b := newLookups(p, &j, client, server)
	if j.Stdin {
		// Caches grow until the end, so most collections find nothing to free.
		p.Collections.Then(garbage.FirstHeapPercent, LookupGCPercent)
		err = b.read(p.In)
	} else {
		for _, pos := range j.Positions {
			if err = b.add([]byte(j.Artifact), []byte(pos)); err != nil {
				break
			}
		}
	}
	return errors.Join(err, b.close())
}
