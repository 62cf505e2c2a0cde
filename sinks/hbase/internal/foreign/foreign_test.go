package foreign

import "testing"

func TestProtocol(t *testing.T) {
	for head, want := range map[string]string{
		"HTTP/1.1 400 Bad Request": "HTTP", "SSH-2.0-OpenSSH_9.6\r\n": "SSH", "-ERR unknown command": "Redis", "-NOAUTH": "Redis",
		"\x15\x03\x03\x00\x02\x02\x0a": "TLS", "\x16\x03": "TLS", "220 mail.example ESMTP": "FTP or SMTP", "J\x00\x00\x00\x0a8.0.36": "MySQL",
		"\x00\x00\x00\x14": "", "": "", "\x15": "", "HT": "",
	} {
		if got := Protocol([]byte(head)); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
	if got := Quote([]byte("\x00\xffabc")); got != `its answer begins with "\x00\u00ff`+`abc"` && got != `its answer begins with "\x00\xffabc"` {
		t.Error(got)
	}
}
