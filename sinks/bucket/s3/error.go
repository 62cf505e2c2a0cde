package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/symlake/symlake/sinks/bucket"
)

// Error is a failed request in one line a person can act on; Err is what the
// SDK said, in full.
type Error struct {
	Op, URL string
	Code    string // S3's code, or ""
	Reason  string
	Err     error
}

func (e *Error) Error() string {
	s := "s3: " + e.Op + " " + e.URL + ": " + e.Reason
	if e.Code != "" {
		s += " (" + e.Code + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// reasons say what to do about the codes people meet.
var reasons = map[string]string{
	"NoSuchBucket":                 "no such bucket",
	"InvalidAccessKeyId":           "the server does not know this access key",
	"XAdminUserNotFound":           "the server does not know this access key",
	"SignatureDoesNotMatch":        "wrong secret key",
	"AccessDenied":                 "access denied",
	"Forbidden":                    "access denied", // an answer without a body
	"ExpiredToken":                 "the session has expired; log in again",
	"RequestTimeTooSkewed":         "this machine's clock is wrong",
	"InvalidObjectState":           "the object is in an archive class; restore it first",
	"PermanentRedirect":            "the bucket is in another region",
	"AuthorizationHeaderMalformed": "the bucket is in another region",
	"XAmzContentSHA256Mismatch":    "the server does not know this checksum; try checksums: required",
}

// explain makes the error of an operation on a key ("": the bucket).
func (b *Bucket) explain(op, key string, err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Op: op, URL: b.URL(key), Err: err}
	// These two end retries and stop nothing else: they stay what they are.
	if ctx := contextError(err); ctx != nil {
		e.Reason = ctx.Error()
		return e
	}
	var api smithy.APIError
	message := ""
	if errors.As(err, &api) {
		e.Code, message = api.ErrorCode(), api.ErrorMessage()
		e.Reason = cmp.Or(reasons[e.Code], message)
	}
	var res *awshttp.ResponseError
	status := 0
	if errors.As(err, &res) {
		status = res.HTTPStatusCode()
		if region := cmp.Or(res.Response.Header.Get("X-Amz-Bucket-Region"), message); region != "" && e.Reason == reasons["PermanentRedirect"] {
			e.Reason += ": " + region
		}
	}
	var page *pageError
	var sum *sumError
	switch {
	case errors.As(err, &sum):
		e.Reason = sum.Error()
	case errors.As(err, &page):
		e.Reason = page.Error()
	case status == http.StatusNotFound && op == "list" && e.Code == "NotFound": // not a word of S3
		e.Reason = "no such bucket, or the endpoint is no S3 server's"
	case status == http.StatusNotFound && (e.Code == "NoSuchKey" || e.Code == "NotFound" || e.Code == ""):
		e.Reason, e.Err = bucket.ErrNotFound.Error(), fmt.Errorf("%w: %w", bucket.ErrNotFound, err)
	case status == http.StatusPreconditionFailed, e.Code == "ConditionalRequestConflict",
		status == http.StatusRequestedRangeNotSatisfiable: // shorter than it was listed
		e.Reason, e.Err = bucket.ErrChanged.Error(), fmt.Errorf("%w: %w", bucket.ErrChanged, err)
	case e.Reason == "" && status == http.StatusForbidden:
		e.Reason = reasons["AccessDenied"]
	case e.Reason == "" && status == http.StatusMovedPermanently:
		e.Reason = reasons["PermanentRedirect"]
	case e.Reason == "" || e.Reason == e.Code:
		e.Reason = innermost(err)
	}
	return e
}

// contextError is ctx's error when that is what ended the request.
func contextError(err error) error {
	for _, c := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, c) {
			return c
		}
	}
	return nil
}

// innermost is the last line of a chain: "connection refused" rather than
// the layers around it. Missing credentials show as the last place looked in.
func innermost(err error) string {
	text := err.Error()
	if strings.Contains(text, "get credentials") || strings.Contains(text, "refresh cached credentials") {
		return "no credentials found: set a profile, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or anonymous"
	}
	if i := strings.Index(text, "request send failed, "); i >= 0 {
		return text[i+len("request send failed, "):]
	}
	return text
}

// Refused reports whether the server refused a request for its kind, its caller or its region. Some servers
// also refuse so for missing objects. The answer to HEAD says no more.
func Refused(err error) bool {
	var res *awshttp.ResponseError
	if !errors.As(err, &res) {
		return false
	}
	switch res.HTTPStatusCode() {
	case http.StatusForbidden, http.StatusBadRequest, http.StatusMovedPermanently:
		return true
	}
	return false
}
