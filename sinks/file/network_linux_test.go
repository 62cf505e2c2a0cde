package file

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestNetworkIsRefused(t *testing.T) {
	for _, magic := range []uint32{unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC} {
		if refuse(magic) == nil {
			t.Errorf("%#x is taken", magic)
		}
	}
	for _, magic := range []uint32{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC} {
		if err := refuse(magic); err != nil {
			t.Errorf("%#x: %v", magic, err)
		}
	}
	if err := refuseNetwork(t.TempDir()); err != nil {
		t.Error(err)
	}
}
