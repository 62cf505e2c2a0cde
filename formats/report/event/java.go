package event

import (
	"github.com/symlake/symlake/formats/report/internal/shape"
	"github.com/symlake/symlake/formats/symbol"
)

// stackTraceElements are what libraries for JSON make of Java's StackTraceElement.
var stackTraceElements = &shape.Shape{
	Name:       "java-json",
	Lines:      "JSON with frames of declaringClass, methodName, fileName and lineNumber, as libraries write a StackTraceElement",
	Signs:      []string{"declaringClass className", "methodName"},
	Kind:       symbol.R8,
	Frame:      shape.Names{Class: "declaringClass className", Function: "methodName", File: "fileName", Line: "lineNumber"},
	Exceptions: "exception innerExceptions throwable cause suppressed",
	Exception:  shape.Names{Class: "type className"},
}

// logEvents are frames as layouts of Log4j write them.
var logEvents = &shape.Shape{
	Name:       "java-json",
	Signs:      []string{"class", "method", "line"},
	Kind:       symbol.R8,
	Needs:      "class method line",
	Frame:      shape.Names{Class: "class", Function: "method", File: "file", Line: "line"},
	Exceptions: "thrown cause suppressed",
	Exception:  shape.Names{Class: "name"},
}

// qualified are frames of Java in JSON of any program: the method holds the class.
var qualified = &shape.Shape{
	Name:      "java-json",
	Signs:     []string{"method", "lineNumber"},
	Kind:      symbol.R8,
	Needs:     "method lineNumber",
	Frame:     shape.Names{Function: "method", File: "file", Line: "lineNumber"},
	Qualified: true,
}
