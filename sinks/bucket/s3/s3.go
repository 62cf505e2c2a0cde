// Package s3 is a prefix of an S3 bucket, of AWS or of another server that
// speaks its protocol.
//
// Invariants:
//   - a prefix is a folder: keys are what follows it and its slash;
//   - keys are raw: no escaping on the way in or out;
//   - every read names the ETag it wants (If-Match) and compares the ETag of the
//     answer, so nothing mixes two states of an object;
//   - a listing comes to its end or fails: it names every key;
//   - every write is conditional.
//
// The SDK's standard retryer repeats requests. This package repeats a read if its answer breaks off in
// the middle, and a read of a whole object if the bytes do not have the checksum that was stored with
// it. An object below 16 MiB comes with its checksum; a larger one has CRC32, CRC32C or CRC64NVME,
// if they are of the whole object and not of the checksums of its parts. A read of a single range has no
// checksum: TLS protects it on its way.
//
// The caller's context alone says how long a request may take; only a silent connection is given up.
// Objects of size 0 with a key that ends in a slash are folder marks of consoles and no objects.
package s3

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/symlake/symlake/sinks/bucket"
)

// Options name the server and the credentials. The zero value is AWS with the credentials that its SDK finds:
// environment, shared configuration, container, machine.
type Options struct {
	Endpoint  string // URL of another server; "": AWS, or AWS_ENDPOINT_URL_S3
	Region    string // "": as configured; us-east-1 where an endpoint needs none
	Profile   string // of the shared configuration; "": the default one
	PathStyle bool   // bucket in the path, not in the host name; always so for an endpoint that is an IP address or localhost
	Anonymous bool   // requests are not signed
	// Checksums is "auto" or "" (sent and compared wherever the SDK can) or
	// "required" (only where the protocol demands them), which servers that do
	// not know S3's newer checksums need.
	Checksums string
}

const (
	// connections are kept open per host: objects in work times the pieces of each.
	connections = 64
	// wholeBytes is from where an object is fetched in ranges at once: below,
	// one request is faster.
	wholeBytes   = 16 << 20
	rangeBytes   = 8 << 20
	rangesAtOnce = 8
)

// Bucket is a prefix of a bucket. Safe for concurrent use.
type Bucket struct {
	name string
	root string // prefix of all keys: "" or ends with a slash
	s3   *s3.Client
	move *transfermanager.Client
	sums bool // checksums are compared wherever the server has them
}

var (
	_ bucket.Bucket  = (*Bucket)(nil)
	_ bucket.Fetcher = (*Bucket)(nil)
)

// Open takes the name of a bucket and the prefix that is the folder; nothing
// is asked of the server yet.
func Open(ctx context.Context, name, prefix string, o Options) (*Bucket, error) {
	// A plain http.Client here would break AWS_CA_BUNDLE.
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = 10 * time.Second }).
		WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns, t.MaxIdleConnsPerHost = 4*connections, connections
		}).
		// A connection that is silent for so long is dead; a slow one is not.
		WithReadTimeout(2 * time.Minute)
	// What the SDK would log comes back as an error, or was mended.
	load := []func(*config.LoadOptions) error{config.WithHTTPClient(client), config.WithLogger(logging.Nop{})}
	if o.Region != "" {
		load = append(load, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Anonymous {
		load = append(load, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	switch o.Checksums {
	case "", "auto":
	case "required":
		load = append(load, config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
			config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired))
	default:
		return nil, bucket.Usage("s3://%s: checksums: %q is neither auto nor required", name, o.Checksums)
	}
	pathStyle := o.PathStyle
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, bucket.Usage("s3://%s: endpoint %q is no http or https URL", name, o.Endpoint)
		}
		pathStyle = pathStyle || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()) != nil
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, bucket.Usage("s3://%s: configuration: %w", name, err)
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	b := &Bucket{name: name, root: folder(prefix), sums: o.Checksums != "required"}
	b.s3 = s3.NewFromConfig(cfg, func(so *s3.Options) {
		if o.Endpoint != "" {
			so.BaseEndpoint = aws.String(o.Endpoint)
		}
		so.UsePathStyle = pathStyle
		so.Retryer = retry.AddWithErrorCodes(so.Retryer, "TooManyRequests") // status 429 of other servers: a SlowDown
		so.Retryer = retry.AddWithMaxBackoffDelay(so.Retryer, longestBack)
		// Ranges have no checksum to compare; the SDK would log that for each.
		so.DisableLogOutputChecksumValidationSkipped = true
	})
	b.move = transfermanager.New(b.s3, func(to *transfermanager.Options) {
		to.PartSizeBytes, to.Concurrency = rangeBytes, rangesAtOnce
		// Its own setting, apart from the client's.
		to.RequestChecksumCalculation = cfg.RequestChecksumCalculation
		to.FailTimeout = 10 * time.Second
	})
	return b, nil
}

// folder is a prefix with its closing slash.
func folder(prefix string) string {
	prefix = strings.TrimLeft(prefix, "/")
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return prefix
}

// URL implements bucket.Bucket, without escapes, so that URLs sort as keys do.
func (b *Bucket) URL(key string) string { return "s3://" + b.name + "/" + b.root + key }
