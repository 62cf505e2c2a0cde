// Package json reads JSON where encoding/json cannot: values too large for memory, values that are cut
// or still arriving, and values with a place in the input that matters.
//
//   - A Reader walks an input of any size through a window of 256 KiB and fails with the offset. Source
//     maps use it: it passes over a string of tens of megabytes, and the caller may read inside one.
//   - A Stream collects a value of any size that arrives in pieces, and takes it apart where it is too long for memory.
//     Reports use it.
//   - A Scan finds the end of a value that arrives in pieces. Traces use it.
//   - A Walker visits the values of a text in memory, builds nothing and knows where each stands. Reports
//     use it: it reads a cut text as far as it goes.
//
// # Why no library reads them
//
// The one library with offsets that is kept is encoding/json/jsontext, which is
// github.com/go-json-experiment/json outside of GOEXPERIMENT=jsonv2. Version 1.27.2 beside this package,
// one core, the best of three runs (source map: 38 MB, 20 MB of it mappings; trace: 100,000 events;
// report: an event with 300 frames):
//
//	                                     jsontext      here
//	source map, heap at its highest      49 MB         0.3 MB
//	trace, events taken apart            493 MB/s      917 MB/s
//	report, values passed over           799 MB/s      862 MB/s
//	report, values all read              407 MB/s      283 MB/s
//
// It holds a whole string in memory, so a source map costs what its mappings take. It also refuses what
// crash reports contain: tabs inside strings and numbers such as 0x10.
package json
