package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"

	"github.com/colinmarc/hdfs/v2"

	"github.com/symlake/symlake/sinks/hbase/internal/namenode"
	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// dataNodeError says which DataNode fails.
type dataNodeError struct {
	address string
	err     error
}

func (e *dataNodeError) Error() string { return fmt.Sprintf("DataNode %s: %v", e.address, e.err) }
func (e *dataNodeError) Unwrap() error { return e.err }

// named gives an error the DataNode's name. io.EOF stays bare: readers ask for it.
func (c *dataConn) named(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &dataNodeError{c.address, err}
}

// again is what to do where a DataNode fails in the middle of a file: the client has no way to go on with others.
const again = "run it again: it goes on where it stood"

// The client's errors where a DataNode could not pass a block on to the next one: when the block began, and later.
const (
	mirrorFailed = "write failed: ERROR"
	mirrorLost   = "Ack error from datanode"
)

// fromDataNode reports whether a DataNode is to blame for an error: it is down, or the next one is.
func fromDataNode(err error) bool {
	if errors.Is(err, sasl.ErrProtection) || errors.Is(err, security.ErrRefused) {
		return false
	}
	e := (*dataNodeError)(nil)
	return errors.As(err, &e) || strings.Contains(err.Error(), mirrorFailed) || strings.Contains(err.Error(), mirrorLost)
}

// sentence says what cannot be done, why, and what to do.
func (d *dfs) sentence(err error, doing, name string) error {
	if err == nil || err == io.EOF || errors.Is(err, context.Canceled) || errors.Is(err, security.ErrRefused) {
		return err
	}
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	what := fmt.Sprintf("%s: %s %s", d.root, doing, name)
	if doing == "log in" {
		what = "log in to " + d.root
	}
	var remote hdfs.Error
	own := (*namenode.Exception)(nil) // of a call beside the client's
	class, text := "", ""
	if errors.As(err, &remote) {
		class, text = remote.Exception(), remote.Message()
	} else if errors.As(err, &own) {
		class, text = own.Class, own.Text
	}
	class = class[strings.LastIndexByte(class, '.')+1:]
	text, _, _ = strings.Cut(text, "\n")
	switch {
	case errors.Is(err, fs.ErrPermission), class == "AccessControlException":
		return fmt.Errorf("%s: %s may not: give it the right, or load with --load-mode puts (%w)", what, d.user, fs.ErrPermission)
	case class == "SafeModeException":
		return fmt.Errorf("%s: the NameNode is in safe mode: wait, or end it (hdfs dfsadmin -safemode leave): %s", what, text)
	case strings.HasSuffix(class, "QuotaExceededException"):
		return fmt.Errorf("%s: the quota of a folder above is used up: raise it (hdfs dfsadmin -setSpaceQuota, -setQuota): %s", what, text)
	case strings.Contains(text, "could only be written to"), strings.Contains(text, "could only be replicated to"):
		return fmt.Errorf("%s: no DataNode takes the block: their disks are full, or they are down: %s", what, text)
	case class == "UnknownCryptoProtocolVersionException":
		return security.Refused(fmt.Errorf("%s: the folder is in an encryption zone; write the files with --hfiles-out, or load with --load-mode puts", what))
	case class != "":
		return fmt.Errorf("%s: %s: %s", what, class, text)
	case errors.Is(err, sasl.ErrProtection):
		return security.Refused(fmt.Errorf("%s: DataNodes offer less protection than dfs.data.transfer.protection or hbase.protection asks for (%w)", what, err))
	}
	if fromDataNode(err) {
		return fmt.Errorf("%s: %w: %s", what, err, again)
	}
	if e := (*net.DNSError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w: if it is a name service, set hbase.hadoop_conf to the folder of its core-site.xml and hdfs-site.xml", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
