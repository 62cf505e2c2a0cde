package all_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

// s3Endpoint tells awsCopy where the server of the test is.
const s3Endpoint = "SYMLAKE_TEST_S3_ENDPOINT"

// s3Server starts a server that has the buckets of the documents, and returns the environment that leads to it.
func s3Server(t *testing.T) (env []string) {
	t.Helper()
	server := s3test.Start(t)
	for _, bucket := range []string{"mobile-symbols", "web-symbols"} {
		server.Make(t, bucket)
	}
	return []string{
		s3Endpoint + "=" + server.Endpoint, "SYMLAKE_ENDPOINT=" + server.Endpoint, "SYMLAKE_PATH_STYLE=true", "SYMLAKE_REGION=" + s3test.Region,
		"AWS_ACCESS_KEY_ID=" + s3test.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s3test.SecretKey,
		"AWS_CONFIG_FILE=none", "AWS_SHARED_CREDENTIALS_FILE=none",
	}
}

// patterns come from --exclude and --include, in order: the last that matches a file decides.
type patterns []struct {
	glob string
	take bool
}

func (p *patterns) add(take bool) func(string) error {
	return func(glob string) error {
		*p = append(*p, struct {
			glob string
			take bool
		}{glob, take})
		return nil
	}
}

// takes reports whether a file is uploaded. As in the AWS command, * matches slashes too.
func (p patterns) takes(name string) bool {
	for _, x := range slices.Backward(p) {
		if ok, _ := path.Match(strings.ReplaceAll(x.glob, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00")); ok {
			return x.take
		}
	}
	return true
}

// awsCopy does what "aws s3 cp FILE|FOLDER s3://BUCKET/KEY [--recursive] [--exclude GLOB] [--include GLOB] [--metadata K=V,…]" does.
func awsCopy(ctx context.Context, args []string) error {
	if len(args) < 4 || args[0] != "s3" || args[1] != "cp" {
		return fmt.Errorf("%v: the test knows s3 cp alone", args)
	}
	from, to := args[2], strings.TrimPrefix(args[3], "s3://")
	flags := flag.NewFlagSet("cp", flag.ContinueOnError)
	recursive := flags.Bool("recursive", false, "")
	metadata := flags.String("metadata", "", "")
	var filter patterns
	flags.Func("exclude", "", filter.add(false))
	flags.Func("include", "", filter.add(true))
	if err := flags.Parse(args[4:]); err != nil || flags.NArg() > 0 {
		return errors.Join(err, fmt.Errorf("%v are too many arguments", flags.Args()))
	}
	meta := map[string]string{}
	for _, pair := range strings.Split(*metadata, ",") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			meta[k] = v
		}
	}
	bucket, prefix, _ := strings.Cut(to, "/")
	client := s3.New(s3.Options{
		Region: s3test.Region, BaseEndpoint: aws.String(os.Getenv(s3Endpoint)), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, ""),
	})
	put := func(file, key string) error {
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		_, err = client.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(body), Metadata: meta})
		return err
	}
	if !*recursive {
		return put(from, prefix)
	}
	return filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, file)
		if err != nil || !filter.takes(filepath.ToSlash(name)) {
			return err
		}
		return put(file, path.Join(prefix, filepath.ToSlash(name)))
	})
}
