// Package jobs is the command line: one file a job, and what jobs share
// (settings, opening a store, exit codes, output forms). It builds things from
// flags and files and runs them; what a test would want to know stands below,
// in ingest, sinks and formats.
package jobs
