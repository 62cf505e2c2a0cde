package hostfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const nonBlocking = 0 // a folder of Windows holds no pipes

// sharing lets others do with an open file all that Unix lets them do.
const sharing = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

func openFile(name string, flag int, _ os.FileMode) (*os.File, error) {
	return open(name, flag, windows.FILE_ATTRIBUTE_NORMAL, nil)
}

// open opens a file with attributes of Windows, and the rights that a new file gets, nil: its folder's rights.
func open(name string, flag int, attributes uint32, rights *windows.SecurityAttributes) (*os.File, error) {
	access := uint32(windows.GENERIC_READ)
	switch flag & (os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		access = windows.GENERIC_WRITE
	case os.O_RDWR:
		access |= windows.GENERIC_WRITE
	}
	how := uint32(windows.OPEN_EXISTING)
	switch {
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		how = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		how = windows.OPEN_ALWAYS
	}
	wide, err := windows.UTF16PtrFromString(long(name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	h, err := windows.CreateFile(wide, access, sharing, rights, how, attributes, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// long lifts the bound of 260 characters from an absolute path.
func long(name string) string {
	const bound = 248
	if full, err := filepath.Abs(name); err == nil && len(full) >= bound && !strings.HasPrefix(full, `\\`) {
		return `\\?\` + full
	}
	return name
}

// lockAt is the byte that locks stand on. A lock of Windows keeps others from reading and writing the bytes it covers, so
// it covers a byte that no file has.
const lockAt = 1 << 30

func lock(f *os.File, shared, wait bool) (ok bool, err error) {
	var how uint32
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func folderFile(dir, name string) (*os.File, error) {
	return openFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o644)
}

func syncFolder(string) error { return nil }

func lockName(name, beside string) (unlock func(), err error) {
	if _, err := os.Stat(name); err != nil {
		return nil, err
	}
	return LockFolder(filepath.Dir(name), beside)
}

func unlink(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &fs.PathError{Op: "unlink", Path: name, Err: syscall.EISDIR}
	}
	return os.Remove(name)
}

func nameless(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	name := filepath.Join(dir, "symlake-"+rand.Text()+".scratch")
	wide, err := windows.UTF16PtrFromString(long(name))
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	h, err := windows.CreateFile(wide, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, sharing, nil, windows.CREATE_NEW,
		windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// owners are the rights of a private file: its owner, the system and administrators have all, others none.
const owners = "D:P(A;;FA;;;OW)(A;;FA;;;SY)(A;;FA;;;BA)"

func createPrivate(name string) (*os.File, error) {
	d, err := windows.SecurityDescriptorFromString(owners)
	if err != nil {
		return nil, err
	}
	rights := &windows.SecurityAttributes{SecurityDescriptor: d}
	rights.Length = uint32(unsafe.Sizeof(*rights))
	return open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, windows.FILE_ATTRIBUTE_NORMAL, rights)
}

// private looks for the groups that stand for other users of the machine.
func private(f *os.File) error {
	d, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("ask for the rights of %s: %w", f.Name(), err)
	}
	if group := readableBy(d.String()); group != "" {
		return fmt.Errorf("%w: %s may read it, others must have no access: icacls %s /inheritance:r /grant:r %%USERNAME%%:F",
			fs.ErrPermission, group, f.Name())
	}
	return nil
}

func identity(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return uint64(s.CreationTime.Nanoseconds())
	}
	return 0
}

func statusIn(folder *os.File, name string) (Status, error) {
	info, err := os.Stat(filepath.Join(folder.Name(), name))
	if err != nil {
		return Status{}, err
	}
	return StatusOf(info), nil
}

func full(err error) bool {
	for _, e := range []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED, windows.ERROR_TOO_MANY_OPEN_FILES} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// network asks for the kind of the drive.
func network(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	volume := filepath.VolumeName(full)
	if strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(volume, `\\?\`) && !strings.HasPrefix(volume, `\\.\`) {
		return "the share " + volume, nil
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return "", err
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "the network drive " + volume, nil
	}
	return "", nil
}

// mapFile maps nothing: a build could neither write nor remove the file meanwhile.
func mapFile(*os.File, int) ([]byte, error) { return nil, nil }

func unmapFile([]byte) error { return nil }
