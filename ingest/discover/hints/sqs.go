package hints

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/symlake/symlake/ingest/discover"
)

const (
	// SQS gives at most receive messages at once, and one Take about takeMessages.
	receive      = 10
	takeMessages = 100
	// waitSeconds lets a message on its way come; visibleSeconds is how long others do not see a taken message: should the
	// objects take longer, a message comes twice, which costs a question.
	waitSeconds    = 1
	visibleSeconds = 15 * 60
)

// Options are the credentials for a queue. The zero value takes the ones AWS's SDK finds.
type Options struct {
	Region  string // "": as configured, else from the queue's URL
	Profile string // of the shared configuration
}

// Queue is an SQS queue. Safe for one goroutine.
type Queue struct {
	url string
	sqs *sqs.Client
}

var _ discover.Hints = (*Queue)(nil)

// OpenQueue takes the URL of a queue, with the scheme and host to ask. It sends no request yet.
func OpenQueue(ctx context.Context, queue string, o Options) (*Queue, error) {
	u, err := url.Parse(queue)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") == "" {
		return nil, fmt.Errorf("hints %q: want the https URL of a queue", queue)
	}
	var load []func(*config.LoadOptions) error
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Region != "" {
		load = append(load, config.WithRegion(o.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("hints %s: configuration: %w", queue, err)
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
		if parts := strings.Split(u.Hostname(), "."); len(parts) > 3 && parts[0] == "sqs" {
			cfg.Region = parts[1]
		}
	}
	endpoint := u.Scheme + "://" + u.Host
	return &Queue{url: queue, sqs: sqs.NewFromConfig(cfg, func(so *sqs.Options) { so.BaseEndpoint = aws.String(endpoint) })}, nil
}

// Take implements ingest.Hints.
func (q *Queue) Take(ctx context.Context) ([]discover.Hint, error) {
	var hints []discover.Hint
	for len(hints) < takeMessages {
		out, err := q.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q.url, MaxNumberOfMessages: receive,
			WaitTimeSeconds: waitSeconds, VisibilityTimeout: visibleSeconds})
		if err != nil {
			return nil, fmt.Errorf("receive from %s: %w", q.url, err)
		}
		for _, m := range out.Messages {
			hints = append(hints, discover.Hint{URLs: URLs([]byte(aws.ToString(m.Body))), Token: aws.ToString(m.ReceiptHandle)})
		}
		if len(out.Messages) == 0 {
			break
		}
	}
	return hints, nil
}

// Done implements ingest.Hints: the messages are deleted.
func (q *Queue) Done(ctx context.Context, done []discover.Hint) error {
	for len(done) > 0 {
		some := done[:min(len(done), receive)]
		done = done[len(some):]
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &q.url}
		for i, h := range some {
			in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), ReceiptHandle: aws.String(h.Token)})
		}
		out, err := q.sqs.DeleteMessageBatch(ctx, in)
		if err != nil {
			return fmt.Errorf("delete from %s: %w", q.url, err)
		}
		for _, f := range out.Failed {
			if f.SenderFault { // an expired message is back in the queue, and comes again
				continue
			}
			err = errors.Join(err, fmt.Errorf("delete from %s: %s: %s", q.url, aws.ToString(f.Code), aws.ToString(f.Message)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
