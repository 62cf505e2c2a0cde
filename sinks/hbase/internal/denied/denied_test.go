package denied

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for message, want := range map[string]string{
		"Insufficient permissions for user 'loader' (global, action=ADMIN)":                                                                   "user loader lacks the permission ADMIN on all of HBase:",
		"Insufficient permissions (user=reader@A.TEST, scope=ns:blocks, family=b:v, params=[table=ns:blocks,family=b:v], action=WRITE)":       "user reader@A.TEST lacks the permission WRITE on ns:blocks:",
		"Insufficient permissions (user=loader@A.TEST, scope=ns, params=[namespace=ns,table=ns:blocks,family=b], action=CREATE)":              "user loader@A.TEST lacks the permission CREATE on @ns:",
		"Insufficient permissions for user 'stranger',action: scannerOpen, tableName:ns:catalog, family:c, column: v, reason=x, action=READ)": "user stranger lacks the permission READ on ns:catalog:",
		"Authentication is required": "access denied: Authentication is required",
	} {
		if got := Text(message); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}
