// Package all lists the documents of the program that loads.
//
// The program that only looks up links package docs alone, and so no loader.
package all

import (
	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/jobs/docs"
	"github.com/symlake/symlake/sinks/hbase"
	"github.com/symlake/symlake/sinks/lake"
)

// Topics returns every topic, in the order in which a reader meets them.
func Topics() []docs.Topic {
	return append(docs.Topics(),
		docs.Topic{Name: "install", Summary: "packages, archives, the image, what they install", Text: docs.Install, Path: "jobs/docs/install.md"},
		docs.Topic{Name: "operator", Summary: "schedule, workers, limits, budgets, metrics, upgrade, backup, troubleshooting", Text: docs.Operator, Path: "jobs/docs/operator.md"},
		docs.Topic{Name: "encryption", Summary: "keys: roles, rotation, shredding, export, audit", Text: docs.Keys, Path: "jobs/docs/keys.md"},
		docs.Topic{Name: "formats", Summary: "symbol objects that ingest reads", Text: formats.README, Path: "formats/README.md"},
		docs.Topic{Name: "hbase", Summary: "a store in HBase", Text: hbase.README, Path: "sinks/hbase/README.md"},
		docs.Topic{Name: "settings", Summary: "every setting: its flag, variable, key and default", Text: docs.Settings, Path: "jobs/docs/config.md"},
		docs.Topic{Name: "cli", Summary: "every command, argument, flag and variable", Text: docs.CommandLine, Path: "jobs/docs/cli.md"},
		docs.Topic{Name: "tables", Summary: "the Parquet lake: tables, columns, queries, tables of stacks", Text: lake.README, Path: "sinks/lake/README.md"},
		docs.Topic{Name: "changes", Summary: "what each version adds and changes", Text: docs.Changelog, Path: "jobs/docs/CHANGELOG.md"},
		docs.Topic{Name: "upgrading", Summary: "what to do when you replace the program", Text: docs.Upgrading, Path: "jobs/docs/UPGRADING.md"},
	)
}
