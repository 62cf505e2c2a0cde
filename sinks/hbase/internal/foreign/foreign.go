// Package foreign recognizes, by the first bytes that it sends, a server that speaks another protocol than the expected
// one. It reads nothing itself.
package foreign

import (
	"bytes"
	"fmt"
	"strconv"
)

// Protocol names the protocol of a server that begins with head; "" if head tells nothing. Two bytes are
// enough for TLS, four for the others.
func Protocol(head []byte) string {
	if len(head) >= 2 && head[0] >= 20 && head[0] <= 23 && head[1] == 3 { // a record of TLS: an alert, a handshake
		return "TLS"
	}
	for _, p := range []struct{ begins, name string }{
		{"HTTP", "HTTP"}, {"SSH-", "SSH"}, {"-ERR", "Redis"}, {"-NOA", "Redis"}, {"-DEN", "Redis"}, {"AMQP", "AMQP"}, {"220 ", "FTP or SMTP"},
		{"220-", "FTP or SMTP"}, {"* OK", "IMAP"}, {"+OK ", "POP3"}, {"<?xm", "XML"}, {"<htm", "HTML"}, {"<!DO", "HTML"}, {"HBas", "HBase's preamble, as a client does"},
		{"hrpc", "Hadoop's RPC, as a client does"}, {"GET ", "HTTP, as a client does"}, {"POST", "HTTP, as a client does"},
	} {
		if bytes.HasPrefix(head, []byte(p.begins)) {
			return p.name
		}
	}
	if len(head) >= 5 && head[3] == 0 && head[4] == 10 && head[2] == 0 { // u24 length, number 0, version 10
		return "MySQL"
	}
	return ""
}

// Quote shows the first bytes of an answer, at most 16.
func Quote(head []byte) string {
	return fmt.Sprintf("its answer begins with %s", strconv.QuoteToASCII(string(head[:min(len(head), 16)])))
}
