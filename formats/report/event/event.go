// Package event reads the JSON events that services for errors take, by one table of their shapes.
//
// A shape is a row of the table: data that says under which members a service keeps its lists of frames and images,
// its threads and exceptions, and how their facts are called. One engine, package shape, reads and prints all rows.
//
// # Adding a service
//
// Take an event of the service, or the example in its documentation, and write a row:
//
//	var acme = &shape.Shape{
//		Name: "acme", Service: "Acme", Kinds: "Java",
//		Lines:      "JSON with crash.stack, and frames of cls, fn and ln",
//		Signs:      []string{"crash"},
//		Frames:     "crash.stack",
//		Frame:      shape.Names{Class: "cls", Function: "fn method", File: "src", Line: "ln"},
//		Exceptions: "crash",
//		Exception:  shape.Names{Class: "kind"},
//	}
//
// Put the row into table, before the rows without a service. Add a fixture to dialect_test.go, and run
// go test ./formats/report/event -update, which writes the table of services into the README of reports.
//
// A frame is native if it has an address, or an offset and an image. It is a script's if it has a script's name, a line and a
// column. It is of the JVM if it has a class and a function. The first row that fits an object takes it, and a frame that fits
// no row is reported as unread. Of members with one name the last counts. Stacks in strings need no row: package report
// reads texts of all dialects in any string.
package event

import (
	"github.com/symlake/symlake/formats/report"
)

// Dialect reads the JSON events that services for errors take.
var Dialect = report.Dialect{
	Name:   "event",
	Forms:  table.Forms(),
	Values: []report.Reader{table.Read},
}
