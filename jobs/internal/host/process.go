// Package host tells processes of this machine apart, and bounds them.
package host

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Identity is this process as its host can tell it from a later one with its number. A worker is its supervisor: it does
// not outlive it: a kill of the supervisor ends both.
func Identity(worker bool) string {
	pid := os.Getpid()
	if worker {
		pid = os.Getppid()
	}
	return fmt.Sprintf("%d %s", pid, StartOf(pid))
}

// ProcessAlive tells whether a process that wrote a lease still runs, if that can be known from here.
func ProcessAlive(host, process string) (alive, known bool) {
	if host == "" || host != ThisHost() {
		return false, false
	}
	number, start, _ := strings.Cut(process, " ")
	pid, err := strconv.Atoi(number)
	if err != nil || start == "" {
		return false, false
	}
	return StartOf(pid) == start, true
}
