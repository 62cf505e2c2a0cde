package hostfile

import "golang.org/x/sys/unix"

// network names the kind of file system that other machines share; "": the folder is on a local one.
func network(dir string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Flags&unix.MNT_LOCAL != 0 {
		return "", err
	}
	return unix.ByteSliceToString(s.Fstypename[:]), nil
}
