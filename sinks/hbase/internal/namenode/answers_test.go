package namenode

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// FuzzAnswers checks that a call ends after any answer.
func FuzzAnswers(f *testing.F) {
	f.Add(appendFrame(nil, okHeader(1), nil), true)
	f.Add(appendFrame(nil, okHeader(saslCall), (&saslMessage{state: saslNegotiate, token: []byte("x"), auths: []Auth{offer("FIXED")}}).append(nil)), true)
	f.Add(appendFrame(nil, okHeader(saslCall), (&saslMessage{state: saslSuccess}).append(nil)), true)
	f.Add(failure(-1, "x", "y"), false)
	f.Fuzz(func(t *testing.T, b []byte, login bool) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go io.Copy(io.Discard, theirs)
		l := &link{nc: ours, in: bufio.NewReader(strings.NewReader(string(b)))}
		if login {
			o := &Options{Fallback: true, Login: func(_ context.Context, _ string, offer []Auth) (Identity, error) {
				if len(offer) == 0 {
					return Identity{}, errors.New("none")
				}
				return Identity{Method: offer[0].Method, Mechanism: &fixed{word: "me"}}, nil
			}}
			if _, err := l.login(t.Context(), "here:1", o); err != nil {
				return
			}
		}
		for range 4 {
			frame, err := l.receive()
			if err != nil {
				return
			}
			if a, err := parseAnswer(frame); err == nil && a.failed {
				_ = refused("here:1", &a.Exception).Error()
			}
		}
	})
}
