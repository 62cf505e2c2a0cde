// Package pile keeps what a run over tables cannot hold in memory: byte strings by number, texts by number, and records to
// sort. Each stays in memory as long as a budget lasts and then goes to sealed scratch pages.
//
// It leaves to sinks/tables what the strings and records mean.
package pile
