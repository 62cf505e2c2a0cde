// Package disk rebuilds a folder as a process left it at any of its system calls: as other processes
// see it, and as a loss of power leaves it. strace records the calls; a replay applies them to a copy
// of the folder in memory. It serves tests on Linux.
package disk

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Calls are the system calls to record, as strace's option -e trace= takes them. Record with -f, -y,
// -xx and a -s above every write.
const Calls = "open,openat,creat,close,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fallocate,rename,renameat,renameat2," +
	"link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,fsync,fdatasync,copy_file_range,sendfile,splice,dup,dup2,dup3,sync_file_range"

// Disk is a folder as a process changed it: what the page cache holds, and what a loss of power
// leaves. One goroutine uses it.
type Disk struct {
	Root  string           // the folder that the record names: New's, unless that was a copy
	files map[string]*file // by path below root: as processes see them
	// durable holds, by folder, the names in it as of its last sync.
	durable map[string]map[string]*file
	fds     map[int]string   // paths of open files and folders, by descriptor
	unnamed map[string]*file // files without a name yet, by what the system calls them
}

// file is a file, or a folder.
type file struct {
	folder bool
	data   []byte
	synced []byte
	// Changes since the last sync, in order.
	unsynced []change
}

type change struct {
	at   int64
	data []byte // nil: the file was cut, or extended, to at
}

func (f *file) apply(w change) {
	if w.data == nil {
		f.data = resized(f.data, w.at)
	} else {
		f.data = written(f.data, w)
	}
	f.unsynced = append(f.unsynced, w)
}

func resized(data []byte, n int64) []byte {
	if int64(len(data)) >= n {
		return slices.Clone(data[:n])
	}
	return append(slices.Clone(data), make([]byte, n-int64(len(data)))...)
}

func written(data []byte, w change) []byte {
	if end := w.at + int64(len(w.data)); end > int64(len(data)) {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[w.at:], w.data)
	return data
}

func (f *file) sync() { f.synced, f.unsynced = slices.Clone(f.data), nil }

// torn is the file when power fails while the last writes are on their way: half of the last one arrived.
func (f *file) torn() []byte {
	data := slices.Clone(f.synced)
	for i, w := range f.unsynced {
		switch {
		case w.data == nil:
			data = resized(data, w.at)
		case i < len(f.unsynced)-1:
			data = written(data, w)
		default:
			data = written(data, change{w.at, w.data[:len(w.data)/2]})
		}
	}
	return data
}

// New reads a folder that is on disk as a whole.
func New(root string) (*Disk, error) {
	d := &Disk{Root: root, files: map[string]*file{"": {folder: true}}, durable: map[string]map[string]*file{}, fds: map[int]string{}, unnamed: map[string]*file{}}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		f := &file{folder: e.IsDir()}
		if !f.folder {
			if f.data, err = os.ReadFile(path); err != nil {
				return err
			}
			f.sync()
		}
		d.files[path[len(root)+1:]] = f
		return nil
	})
	for path, f := range d.files {
		if f.folder {
			d.syncFolder(path)
		}
	}
	return d, err
}

// within lists the names in a folder.
func (d *Disk) within(folder string) map[string]*file {
	names := map[string]*file{}
	for path, f := range d.files {
		if path != "" && parentOf(path) == folder {
			names[filepath.Base(path)] = f
		}
	}
	return names
}

func parentOf(path string) string {
	if dir := filepath.Dir(path); dir != "." {
		return dir
	}
	return ""
}

func (d *Disk) syncFolder(path string) { d.durable[path] = d.within(path) }

// The ways in which a process and its machine end.
const (
	Killed = "killed"      // the page cache stays
	Lost   = "power lost"  // only synced bytes are left
	Torn   = "writes torn" // names arrived, and half of the unsynced bytes
)

