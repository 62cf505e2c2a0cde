package ingest

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

// tracedCalls are the system calls that change files, and those that say which file a descriptor is.
const tracedCalls = "open,openat,creat,close,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fallocate,rename,renameat,renameat2," +
	"link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,fsync,fdatasync,copy_file_range,sendfile,splice,dup,dup2,dup3,sync_file_range"

// disk is a folder as a process changed it, replayed from a record of its system calls: what the page cache holds, and
// what a loss of power leaves.
type disk struct {
	root  string
	files map[string]*diskFile // by path below root: as processes see them
	// durable holds, by folder, the names in it as of its last sync.
	durable map[string]map[string]*diskFile
	fds     map[int]string       // paths of open files and folders, by descriptor
	unnamed map[string]*diskFile // files without a name yet, by what the system calls them
}

// diskFile is a file, or a folder.
type diskFile struct {
	folder bool
	data   []byte
	synced []byte
	// What was written since the last sync, in order.
	unsynced []diskWrite
}

type diskWrite struct {
	at   int64
	data []byte // nil: the file was cut, or extended, to at
}

func (f *diskFile) apply(w diskWrite) {
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

func written(data []byte, w diskWrite) []byte {
	if end := w.at + int64(len(w.data)); end > int64(len(data)) {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[w.at:], w.data)
	return data
}

func (f *diskFile) sync() { f.synced, f.unsynced = slices.Clone(f.data), nil }

// torn is the file when power fails while the last writes are on their way: half of the last one arrived.
func (f *diskFile) torn() []byte {
	data := slices.Clone(f.synced)
	for i, w := range f.unsynced {
		switch {
		case w.data == nil:
			data = resized(data, w.at)
		case i < len(f.unsynced)-1:
			data = written(data, w)
		default:
			data = written(data, diskWrite{w.at, w.data[:len(w.data)/2]})
		}
	}
	return data
}

// newDisk reads a folder that is wholly on disk.
func newDisk(root string) (*disk, error) {
	d := &disk{root: root, files: map[string]*diskFile{"": {folder: true}}, durable: map[string]map[string]*diskFile{}, fds: map[int]string{}, unnamed: map[string]*diskFile{}}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		f := &diskFile{folder: e.IsDir()}
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
func (d *disk) within(folder string) map[string]*diskFile {
	names := map[string]*diskFile{}
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

func (d *disk) syncFolder(path string) { d.durable[path] = d.within(path) }

// The ways in which a process and its machine end.
const (
	killed = "killed"      // the page cache stays
	lost   = "power lost"  // only what was synced is left
	torn   = "writes torn" // names arrived, and half of what was not synced
)

// image writes the folder as an end leaves it, to a new one.
func (d *disk) image(how, to string) error {
	if how == lost {
		return d.lostImage("", to)
	}
	for _, path := range slices.Sorted(maps.Keys(d.files)) { // folders come before what is in them
		f := d.files[path]
		data := f.data
		if how == torn {
			data = f.torn()
		}
		if err := f.write(data, filepath.Join(to, path)); err != nil {
			return err
		}
	}
	return nil
}

func (f *diskFile) write(data []byte, path string) error {
	if f.folder {
		return os.MkdirAll(path, 0o755)
	}
	return os.WriteFile(path, data, 0o644)
}

func (d *disk) lostImage(folder, to string) error {
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

// replay reads what strace recorded and calls each after every change. each's error comes back unchanged.
func (d *disk) replay(record io.Reader, each func() error) error {
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
func (d *disk) below(path string) (string, bool) {
	if path == d.root {
		return "", true
	}
	return strings.CutPrefix(path, d.root+"/")
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
func (d *disk) of(fd string) (*diskFile, string) {
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
func (d *disk) call(name string, args []string, result, resultPath string) (changed bool, err error) {
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
		f.apply(diskWrite{int64(len(f.data)), []byte(args[1])})
		return true, nil
	case "pwrite64":
		f, _ := d.of(args[0])
		if f == nil {
			return false, nil
		}
		offset, err := strconv.ParseInt(args[3], 10, 64)
		f.apply(diskWrite{offset, []byte(args[1])})
		return true, err
	case "ftruncate":
		f, _ := d.of(args[0])
		if f == nil {
			return false, nil
		}
		n, err := strconv.ParseInt(args[1], 10, 64)
		f.apply(diskWrite{at: n})
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
func (d *disk) open(flags, result, path string) bool {
	fd, _ := strconv.Atoi(result)
	d.fds[fd] = path
	if strings.Contains(flags, "O_TMPFILE") {
		if _, ok := d.below(path); ok {
			d.unnamed[path] = &diskFile{}
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
		d.files[below] = &diskFile{}
		return true
	case f != nil && strings.Contains(flags, "O_TRUNC"):
		f.apply(diskWrite{at: 0})
		return true
	}
	return false
}

func (d *disk) rename(from, to string) bool {
	old, ok := d.below(from)
	now, ok2 := d.below(to)
	if !ok || !ok2 || d.files[old] == nil {
		return false
	}
	d.files[now] = d.files[old]
	delete(d.files, old)
	return true
}

func (d *disk) link(from, to string) bool {
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

func (d *disk) remove(path string) bool {
	below, ok := d.below(path)
	if !ok || d.files[below] == nil {
		return false
	}
	delete(d.files, below)
	return true
}

func (d *disk) mkdir(path string) bool {
	below, ok := d.below(path)
	if !ok {
		return false
	}
	d.files[below] = &diskFile{folder: true}
	return true
}

// state is what an image would hold, for telling equal ones.
func (d *disk) state(how string) string {
	var b bytes.Buffer
	dump := func(path string, f *diskFile, data []byte) {
		fmt.Fprintf(&b, "%s %t %d %s\n", path, f.folder, len(data), data)
	}
	if how == lost {
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
		if how == torn {
			data = f.torn()
		}
		dump(path, f, data)
	}
	return b.String()
}
