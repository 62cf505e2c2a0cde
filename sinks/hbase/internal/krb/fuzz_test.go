package krb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// FuzzCache parses credential caches.
func FuzzCache(f *testing.F) {
	for _, s := range []string{"", "\x05\x04\x00\x00", "\x05\x03\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01R\x00\x00\x00\x01a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseCache(b)
		if err != nil {
			return
		}
		size := 0
		for _, e := range c.entries {
			size += len(e.key.KeyValue) + len(e.ticket)
			_, _ = e.open()
		}
		if size > len(b) {
			t.Fatalf("%d bytes of %d", size, len(b))
		}
	})
}

// FuzzKeytab parses keytabs.
func FuzzKeytab(f *testing.F) {
	f.Add([]byte("\x05\x02\x00\x00\x00\x10\x00\x01\x00\x01R\x00\x01a\x00\x00\x00\x01\x00\x00"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if kt, err := parseKeytab(b); err == nil {
			_, _ = owner(kt, "file", Principal{}, "R")
			_ = keyTypes(kt, Principal{"a", "R"}, aesTypes)
		}
	})
}

// FuzzProfile reads files as krb5.conf.
func FuzzProfile(f *testing.F) {
	for _, s := range []string{"[realms]\nX = {\n kdc = a\n}\n", "[libdefaults]\nclockskew = 1d 2h\npermitted_enctypes = DEFAULT -aes128-cts\n", "[a]\nb = { c = d }\n"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		r := &profileReader{p: profile{}, files: maxIncludes} // no other file
		if err := r.text("file", text); err != nil {
			return
		}
		s := &settings{file: "file", p: r.p}
		if s.fill() == nil {
			_ = s.gokrb5.ResolveRealm("a.b.c")
		}
	})
}

// FuzzReply decodes messages of a KDC.
func FuzzReply(f *testing.F) {
	e := messages.NewKRBError(types.NewPrincipalName(2, "krbtgt/X"), "X", 25, "text")
	b, _ := e.Marshal()
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) {
		var no messages.KRBError
		_ = guard(func() error { return no.Unmarshal(b) })
		_ = guard(func() error { return new(messages.ASRep).Unmarshal(b) })
		_ = guard(func() error { return new(messages.TGSRep).Unmarshal(b) })
		_ = guard(func() error { return new(messages.EncKDCRepPart).Unmarshal(b) })
		var list types.PADataSequence
		_ = guard(func() error { return list.Unmarshal(b) })
	})
}

// An include of a folder without an end of its own is no endless loop.
func TestIncludeLoop(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.conf")
	if err := os.WriteFile(file, []byte("includedir "+dir+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readProfile(file); err == nil {
		t.Error("read")
	}
}