// Image writes the folder as an end leaves it, to a new one.
func (d *Disk) Image(how, to string) error {
	if how == Lost {
		return d.lostImage("", to)
	}
	for _, path := range slices.Sorted(maps.Keys(d.files)) { // folders come before their files
		f := d.files[path]
		data := f.data
		if how == Torn {
			data = f.torn()
		}
		if err := f.write(data, filepath.Join(to, path)); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) write(data []byte, path string) error {
	if f.folder {
		return os.MkdirAll(path, 0o755)
	}
	return os.WriteFile(path, data, 0o600)
}

func (d *Disk) lostImage(folder, to string) error {
	if err := os.MkdirAll(filepath.Join(to, folder), 0o755); err != nil {
		return err
	}
	for name, f := range d.durable[folder] {
		path := filepath.Join(folder, name)
		if f.folder {
			// What stands in a folder is known by its path now: folders are not renamed.
			if err := d.lostImage(path, to); err != nil {
				return err
			}
			continue
		}
		if err := f.write(f.synced, filepath.Join(to, path)); err != nil {
			return err
		}
	}
	return nil
}

var (
	callLine   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?`)
	unfinished = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	fdArgument = regexp.MustCompile(`^(-?\d+|AT_FDCWD)(?:<([^>]*)>(?:\(deleted\))?)?$`)
	procFdPath = regexp.MustCompile(`^/proc/self/fd/(\d+)$`)
)

// Replay reads what strace recorded and calls each after every change. each's error comes back unchanged.
func (d *Disk) Replay(record io.Reader, each func() error) error {
	in := bufio.NewScanner(record)
	in.Buffer(nil, 1<<30)
	begun := map[string]string{} // by process: a call that is not over
	for in.Scan() {
		line := in.Text()
		if m := unfinished.FindStringSubmatch(line); m != nil {
			begun[m[1]] = m[1] + " " + m[2] + "(" + m[3]
			continue
		}
		if m := resumed.FindStringSubmatch(line); m != nil {
			line = begun[m[1]] + m[3]
			delete(begun, m[1])
		}
		m := callLine.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[4], "-") {
			continue // a signal, an exit, or a call that failed
		}
		changed, err := d.call(m[2], arguments(m[3]), m[4], unhex(m[5]))
		if err != nil {
			return fmt.Errorf("replay a call: %w: %.300s", err, line)
		}
		if changed {
			if err := each(); err != nil {
				return err
			}
		}
	}
	return in.Err()
}

// EachImage replays a record and calls each for every image that differs from the last one of its
// kind. each's error comes back unchanged.
func (d *Disk) EachImage(record io.Reader, each func(how string) error) error {
	last := map[string]string{}
	return d.Replay(record, func() error {
		for _, how := range []string{Killed, Lost, Torn} {
			now := d.State(how)
			if now == last[how] {
				continue
			}
			last[how] = now
			if err := each(how); err != nil {
				return err
			}
		}
		return nil
	})
}

// arguments cuts a call's arguments apart: strings have no comma in them, since all of their bytes are written in hex.
func arguments(s string) []string {
	all := strings.Split(s, ", ")
	for i, a := range all {
		if m := fdArgument.FindStringSubmatch(a); m != nil && m[2] != "" {
			all[i] = m[1] + "<" + unhex(m[2])
		} else if strings.HasPrefix(a, `"`) {
			all[i] = unhex(strings.Trim(a, `"`))
		}
	}
	return all
}

// unhex reads \x41\x42.
func unhex(s string) string {
	if !strings.HasPrefix(s, `\x`) {
		return s
	}
	b := make([]byte, 0, len(s)/4)
	for i := 0; i+4 <= len(s); i += 4 {
		n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		if err != nil {
			return s
		}
		b = append(b, byte(n))
	}
	return string(b)
}

// below gives the path below root; ok false: it is elsewhere.
func (d *Disk) below(path string) (string, bool) {
	if path == d.Root {
		return "", true
	}
	return strings.CutPrefix(path, d.Root+"/")
}

// at joins a folder's descriptor and a path of a call.
func at(fd, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	_, dir, _ := strings.Cut(fd, "<")
	return filepath.Join(dir, path)
}

// of is the file that a descriptor names; nil: it is not below root.
func (d *Disk) of(fd string) (*file, string) {
	_, path, _ := strings.Cut(fd, "<")
	if f := d.unnamed[path]; f != nil {
		return f, path
	}
	below, ok := d.below(path)
	if !ok {
		return nil, ""
	}
	return d.files[below], below
}

