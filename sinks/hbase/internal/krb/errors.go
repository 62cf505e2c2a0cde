package krb

import (
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/messages"
)

// ErrNone says that this process has no Kerberos credentials. The error around it says where they were looked for.
var ErrNone = errors.New("no Kerberos credentials")

// Error says in one sentence why there is no ticket.
type Error struct {
	Sentence string
	// Final: trying again does not help until somebody changes something.
	Final bool
	code  int32
}

func (e *Error) Error() string { return "Kerberos: " + e.Sentence }

func final(format string, v ...any) *Error {
	return &Error{Sentence: fmt.Sprintf(format, v...), Final: true}
}

func passing(format string, v ...any) *Error { return &Error{Sentence: fmt.Sprintf(format, v...)} }

// refused makes a sentence of the KDC's answer. service is the zero value at a login.
func refused(e messages.KRBError, realm string, client, service Principal) *Error {
	out := final("the KDC of %s refuses %s: %s", realm, client, errorcode.Lookup(e.ErrorCode))
	switch e.ErrorCode {
	case errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN:
		out.Sentence = fmt.Sprintf("the KDC of %s knows no principal %s: check hbase.principal and the keytab", realm, client)
	case errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN:
		out.Sentence = fmt.Sprintf("the KDC of %s knows no service %s: check the server's name and [domain_realm] of krb5.conf, or set hbase.server_principal", realm, service)
	case errorcode.KDC_ERR_ETYPE_NOSUPP:
		out.Sentence = fmt.Sprintf("the KDC of %s and symlake share no encryption type for %s: symlake needs AES keys", realm, either(service, client))
	case errorcode.KDC_ERR_CLIENT_REVOKED, errorcode.KDC_ERR_NAME_EXP:
		out.Sentence = fmt.Sprintf("the KDC of %s has locked %s, or its time is over: ask the realm's administrator", realm, client)
	case errorcode.KDC_ERR_KEY_EXPIRED:
		out.Sentence = fmt.Sprintf("the password of %s has expired: change it and make the keytab anew", client)
	case errorcode.KRB_AP_ERR_TKT_EXPIRED:
		out.Sentence = fmt.Sprintf("the ticket of %s has expired: run kinit", client)
	case errorcode.KRB_AP_ERR_SKEW, errorcode.KRB_AP_ERR_TKT_NYV:
		out.Sentence = skew(time.Since(e.STime), "the KDC of "+realm)
	case errorcode.KDC_ERR_WRONG_REALM:
		out.Sentence = fmt.Sprintf("%s is not of realm %s: check hbase.principal", client, realm)
	case errorcode.KDC_ERR_SVC_UNAVAILABLE:
		out.Final = false
	}
	out.code = e.ErrorCode
	return out
}

// skew says how far two clocks are apart.
func skew(ahead time.Duration, other string) string {
	way := "ahead of"
	if ahead < 0 {
		ahead, way = -ahead, "behind"
	}
	if ahead < time.Second {
		return fmt.Sprintf("the clocks of this machine and of %s differ too much: set them by NTP", other)
	}
	return fmt.Sprintf("this machine's clock is %v %s the clock of %s: set them by NTP", ahead.Round(time.Second), way, other)
}

func either(a, b Principal) Principal {
	if a.Name != "" {
		return a
	}
	return b
}
