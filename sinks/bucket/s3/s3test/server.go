// Package s3test starts a real S3 server, versitygw, for tests: on this
// machine alone, on a free port, with its own folder, until the test ends.
package s3test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/symlake/symlake/formats/formattest"
)

// Tools names the environment variable with the folder that make tools fills.
const Tools = "SYMLAKE_TOOLS"

// Credentials of the server's one account.
const (
	AccessKey = "symlaketest"
	SecretKey = "symlaketestsecret"
	Region    = "us-east-1"
)

// Server is a running S3 server.
type Server struct {
	Endpoint string // http://127.0.0.1:port
	Root     string // files dropped into its folder of a bucket are objects
	Client   *s3.Client
}

// Start starts a server and points the SDK's environment at its account. The
// test is skipped where versitygw is not installed, and fails under
// formattest.Require.
func Start(t testing.TB) *Server {
	t.Helper()
	program := "versitygw"
	if dir := os.Getenv(Tools); dir != "" {
		if p := filepath.Join(dir, program); exists(p) {
			program = p
		}
	}
	program = formattest.Tool(t, program, "make tools builds it; then set "+Tools+" to the folder that holds it, as make test does")
	Environment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", SecretKey)

	root := t.TempDir()
	var failed error
	for range 3 { // another program may take the port in between
		port := freePort(t)
		var s *Server
		if s, failed = start(t, program, root, port); failed == nil {
			return s
		}
	}
	t.Fatal(failed)
	return nil
}

// Environment hides what this machine's user has configured for AWS.
func Environment(t testing.TB) {
	t.Helper()
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "") // put back afterwards
			os.Unsetenv(name)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

func start(t testing.TB, program, root string, port int) (*Server, error) {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := exec.Command(program, "-q", "-p", address, "--region", Region, "--health", "/health", "posix", root)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s := &Server{Endpoint: "http://" + address, Root: root}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			return nil, fmt.Errorf("versitygw ended: %v: %s", err, out.Bytes())
		default:
		}
		if res, err := http.Get(s.Endpoint + "/health"); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			<-ended
			return nil, fmt.Errorf("versitygw does not answer: %s", out.Bytes())
		}
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
	})
	s.Client = s3.New(s3.Options{
		Region: Region, BaseEndpoint: aws.String(s.Endpoint), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
	})
	return s, nil
}

// Make creates a bucket.
func (s *Server) Make(t testing.TB, name string) {
	t.Helper()
	if _, err := s.Client.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: aws.String(name)}); err != nil {
		t.Fatal(err)
	}
}

// Put writes an object with metadata, over an older one too.
func (s *Server) Put(t testing.TB, name, key string, body []byte, meta map[string]string) {
	t.Helper()
	_, err := s.Client.PutObject(context.Background(), &s3.PutObjectInput{
		Bucket: aws.String(name), Key: aws.String(key), Body: bytes.NewReader(body), Metadata: meta,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Public lets everybody list and read a bucket.
func (s *Server) Public(t testing.TB, name string) {
	t.Helper()
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":["s3:GetObject","s3:ListBucket"],"Resource":["arn:aws:s3:::` + name + `","arn:aws:s3:::` + name + `/*"]}]}`
	if _, err := s.Client.PutBucketPolicy(context.Background(), &s3.PutBucketPolicyInput{Bucket: aws.String(name), Policy: aws.String(policy)}); err != nil {
		t.Fatal(err)
	}
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
