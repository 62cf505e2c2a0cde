package perfetto

import (
	"bytes"
	"github.com/symlake/symlake/formats/internal/protobuf"
	"slices"
	"strings"
)

// processes tell which packages of Android were sampled.
type processes struct {
	known    map[uint64]process // by pid
	seen     map[uint64]bool    // pids of samples
	last     uint64             // of them
	packages map[uint64]string  // the first of an application's id
	versions map[string]uint64
}

// process is a process of the trace.
type process struct {
	name string
	uid  uint64
}

func newProcesses() processes {
	return processes{known: map[uint64]process{}, seen: map[uint64]bool{}, packages: map[uint64]string{}, versions: map[string]uint64{}, last: 1 << 63}
}

// maxProcesses bounds the processes and packages of a trace; Android numbers 32768 processes by default.
const maxProcesses = 1 << 16

func (w *processes) sampled(pid uint64) {
	if pid != w.last && len(w.seen) < maxProcesses {
		w.last, w.seen[pid] = pid, true
	}
}

// tree takes processes of the system.
func (w *processes) tree(f *protobuf.Fields) {
	for f.Next() {
		if !f.Is(treeProcess) {
			continue
		}
		p := protobuf.Read(f.Bytes)
		pid, one := uint64(0), process{}
		for p.Next() {
			switch p.Number {
			case processPID:
				pid = p.Value
			case processCommand:
				if one.name == "" {
					one.name = processName(p.Bytes)
				}
			case processUID:
				one.uid = p.Value
			}
		}
		w.add(pid, one)
	}
}

// descriptor takes a process that describes itself.
func (w *processes) descriptor(f *protobuf.Fields) {
	pid, one := uint64(0), process{}
	for f.Next() {
		switch {
		case f.Number == descriptorPID:
			pid = f.Value
		case f.Is(descriptorProcess):
			one.name = processName(f.Bytes)
		}
	}
	if old := w.known[pid]; old.uid != 0 {
		one.uid = old.uid
	}
	w.add(pid, one)
}

func (w *processes) add(pid uint64, one process) {
	if _, known := w.known[pid]; known || len(w.known) < maxProcesses {
		w.known[pid] = one
	}
}

// processName is the beginning of a name, without the service of an application: "com.example:remote".
func processName(b []byte) string {
	name, _, _ := bytes.Cut(b[:min(len(b), 256)], []byte(":"))
	return string(name)
}

// list takes the packages of the system.
func (w *processes) list(f *protobuf.Fields) {
	for f.Next() {
		if !f.Is(packagesPackage) {
			continue
		}
		p := protobuf.Read(f.Bytes)
		name, uid, version := "", uint64(0), uint64(0)
		for p.Next() {
			switch {
			case p.Is(packageName):
				name = string(p.Bytes[:min(len(p.Bytes), 256)])
			case p.Number == packageUID:
				uid = p.Value
			case p.Number == packageVersion:
				version = p.Value
			}
		}
		if name == "" || len(w.versions) >= maxProcesses {
			continue
		}
		w.versions[name] = version
		if uid %= usersIDs; w.packages[uid] == "" {
			w.packages[uid] = name
		}
	}
}

// usersIDs is how many ids a user of Android has; the rest is the application's.
const usersIDs = 100000

// found returns the packages that were sampled, ascending.
func (w *processes) found() []string {
	var all []string
	for pid := range w.seen {
		p, known := w.known[pid]
		name := ""
		if known && p.uid != 0 {
			name = w.packages[p.uid%usersIDs]
		}
		if name == "" && strings.Contains(p.name, ".") && !strings.ContainsAny(p.name, "/ @") {
			name = p.name
		}
		if name != "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// everyone returns the names of all processes that look like packages, ascending.
func (w *processes) everyone() []string {
	for pid := range w.known {
		w.seen[pid] = true
	}
	return w.found()
}
