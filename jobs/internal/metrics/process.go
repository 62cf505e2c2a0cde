package metrics

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// ticks is the unit of times in /proc/PID/stat, in parts of a second. Linux reports in it on every machine.
	ticks = 100
	// Places of numbers in /proc/PID/stat, counted from the state, which follows the name in parentheses.
	statUser, statSystem, statStart, statVirtual, statResident = 11, 12, 19, 20, 21
)

// Process returns what Linux counts of this process, by the names and texts of Prometheus's own client library. What the
// system does not tell is left out: all of it elsewhere than on Linux.
func Process() []Family { return process("/proc") }

func process(proc string) (all []Family) {
	self := filepath.Join(proc, "self")
	if stat := fields(filepath.Join(self, "stat")); len(stat) > statResident {
		all = append(all,
			counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", (parse(stat[statUser])+parse(stat[statSystem]))/ticks),
			gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", parse(stat[statVirtual])),
			gauge("process_resident_memory_bytes", "Resident memory size in bytes.", parse(stat[statResident])*float64(os.Getpagesize())))
		if booted, ok := after(filepath.Join(proc, "stat"), "btime "); ok {
			all = append(all, gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", parse(booted)+parse(stat[statStart])/ticks))
		}
	}
	if open, err := os.ReadDir(filepath.Join(self, "fd")); err == nil {
		all = append(all, gauge("process_open_fds", "Number of open file descriptors.", len(open)))
	}
	limits := filepath.Join(self, "limits")
	if most, ok := after(limits, "Max open files"); ok {
		all = append(all, gauge("process_max_fds", "Maximum number of open file descriptors.", limit(most)))
	}
	if most, ok := after(limits, "Max address space"); ok {
		all = append(all, gauge("process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.", limit(most)))
	}
	received, sent := network(filepath.Join(self, "net", "netstat"))
	if received != "" {
		all = append(all,
			counter("process_network_receive_bytes_total", "Number of bytes received by the process over the network.", parse(received)),
			counter("process_network_transmit_bytes_total", "Number of bytes sent by the process over the network.", parse(sent)))
	}
	return all
}

// fields are the words behind the name of the process, which may have any character.
func fields(path string) []string {
	text := read(path)
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
}

// read returns the text of a file, "" if there is none.
func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// after returns the first word behind the start of a line.
func after(path, start string) (string, bool) {
	for line := range strings.Lines(read(path)) {
		if rest, ok := strings.CutPrefix(line, start); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				return words[0], true
			}
		}
	}
	return "", false
}

// network returns the counts of bytes in a table of pairs of lines: names, then numbers.
func network(path string) (received, sent string) {
	var names []string
	for line := range strings.Lines(read(path)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "IpExt:" {
			continue
		}
		for i, name := range names {
			switch {
			case i >= len(words):
			case name == "InOctets":
				received = words[i]
			case name == "OutOctets":
				sent = words[i]
			}
		}
		names = words
	}
	return received, sent
}

// limit is a limit of the system; none is the largest number, as Prometheus has it.
func limit(text string) float64 {
	if text == "unlimited" {
		return 1 << 64
	}
	return parse(text)
}

// parse returns 0 for text that is no number.
func parse(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}
