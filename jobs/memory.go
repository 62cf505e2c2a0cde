package jobs

import (
	"fmt"
	"time"

	"github.com/symlake/symlake/formats"
	formatsall "github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// memoryClient explodes files into a store in memory and looks things up there.
func (p *process) memoryClient(paths []string) (*lookup.Client, func() error, error) {
	s, err := all.Open(p.ctx, "mem:", false)
	if err != nil {
		return nil, nil, err
	}
	key := kek.Ephemeral()
	ring, err := row.CreateKeyring(p.ctx, s.Catalog, key)
	if err != nil {
		return nil, nil, err
	}
	var sources []ingest.Source
	for _, path := range paths {
		src, err := p.openSource(SourceConfig{URL: path})
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, src)
	}
	report, err := ingest.Run(p.ctx, sources, ingest.Options{
		Store: s, Keyring: ring, Formats: formatsall.Formats(), Workers: p.config.Limits.Workers, Shards: 1, Run: "memory", Owner: "memory",
		MemoryBytes: int64(p.config.Limits.Memory), Limits: formats.Limits{ObjectBytes: int64(p.config.Limits.Object)}.WithDefaults(), Now: time.Now,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read symbols: %w", err)
	}
	for _, r := range report.Rejected {
		p.log.Warn("symbols rejected", "url", r.URL, "error", r.Error)
	}
	return lookup.New(s, key, lookup.Options{}), s.Close, nil
}