// call carries out a system call that succeeded, and reports whether it changed the folder.
func (d *Disk) call(name string, args []string, result, resultPath string) (changed bool, err error) {
	switch name {
	case "open":
		return d.open(args[1], result, resultPath), nil
	case "openat":
		return d.open(args[2], result, resultPath), nil
	case "write":
		f, _ := d.of(args[0])
		if f == nil {
			return false, nil
		}
		f.apply(change{int64(len(f.data)), []byte(args[1])})
		return true, nil
	case "pwrite64":
		f, _ := d.of(args[0])
		if f == nil {
			return false, nil
		}
		offset, err := strconv.ParseInt(args[3], 10, 64)
		f.apply(change{offset, []byte(args[1])})
		return true, err
	case "ftruncate":
		f, _ := d.of(args[0])
		if f == nil {
			return false, nil
		}
		n, err := strconv.ParseInt(args[1], 10, 64)
		f.apply(change{at: n})
		return true, err
	case "fsync", "fdatasync":
		f, path := d.of(args[0])
		if f == nil {
			return false, nil
		}
		if f.folder {
			d.syncFolder(path)
		} else {
			f.sync()
		}
		return true, nil
	case "rename":
		return d.rename(at("", args[0]), at("", args[1])), nil
	case "renameat", "renameat2":
		return d.rename(at(args[0], args[1]), at(args[2], args[3])), nil
	case "linkat":
		return d.link(at(args[0], args[1]), at(args[2], args[3])), nil
	case "unlink", "rmdir":
		return d.remove(at("", args[0])), nil
	case "unlinkat":
		return d.remove(at(args[0], args[1])), nil
	case "mkdir":
		return d.mkdir(at("", args[0])), nil
	case "mkdirat":
		return d.mkdir(at(args[0], args[1])), nil
	case "close", "dup", "dup2", "dup3", "sync_file_range":
		return false, nil
	case "fallocate":
		f, _ := d.of(args[0])
		if f != nil {
			return false, fmt.Errorf("not replayed")
		}
		return false, nil
	}
	for _, a := range args {
		if f, _ := d.of(a); f != nil {
			return false, fmt.Errorf("not replayed")
		}
	}
	return false, nil
}

// open notes new, unnamed and cut files.
func (d *Disk) open(flags, result, path string) bool {
	fd, _ := strconv.Atoi(result)
	d.fds[fd] = path
	if strings.Contains(flags, "O_TMPFILE") {
		if _, ok := d.below(path); ok {
			d.unnamed[path] = &file{}
		}
		return false
	}
	below, ok := d.below(path)
	if !ok {
		return false
	}
	f := d.files[below]
	switch {
	case f == nil && strings.Contains(flags, "O_CREAT"):
		d.files[below] = &file{}
		return true
	case f != nil && strings.Contains(flags, "O_TRUNC"):
		f.apply(change{at: 0})
		return true
	}
	return false
}

func (d *Disk) rename(from, to string) bool {
	old, ok := d.below(from)
	now, ok2 := d.below(to)
	if !ok || !ok2 || d.files[old] == nil {
		return false
	}
	d.files[now] = d.files[old]
	delete(d.files, old)
	return true
}

func (d *Disk) link(from, to string) bool {
	now, ok := d.below(to)
	if !ok {
		return false
	}
	if m := procFdPath.FindStringSubmatch(from); m != nil {
		fd, _ := strconv.Atoi(m[1])
		d.files[now] = d.unnamed[d.fds[fd]]
	} else if old, ok := d.below(from); ok {
		d.files[now] = d.files[old]
	}
	return true
}

func (d *Disk) remove(path string) bool {
	below, ok := d.below(path)
	if !ok || d.files[below] == nil {
		return false
	}
	delete(d.files, below)
	return true
}

func (d *Disk) mkdir(path string) bool {
	below, ok := d.below(path)
	if !ok {
		return false
	}
	d.files[below] = &file{folder: true}
	return true
}

// State is what an image would hold, for telling equal ones.
func (d *Disk) State(how string) string {
	var b bytes.Buffer
	dump := func(path string, f *file, data []byte) {
		fmt.Fprintf(&b, "%s %t %d %s\n", path, f.folder, len(data), data)
	}
	if how == Lost {
		var walk func(folder string)
		walk = func(folder string) {
			names := d.durable[folder]
			for _, name := range slices.Sorted(maps.Keys(names)) {
				path := filepath.Join(folder, name)
				if dump(path, names[name], names[name].synced); names[name].folder {
					walk(path)
				}
			}
		}
		walk("")
		return b.String()
	}
	for _, path := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[path]
		data := f.data
		if how == Torn {
			data = f.torn()
		}
		dump(path, f, data)
	}
	return b.String()
}
