package jobs

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/symlake/symlake/jobs/remote"
)

// remote is the server that --store names; nil if it names a store.
func (p *process) remote() (*remote.Client, error) {
	if !isRemote(p.storeURL()) {
		return nil, nil
	}
	c, err := remote.New(p.storeURL(), p.flags.Token)
	if err != nil {
		return nil, usage("%w", err)
	}
	return c, nil
}

func isRemote(store string) bool {
	return strings.HasPrefix(store, "https://") || strings.HasPrefix(store, "http://")
}

// told makes a server's refusal of what was asked an error of usage.
func (p *process) told(err error) error {
	var said *remote.Error
	if errors.As(err, &said) && said.Code >= 400 && said.Code < 500 && said.Code != http.StatusNotFound && said.Code != http.StatusTooManyRequests {
		return usage("%s: %w", p.storeURL(), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.storeURL(), err)
	}
	return nil
}
