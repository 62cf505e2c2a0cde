package jobs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// thisProcess is this process as its host can tell it from a later one with its number.
func thisProcess() string {
	return fmt.Sprintf("%d %s", os.Getpid(), startOf(os.Getpid()))
}

// processAlive tells whether a process that wrote a lease still runs, if that can be known from here.
func processAlive(host, process string) (alive, known bool) {
	if host == "" || host != thisHost() {
		return false, false
	}
	number, start, _ := strings.Cut(process, " ")
	pid, err := strconv.Atoi(number)
	if err != nil || start == "" {
		return false, false
	}
	return startOf(pid) == start, true
}
