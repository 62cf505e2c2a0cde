package namenode

import (
	"fmt"
	"strings"

	"github.com/symlake/symlake/sinks/hbase/security"
)

// line is the first line of a text.
func line(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// refused makes a sentence of a NameNode's word that it denies the connection as a whole. A NameNode that stands by or
// starts up is passed over.
func refused(address string, e *Exception) error {
	why := line(e.Text)
	switch {
	case e.Class == "org.apache.hadoop.ipc.StandbyException", e.Class == "org.apache.hadoop.ipc.RetriableException":
		return fmt.Errorf("%w (%s)", errStandby, why)
	case strings.Contains(why, "SIMPLE authentication is not enabled"):
		return security.Refused(fmt.Errorf("NameNode %s demands Kerberos: run kinit, or set hbase.keytab and hbase.principal", address))
	case strings.Contains(why, "Clock skew"):
		return security.Refused(fmt.Errorf("NameNode %s refuses the ticket: the clocks of this machine and of the NameNode differ too much: set them by NTP", address))
	case strings.Contains(why, "Request is a replay"):
		return fmt.Errorf("it takes the login for a replay: %s", why)
	case strings.Contains(why, "Checksum failed"), strings.Contains(why, "Specified version of key is not available"), strings.Contains(why, "Cannot find key"):
		return security.Refused(fmt.Errorf("NameNode %s cannot open the ticket: it has another key than the KDC, or another principal: check dfs.namenode.kerberos.principal and the NameNode's keytab (%s)", address, why))
	case strings.Contains(why, "is not authorized for protocol"):
		return security.Refused(fmt.Errorf("NameNode %s denies the user: its administrator allows users in hadoop-policy.xml (%s)", address, why))
	}
	return security.Refused(fmt.Errorf("NameNode %s refuses the connection: %s: %s", address, e.Class, why))
}
