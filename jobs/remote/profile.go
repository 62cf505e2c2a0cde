package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/symlake/symlake/jobs/wire"
)

// Profile writes a profile with answers to out; options are the parameters of POST /v1/profiles. open opens the profile from
// its beginning, again if the server has no time for it. Nothing of an answer that breaks off is of use.
func (c *Client) Profile(ctx context.Context, open func() (io.ReadCloser, error), options url.Values, out io.Writer) (counts *wire.Summary, err error) {
	for n := 1; ; n++ {
		var wait time.Duration
		if counts, wait, err = c.profile(ctx, open, options, out); wait == 0 || n == tries {
			return counts, err
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// profile sends the profile once; wait is how long to wait before it is sent again, 0: it is not.
func (c *Client) profile(ctx context.Context, open func() (io.ReadCloser, error), options url.Values, out io.Writer) (counts *wire.Summary, wait time.Duration, err error) {
	body, err := open()
	if err != nil {
		return nil, 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/profiles?"+options.Encode(), body)
	if err != nil {
		return nil, 0, errors.Join(err, body.Close())
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	res, err := c.do(r)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(res.Body, refusalBytes))
		if err != nil {
			return nil, 0, fmt.Errorf("read the server's answer: %w", err)
		}
		wait, err = refused(res, text)
		return nil, wait, err
	}
	if _, err := io.Copy(out, res.Body); err != nil {
		return nil, 0, fmt.Errorf("read the server's answer: %w", err)
	}
	if why := res.Trailer.Get("Symlake-Error"); why != "" {
		return nil, 0, &Error{http.StatusOK, why}
	}
	said := res.Trailer.Get(wire.SummaryHeader)
	if said == "" {
		said = res.Header.Get(wire.SummaryHeader)
	}
	counts = new(wire.Summary)
	if err := json.Unmarshal([]byte(said), counts); err != nil {
		return nil, 0, fmt.Errorf("the server's %s: %w", wire.SummaryHeader, err)
	}
	return counts, 0, nil
}

// refusalBytes bound the text of a refusal.
const refusalBytes = 64 << 10
