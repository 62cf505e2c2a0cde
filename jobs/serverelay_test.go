package jobs

import (
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // exporters compress by default
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/symlake/symlake/formats/formattest"
)

// relayObject is the object of the profiles, with answers of llvm-symbolizer beside it.
const relayObject = "elf/libgame-x64-dw5.so"

// goldenCases reads these answers.
func goldenCases(t *testing.T) (cases []struct {
	Addr   string
	Frames []struct {
		Linkage, File string
		Line, Column  int64
	}
}) {
	t.Helper()
	text, err := os.ReadFile(formattest.Testdata(t, relayObject+".golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	golden := struct{ Cases any }{&cases}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	return cases
}

// relayBuildID reads the object's build-id.
func relayBuildID(t *testing.T) string {
	t.Helper()
	f, err := elf.Open(formattest.Testdata(t, relayObject))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	note, err := f.Section(".note.gnu.build-id").Data()
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(note[16:])
}

// relayProfiles are profiles with a sample for each golden address.
func relayProfiles(t *testing.T) pprofile.Profiles {
	t.Helper()
	p := pprofile.NewProfiles()
	d := p.Dictionary()
	for _, s := range []string{"", filepath.Base(relayObject), "process.executable.build_id.gnu", "samples", "count"} {
		d.StringTable().Append(s)
	}
	d.FunctionTable().AppendEmpty()
	d.LinkTable().AppendEmpty()
	d.AttributeTable().AppendEmpty()
	d.StackTable().AppendEmpty()
	d.MappingTable().AppendEmpty()
	d.LocationTable().AppendEmpty()
	id := d.AttributeTable().AppendEmpty()
	id.SetKeyStrindex(2)
	id.Value().SetStr(relayBuildID(t))
	m := d.MappingTable().AppendEmpty()
	m.SetFilenameStrindex(1)
	m.AttributeIndices().Append(1)
	scope := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty()
	one := scope.Profiles().AppendEmpty()
	one.SampleType().SetTypeStrindex(3)
	one.SampleType().SetUnitStrindex(4)
	for i, c := range goldenCases(t) {
		l := d.LocationTable().AppendEmpty()
		var at uint64
		if _, err := fmt.Sscanf(c.Addr, "0x%x", &at); err != nil {
			t.Fatal(err)
		}
		l.SetAddress(at)
		l.SetMappingIndex(1)
		d.StackTable().AppendEmpty().LocationIndices().Append(int32(i + 1))
		s := one.Samples().AppendEmpty()
		s.SetStackIndex(int32(i + 1))
		s.Values().Append(1)
	}
	return p
}

// checkRelayed compares lines with the golden answers.
func checkRelayed(t *testing.T, p pprofile.Profiles) {
	t.Helper()
	d := p.Dictionary()
	text := func(i int32) string { return d.StringTable().At(int(i)) }
	for i, c := range goldenCases(t) {
		l := d.LocationTable().At(i + 1)
		var got, want []string
		for k := range l.Lines().Len() {
			f := d.FunctionTable().At(int(l.Lines().At(k).FunctionIndex()))
			got = append(got, fmt.Sprintf("%s %s:%d:%d", text(f.SystemNameStrindex()), text(f.FilenameStrindex()), l.Lines().At(k).Line(), l.Lines().At(k).Column()))
		}
		for _, f := range c.Frames {
			want = append(want, fmt.Sprintf("%s %s:%d:%d", f.Linkage, f.File, f.Line, f.Column))
		}
		// The complete and the base destructor are one code.
		if one := strings.NewReplacer("D2Ev", "D1Ev", "C2Ev", "C1Ev"); one.Replace(strings.Join(got, "\n")) != one.Replace(strings.Join(want, "\n")) {
			t.Errorf("%s is\n%s\nwant\n%s", c.Addr, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// relayReceiver receives profiles over HTTP and over gRPC.
type relayReceiver struct {
	pprofileotlp.UnimplementedGRPCServer
	mu     sync.Mutex
	got    []pprofile.Profiles
	header http.Header
	refuse int // a status of HTTP; 0: none
}

// take keeps what came. It returns the status to answer with.
func (r *relayReceiver) take(p pprofile.Profiles) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse == 0 {
		r.got = append(r.got, p)
	}
	return r.refuse
}

func (r *relayReceiver) set(refuse int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = refuse
}

// last returns the profiles that came last, and how many came.
func (r *relayReceiver) last(t *testing.T) (pprofile.Profiles, int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) == 0 {
		t.Fatal("no profiles came")
	}
	return r.got[len(r.got)-1], len(r.got)
}

// Export receives over gRPC.
func (r *relayReceiver) Export(_ context.Context, request pprofileotlp.ExportRequest) (pprofileotlp.ExportResponse, error) {
	answer := pprofileotlp.NewExportResponse()
	answer.PartialSuccess().SetErrorMessage("one is odd")
	answer.PartialSuccess().SetRejectedProfiles(1)
	switch r.take(request.Profiles()) {
	case 0:
		return answer, nil
	case http.StatusTooManyRequests:
		s, _ := grpcstatus.New(codes.ResourceExhausted, "later 100 %").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
		return answer, s.Err()
	case http.StatusBadRequest:
		return answer, grpcstatus.Error(codes.InvalidArgument, "no")
	}
	return answer, grpcstatus.Error(codes.Unavailable, "away")
}

// ServeHTTP receives over HTTP.
func (r *relayReceiver) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body := io.Reader(in.Body)
	if in.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(in.Body)
		if err != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		body = z
	}
	b, err := io.ReadAll(body)
	request := pprofileotlp.NewExportRequest()
	kind := in.Header.Get("Content-Type")
	if kind == "application/json" {
		err = request.UnmarshalJSON(b)
	} else if err == nil {
		err = request.UnmarshalProto(b)
	}
	if err != nil || in.URL.Path != "/v1development/profiles" {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	r.mu.Lock()
	r.header = in.Header
	r.mu.Unlock()
	if refuse := r.take(request.Profiles()); refuse != 0 {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(refuse)
		return
	}
	answer := pprofileotlp.NewExportResponse()
	answer.PartialSuccess().SetErrorMessage("one is odd")
	answer.PartialSuccess().SetRejectedProfiles(1)
	out, _ := answer.MarshalProto()
	if kind == "application/json" {
		out, _ = answer.MarshalJSON()
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(out)
}

// receive starts a receiver, and returns its URLs.
func receive(t *testing.T) (r *relayReceiver, overHTTP, overGRPC string) {
	t.Helper()
	r = &relayReceiver{}
	h := httptest.NewServer(r)
	t.Cleanup(h.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	pprofileotlp.RegisterGRPCServer(g, r)
	go g.Serve(listener)
	t.Cleanup(g.Stop)
	return r, h.URL, "grpc://" + listener.Addr().String()
}

// exporter returns a client of gRPC.
func exporter(t *testing.T, s *serving) pprofileotlp.GRPCClient {
	t.Helper()
	c, err := grpc.NewClient(strings.TrimPrefix(s.url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return pprofileotlp.NewGRPCClient(c)
}

// Profiles that exporters send over each protocol reach receivers over each protocol with answers, and the receiver's word goes back.
func TestServeRelay(t *testing.T) {
	t.Parallel()
	store := ingested(t, relayObject)
	r, overHTTP, overGRPC := receive(t)
	p := relayProfiles(t)
	request := pprofileotlp.NewExportRequestFromProfiles(p)
	proto, err := request.MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	text, err := request.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(proto)
	z.Close()
	for _, to := range []string{overHTTP, overGRPC} {
		s := startServe(t, store, "--otlp-forward", to, "--otlp-forward-header", "x-scope=a=b")
		came := 0
		checked := func() {
			t.Helper()
			got, n := r.last(t)
			checkRelayed(t, got)
			if n <= came {
				t.Error("nothing came")
			}
			came = n
		}
		code, body := s.ask(t, "POST", "/v1development/profiles", "application/x-protobuf", string(proto))
		answer := pprofileotlp.NewExportResponse()
		if err := answer.UnmarshalProto([]byte(body)); err != nil || code != 200 || answer.PartialSuccess().ErrorMessage() != "one is odd" {
			t.Errorf("%s: HTTP %d %q: %v", to, code, body, err)
		}
		checked()
		if code, _ := s.ask(t, "POST", "/v1development/profiles", "application/x-protobuf", packed.String(), "Content-Encoding", "gzip"); code != 200 {
			t.Errorf("%s: packed: HTTP %d", to, code)
		}
		checked()
		code, body = s.ask(t, "POST", "/v1development/profiles", "application/json", string(text))
		switch {
		case to == overGRPC:
			if code != 415 || !strings.Contains(body, "send protobuf") {
				t.Errorf("%s: JSON: HTTP %d %q", to, code, body)
			}
		case code != 200 || !strings.Contains(body, "one is odd"):
			t.Errorf("%s: JSON: HTTP %d %q", to, code, body)
		default:
			checked()
			if r.header.Get("X-Scope") != "a=b" {
				t.Errorf("%s: headers %v", to, r.header)
			}
		}
		client := exporter(t, s)
		for _, o := range [][]grpc.CallOption{nil, {grpc.UseCompressor("gzip")}} {
			answer, err := client.Export(t.Context(), request, o...)
			if err != nil || answer.PartialSuccess().RejectedProfiles() != 1 {
				t.Errorf("%s: gRPC: %v %v", to, answer.PartialSuccess().RejectedProfiles(), err)
			}
			checked()
		}
		if _, err := client.Export(t.Context(), pprofileotlp.NewExportRequest()); err != nil {
			t.Errorf("%s: an empty message: %v", to, err)
		}
		relayRefusals(t, r, s, client, string(proto), request, to == overGRPC)
		_, metrics := s.ask(t, "GET", "/metrics", "", "")
		for _, want := range []string{`symlake_relay_messages_total{outcome="forwarded",protocol="grpc"} 3`, `symlake_relay_messages_total{outcome="retry",protocol="grpc"} 2`,
			`symlake_relay_messages_total{outcome="rejected",protocol="http"}`, `symlake_relay_samples_total{outcome="retry"}`, `symlake_relay_places_total{status="found"}`} {
			if !strings.Contains(metrics, want) {
				t.Errorf("%s: /metrics lacks %s", to, want)
			}
		}
	}
}

// relayRefusals has the receiver refuse.
func relayRefusals(t *testing.T, r *relayReceiver, s *serving, client pprofileotlp.GRPCClient, proto string, request pprofileotlp.ExportRequest, overGRPC bool) {
	t.Helper()
	defer r.set(0)
	for _, c := range []struct {
		says, want int
		code       codes.Code
	}{{429, 429, codes.ResourceExhausted}, {503, 503, codes.Unavailable}, {400, 400, codes.InvalidArgument}} {
		r.set(c.says)
		res, err := http.Post(s.url+"/v1development/profiles", "application/x-protobuf", strings.NewReader(proto))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		after := res.Header.Get("Retry-After")
		if res.StatusCode != c.want || c.says == 429 && after != "7" || c.says == 503 && !overGRPC && after != "7" || c.says == 400 && after != "" {
			t.Errorf("HTTP %d: says %d after %q, want %d", c.says, res.StatusCode, after, c.want)
		}
		_, err = client.Export(t.Context(), request)
		said := grpcstatus.Convert(err)
		if said.Code() != c.code {
			t.Errorf("gRPC %d: says %v, want %v", c.says, err, c.code)
		}
		if details := said.Details(); c.says == 429 && (len(details) != 1 || details[0].(*errdetails.RetryInfo).RetryDelay.Seconds != 7) {
			t.Errorf("gRPC %d: details %v", c.says, details)
		}
	}
}

// A server without a receiver, messages of no known form, and receivers out of reach are refused by their own words.
func TestServeRelayRefuses(t *testing.T) {
	t.Parallel()
	store := ingested(t, relayObject)
	request := pprofileotlp.NewExportRequestFromProfiles(relayProfiles(t))
	proto, err := request.MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	const path = "/v1development/profiles"
	none := startServe(t, store)
	if code, body := none.ask(t, "POST", path, "application/x-protobuf", string(proto)); code != 404 || !strings.Contains(body, "--otlp-forward") {
		t.Errorf("without a receiver: HTTP %d %s", code, body)
	}
	if _, err := exporter(t, none).Export(t.Context(), request); grpcstatus.Code(err) != codes.NotFound {
		t.Errorf("without a receiver: %v", err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()
	s := startServe(t, store, "--otlp-forward", "http://"+address, "--max-body", "1MiB")
	for _, c := range []struct {
		kind, body string
		want       int
	}{
		{"application/x-protobuf", string(proto), 503}, {"application/x-protobuf", "nonsense", 400}, {"application/json", "[]", 400}, {"text/plain", string(proto), 415},
		{"application/x-protobuf", strings.Repeat("x", 2<<20), 413}, {"application/x-protobuf", string(proto[:len(proto)/2]), 503},
	} {
		code, body := s.ask(t, "POST", path, c.kind, c.body)
		if code != c.want {
			t.Errorf("%s, %d bytes: HTTP %d %q, want %d", c.kind, len(c.body), code, body, c.want)
		}
	}
	if _, err := exporter(t, s).Export(t.Context(), request); grpcstatus.Code(err) != codes.Unavailable {
		t.Errorf("gRPC: %v", err)
	}
	code, body := s.ask(t, "POST", "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", "application/grpc", "\x00\xff\xff\xff\xff")
	if code != 200 || body != "" {
		t.Errorf("a broken frame: HTTP %d %q", code, body)
	}
	for _, bad := range []string{"localhost:4318", "ftp://x", "http://", "grpc://x/path", "http://u:p@x"} {
		mustRun(t, []int{2}, "--store", store, "serve", "--otlp-forward", bad)
	}
	mustRun(t, []int{2}, "--store", store, "serve", "--otlp-forward-unanswered")
	mustRun(t, []int{2}, "--store", store, "serve", "--otlp-forward", "http://x", "--otlp-forward-header", "x")
}
