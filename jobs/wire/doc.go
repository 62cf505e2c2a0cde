// Package wire is what symlake says and is asked in JSON, on the command line
// (--json) and over HTTP alike: answers, stacks, artifacts, and positions as
// people write them. The forms are a contract: fields are added, never changed.
//
// It leaves to lookup what is answered, and to jobs and jobs/serve how a
// question arrives and where its answer goes.
package wire
