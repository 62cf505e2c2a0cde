package file

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// refuseNetwork refuses folders on file systems that other machines share.
func refuseNetwork(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("ask for the file system of %s: %w", dir, err)
	}
	return refuse(uint32(s.Type))
}

func refuse(magic uint32) error {
	names := map[uint32]string{
		unix.NFS_SUPER_MAGIC:  "NFS",
		unix.SMB_SUPER_MAGIC:  "SMB",
		unix.CIFS_SUPER_MAGIC: "SMB (cifs)",
		unix.SMB2_SUPER_MAGIC: "SMB (smb2)",
		unix.AFS_SUPER_MAGIC:  "AFS",
		unix.CODA_SUPER_MAGIC: "Coda",
	}
	if name, ok := names[magic]; ok {
		return fmt.Errorf("it is on %s, where locks and shared memory do not hold: a file store needs a local disk (many machines: an hbase store)", name)
	}
	return nil
}
