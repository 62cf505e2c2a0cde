package session

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/remote"
)

// Remote is the server that --store names; nil if it names a store.
func (p *Session) Remote() (*remote.Client, error) {
	if !IsRemote(p.StoreURL()) {
		return nil, nil
	}
	c, err := remote.New(p.StoreURL(), p.Flags.Token)
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	return c, nil
}

// IsRemote reports whether a store is the URL of a server.
func IsRemote(store string) bool {
	return strings.HasPrefix(store, "https://") || strings.HasPrefix(store, "http://")
}

// Refusal makes a server's refusal of a request an error of usage.
func (p *Session) Refusal(err error) error {
	var said *remote.Error
	if errors.As(err, &said) && said.Code >= 400 && said.Code < 500 && said.Code != http.StatusNotFound && said.Code != http.StatusTooManyRequests {
		return exit.Usage("%s: %w", p.StoreURL(), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.StoreURL(), err)
	}
	return nil
}
