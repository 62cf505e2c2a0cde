// Package wire holds symlake's forms in JSON, on the command line (--json) and
// over HTTP alike: answers, stacks, artifacts, and positions as people write them.
// The forms are a contract: fields are added, never changed.
//
// It leaves the answers to lookup; jobs and jobs/serve take questions and deliver
// answers.
package wire
