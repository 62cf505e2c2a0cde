package hostfile

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestNetworkIsKnown(t *testing.T) {
	t.Parallel()
	for _, magic := range []uint32{unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC} {
		if shared(magic) == "" {
			t.Errorf("%#x is taken for a local one", magic)
		}
	}
	for _, magic := range []uint32{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC} {
		if kind := shared(magic); kind != "" {
			t.Errorf("%#x: %v", magic, kind)
		}
	}
}
