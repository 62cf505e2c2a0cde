// Package ingest is the pipeline: one object in, committed rows out.
package ingest
