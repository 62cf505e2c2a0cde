// Package all opens a bucket by its URL. It is the only package that names the
// kinds there are.
package all

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/debuginfod"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/bucket/s3"
)

// Options are the options of S3; folders need none.
type Options = s3.Options

// Open takes s3://bucket/prefix, debuginfod://HOST, symstore://HOST, file:PATH or a path. key is not empty when the
// URL names one object that exists; b is the folder it lies in then.
// A path that names nothing, or a pipe or device, is bucket.ErrNotFound; an S3 prefix without
// objects is an empty folder.
func Open(ctx context.Context, url string, o Options) (b bucket.Bucket, key string, err error) {
	if rest, ok := strings.CutPrefix(url, "s3://"); ok {
		return openS3(ctx, rest, o)
	}
	if debuginfod.IsStore(url) {
		return openStore(ctx, url)
	}
	if debuginfod.Is(url) {
		return openDebuginfod(ctx, url)
	}
	p, isURL := strings.CutPrefix(url, "file:")
	if isURL && strings.HasPrefix(p, "//") {
		// file:///path, the host being this machine.
		if p = strings.TrimPrefix(p, "//"); !strings.HasPrefix(p, "/") {
			return nil, "", bucket.Usage("%s: a file URL with a host; write file:/path", url)
		}
	}
	if scheme, _, ok := strings.Cut(url, "://"); ok && !isURL && !strings.ContainsAny(scheme, "/\\.") {
		return nil, "", bucket.Usage("%s: no such kind of bucket: give a path, file:PATH or s3://bucket/prefix", url)
	}
	if p == "" {
		return nil, "", bucket.Usage("%q: a path is missing", url)
	}
	info, err := os.Stat(p)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			err = fmt.Errorf("%w: %w", bucket.ErrNotFound, err)
		}
		return nil, "", err
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() { // a pipe, a socket, a device
			return nil, "", fmt.Errorf("%s is neither a file nor a folder: %w", p, bucket.ErrNotFound)
		}
		p, key = filepath.Split(filepath.Clean(p))
		if p == "" {
			p = "."
		}
	}
	if b, err = file.Open(p); err != nil {
		return nil, "", err
	}
	return b, key, nil
}

// CheckBuildServer reports whether a URL is a debuginfod server's or a symbol server's, and what is wrong with it. It sends no request.
func CheckBuildServer(url string) (is bool, err error) {
	if debuginfod.IsStore(url) {
		_, _, err = debuginfod.OpenStore(url, debuginfod.Options{})
		return true, err
	}
	if !debuginfod.Is(url) {
		return false, nil
	}
	_, _, err = debuginfod.Open(url, debuginfod.Options{})
	return true, err
}

// BuildServers returns the URLs of the servers that DEBUGINFOD_URLS lists, in its order.
func BuildServers(list string) []string { return debuginfod.FromEnvironment(list) }

func openStore(ctx context.Context, url string) (bucket.Bucket, string, error) {
	s, key, err := debuginfod.OpenStore(url, debuginfod.Options{})
	if err != nil {
		return nil, "", err
	}
	if key != "" {
		if _, _, err := s.Stat(ctx, key); err != nil {
			return nil, "", err
		}
	}
	return s, key, nil
}

func openDebuginfod(ctx context.Context, url string) (bucket.Bucket, string, error) {
	b, key, err := debuginfod.Open(url, debuginfod.Options{})
	if err != nil {
		return nil, "", err
	}
	if key != "" {
		if _, _, err := b.Stat(ctx, key); err != nil {
			return nil, "", err
		}
	}
	return b, key, nil
}

func openS3(ctx context.Context, rest string, o Options) (bucket.Bucket, string, error) {
	name, path, _ := strings.Cut(rest, "/")
	if name == "" {
		return nil, "", bucket.Usage("s3://%s: a bucket name is missing", rest)
	}
	if path != "" && !strings.HasSuffix(path, "/") {
		i := strings.LastIndexByte(path, '/') + 1
		b, err := s3.Open(ctx, name, path[:i], o)
		if err != nil {
			return nil, "", err
		}
		_, _, err = b.Stat(ctx, path[i:])
		if err == nil {
			return b, path[i:], nil
		}
		if !errors.Is(err, bucket.ErrNotFound) {
			if !s3.Refused(err) {
				return nil, "", err
			}
			// The answer to a listing says why, which that to HEAD cannot; and a listed object is one, though it may not be read.
			if there, lerr := listed(ctx, b, path[i:]); there || lerr != nil && !s3.Refused(lerr) {
				return nil, "", cmp.Or(lerr, err)
			}
		}
	}
	b, err := s3.Open(ctx, name, path, o)
	if err != nil {
		return nil, "", err
	}
	return b, "", nil
}

// listed reports whether a listing names a key.
func listed(ctx context.Context, b bucket.Bucket, key string) (bool, error) {
	there, end := false, errors.New("end")
	err := b.List(ctx, key, "", func(e bucket.Entry) error { // the first one, if it is there
		there = e.Key == key
		return end
	})
	if err == end {
		err = nil
	}
	return there, err
}
