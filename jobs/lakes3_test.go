package jobs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

// lakeConfig writes a configuration with a lake and gives the flags that every command has.
func lakeConfig(t *testing.T, lake string) []string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf("store: file:%s\nlake: {%s}\n", filepath.Join(dir, "store"), lake)
	file := filepath.Join(dir, "symlake.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--config", file}
}

// A sealed lake in a bucket, by the commands: written, read back, converted, compacted.
func TestLakeS3(t *testing.T) {
	server := s3test.Start(t)
	server.Make(t, "tables")
	flags := lakeConfig(t, fmt.Sprintf("url: s3://tables/symbols, endpoint: %q, region: %s, path_style: true", server.Endpoint, s3test.Region))
	do := func(code int, args ...string) string {
		out, errOut := mustRun(t, []int{code}, append(flags[:2:2], args...)...)
		return out + errOut
	}
	for _, name := range []string{"libgame-arm64-dw5.so", "libgame-x64-dw5.so"} {
		do(0, "ingest", formattest.Testdata(t, "elf/"+name))
	}
	do(0, "verify")
	if out := do(0, "keys", "export", "--lake", "--for", "spark"); !strings.Contains(out, "s3a://tables/symbols") && !strings.Contains(out, "s3://tables/symbols") {
		t.Errorf("the script names no bucket:\n%s", out)
	}
	if n := objectsOf(t, server, "symbols/ranges/"); n != 2 {
		t.Errorf("%d files of ranges, want 2", n)
	}
	do(0, "compact", "--grace", "1ns")
	do(0, "verify")
	if n := objectsOf(t, server, "symbols/ranges/"); n != 1 {
		t.Errorf("%d files of ranges after compact, want 1", n)
	}
	do(0, "compact", "--grace", "1ns", "--lake-profile", "plain")
	do(0, "verify", "--lake-profile", "plain")
	if out := do(2, "ingest", formattest.Testdata(t, "elf/libgame-x86-dw4.so")); !strings.Contains(out, "--lake-profile converts it") {
		t.Errorf("a lake of another profile: %s", out)
	}
}

func objectsOf(t *testing.T, server *s3test.Server, prefix string) int {
	t.Helper()
	list, err := server.Client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("tables"), Prefix: aws.String(prefix)})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Contents)
}

// A server that ignores If-None-Match is refused, unless the configuration says that there is one writer.
func TestLakeS3Careless(t *testing.T) {
	server := s3test.Start(t)
	server.Make(t, "tables")
	careless := httptest.NewServer(ignoring(t, server.Endpoint))
	t.Cleanup(careless.Close)
	lake := fmt.Sprintf("url: s3://tables/symbols, endpoint: %q, region: %s, path_style: true", careless.URL, s3test.Region)
	object := formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	flags := lakeConfig(t, lake)
	if _, out := mustRun(t, []int{2}, append(flags, "ingest", object)...); !strings.Contains(out, "If-None-Match") || !strings.Contains(out, "lake.single_writer") {
		t.Errorf("it says %s", out)
	}
	flags = lakeConfig(t, lake+", single_writer: true")
	mustRun(t, []int{0}, append(flags, "ingest", object)...)
	mustRun(t, []int{0}, append(flags, "verify")...)
}

// ignoring passes requests on without If-None-Match, signed anew.
func ignoring(t *testing.T, endpoint string) http.Handler {
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		for name := range r.Out.Header {
			if strings.HasPrefix(name, "X-Forwarded") || name == "If-None-Match" || name == "Authorization" {
				r.Out.Header.Del(name)
			}
		}
		account := aws.Credentials{AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey}
		if err := signer.SignHTTP(r.Out.Context(), account, r.Out, r.Out.Header.Get("X-Amz-Content-Sha256"), "s3", s3test.Region, time.Now()); err != nil {
			t.Error(err)
		}
	}}
}
