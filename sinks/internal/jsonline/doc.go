// Package jsonline reads files of JSON, one value a line, and scans values without decoding them.
//
// It leaves to sinks/tables what members mean.
package jsonline
