package hostfile

import "golang.org/x/sys/unix"

// network names the kind of file system that other machines share; "": the folder is on a local one.
func network(dir string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", err
	}
	return shared(uint32(s.Type)), nil
}

func shared(magic uint32) string {
	return map[uint32]string{
		unix.NFS_SUPER_MAGIC:  "NFS",
		unix.SMB_SUPER_MAGIC:  "SMB",
		unix.CIFS_SUPER_MAGIC: "SMB (cifs)",
		unix.SMB2_SUPER_MAGIC: "SMB (smb2)",
		unix.AFS_SUPER_MAGIC:  "AFS",
		unix.CODA_SUPER_MAGIC: "Coda",
	}[magic]
}
