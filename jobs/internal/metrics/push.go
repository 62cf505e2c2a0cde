package metrics

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Push replaces a job's metrics at a Pushgateway. A part that is not empty makes a group of its own.
func Push(ctx context.Context, gateway, job, part string, all []Family) error {
	if !strings.Contains(gateway, "://") {
		gateway = "http://" + gateway
	}
	to := strings.TrimSuffix(gateway, "/") + "/metrics/job" + segment(job)
	if part != "" {
		to += "/part" + segment(part)
	}
	var text bytes.Buffer
	if err := Write(&text, all); err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPut, to, &text)
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", ContentType)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK && a.StatusCode != http.StatusAccepted {
		said, _ := io.ReadAll(io.LimitReader(a.Body, 1<<10)) // the status alone is an answer
		return fmt.Errorf("unexpected status code %d while pushing to %s: %s", a.StatusCode, to, said)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(a.Body, 1<<16)) // the connection serves again
	return err
}

// segment is a label's value in a URL: a slash in it needs base64.
func segment(value string) string {
	if strings.Contains(value, "/") {
		return "@base64/" + base64.RawURLEncoding.EncodeToString([]byte(value))
	}
	return "/" + url.PathEscape(value)
}
