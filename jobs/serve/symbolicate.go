package serve

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// symbolicateRequest is the JSON body of POST /v1/symbolicate.
type symbolicateRequest struct {
	Stacks []rawStack `json:"stacks"`
	Output string     `json:"output"` // records (default), text or both
}

// rawStack is a stack as it was reported, and what its text does not say.
type rawStack struct {
	Text      *string  `json:"text"`
	App       string   `json:"app"`      // APP or, with build, APP@BUILD
	Build     string   `json:"build"`    //
	Platform  string   `json:"platform"` // see lookup.PlatformKind
	Frame0    string   `json:"frame0"`   // exact, return or stepped
	Artifacts []string `json:"artifacts"`
	wire.Reading
	wire.Dart
}

// dump is one stack of a raw one, which may hold several.
type dump struct {
	of    int // index into the request's stacks
	stack *stack.Stack
}

// errFrames ends the splitting of a request that is too large.
var errFrames = errors.New("too many frames")

// symbolicate answers raw stacks: as JSON many of them; as text one dump or log, whose options stand in the query.
func (s *Server) symbolicate(c *call) error {
	switch c.mediaType() {
	case "application/json":
		return s.symbolicateJSON(c)
	case "text/plain", "application/octet-stream", "application/x-www-form-urlencoded": // what curl --data-binary says
		return s.symbolicateText(c)
	}
	return failed(http.StatusUnsupportedMediaType, "want Content-Type application/json or text/plain")
}

func (s *Server) symbolicateJSON(c *call) error {
	var req symbolicateRequest
	if err := c.parse(&req, true); err != nil {
		return err
	}
	said, err := parseOptions(c) // of no use here, and wrong all the same when it is wrong
	if err == nil {
		_, _, err = s.options(c, 0, &said.raw)
	}
	if err != nil {
		return err
	}
	records, text := req.Output != "text", req.Output == "text" || req.Output == "both"
	switch {
	case req.Stacks == nil:
		return failed(http.StatusBadRequest, "want stacks")
	case !slices.Contains([]string{"", "records", "text", "both"}, req.Output):
		return failed(http.StatusBadRequest, "output: want records, text or both")
	case len(req.Stacks) > s.o.Limits.Stacks:
		return failed(http.StatusRequestEntityTooLarge, "%d stacks: at most %d are answered at once", len(req.Stacks), s.o.Limits.Stacks)
	}
	var w work
	for i := range req.Stacks {
		if req.Stacks[i].Text == nil {
			return failed(http.StatusBadRequest, "stacks[%d]: want text", i)
		}
		if err := s.read(c, &w, i, &req.Stacks[i], []byte(*req.Stacks[i].Text)); err != nil {
			return err
		}
	}
	out := append(make([]byte, 0, 1024+256*c.frames), `{"results":[`...)
	at := -1 // the raw stack whose result is open
	some := false
	var printed bytes.Buffer
	end := func() {
		if at < 0 {
			return
		}
		if records {
			out = append(out, ']')
		}
		if text {
			if records {
				out = append(out, ',')
			}
			out = append(out, `"text":`...)
			out = wire.AppendString(out, printed.Bytes())
			printed.Reset()
		}
		out = append(out, '}')
	}
	begin := func(i int) {
		for at < i {
			end()
			if at++; at > 0 {
				out = append(out, ',')
			}
			out = append(out, '{')
			if records {
				out = append(out, `"stacks":[`...)
			}
			some = false
		}
	}
	var failing error
	err = s.o.Client.Stacks(c.ctx, w.queries, func(i int, answers [][]symbol.Answer) {
		d := &w.dumps[i]
		begin(d.of)
		if records {
			before := len(out)
			if some {
				out = append(out, ',')
			}
			var said bool
			if out, said = wire.AppendStack(out, d.stack, answers); said {
				some = true
			} else {
				out = out[:before]
			}
		}
		if text {
			if err := stack.Print(&printed, d.stack, answers); err != nil {
				failing = err
			}
		}
	})
	if err = errors.Join(err, failing); err != nil {
		return err
	}
	begin(len(req.Stacks) - 1)
	end()
	c.send(http.StatusOK, "application/json", append(out, "]}\n"...))
	return nil
}

// symbolicateText answers with the text, its frames replaced, or with a record a stack.
func (s *Server) symbolicateText(c *call) error {
	o, err := parseOptions(c)
	if err != nil {
		return err
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	var w work
	if err := s.read(c, &w, 0, &o.raw, body); err != nil {
		return err
	}
	var out bytes.Buffer
	var failing error
	err = s.o.Client.Stacks(c.ctx, w.queries, func(i int, answers [][]symbol.Answer) {
		d := w.dumps[i].stack
		if o.output == "records" {
			if line, ok := wire.AppendStack(out.AvailableBuffer(), d, answers); ok {
				out.Write(append(line, '\n'))
			}
			return
		}
		err := stack.Print(&out, d, answers)
		if err == nil && o.explain {
			err = wire.Explain(c.ctx, &out, s.o.Client, d, w.queries[i].StackOptions)
		}
		failing = errors.Join(failing, err)
	})
	if err = errors.Join(err, failing); err != nil {
		return err
	}
	kind := "text/plain; charset=utf-8"
	if o.output == "records" {
		kind = "application/x-ndjson"
	}
	c.send(http.StatusOK, kind, out.Bytes())
	return nil
}

// textOptions are what the query says of a text.
type textOptions struct {
	raw     rawStack
	output  string
	explain bool
}

func parseOptions(c *call) (o textOptions, err error) {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return o, failed(http.StatusBadRequest, "the query is not encoded as it should be")
	}
	known := []string{"app", "build", "platform", "frame0", "artifact", "school", "regex", "verbose", "explain", "output", "isolate_start", "vm_start", "unit"}
	for name, values := range q {
		if !slices.Contains(known, name) {
			return o, failed(http.StatusBadRequest, "the query has a parameter that is not known: want %s", strings.Join(known, ", "))
		}
		if len(values) > 1 && name != "artifact" && name != "unit" {
			return o, failed(http.StatusBadRequest, "%s: want it once", name)
		}
	}
	o.raw = rawStack{App: q.Get("app"), Build: q.Get("build"), Platform: q.Get("platform"), Frame0: q.Get("frame0"), Artifacts: q["artifact"],
		Reading: wire.Reading{School: q.Get("school"), Regex: q.Get("regex")},
		Dart:    wire.Dart{IsolateStart: q.Get("isolate_start"), VMStart: q.Get("vm_start"), Units: q["unit"]}}
	for name, to := range map[string]*bool{"verbose": &o.raw.Verbose, "explain": &o.explain} {
		if v := q.Get(name); v != "" {
			if *to, err = strconv.ParseBool(v); err != nil {
				return o, failed(http.StatusBadRequest, "%s: want true or false", name)
			}
		}
	}
	o.output = q.Get("output")
	if !slices.Contains([]string{"", "text", "records"}, o.output) {
		return o, failed(http.StatusBadRequest, "output: want text or records")
	}
	return o, nil
}

// work is what a request asks for.
type work struct {
	dumps   []dump
	queries []lookup.StackQuery // one a dump
}

// options are what a raw stack says besides its text. i is its place among those of the request.
func (s *Server) options(c *call, i int, raw *rawStack) (split stack.Options, o lookup.StackOptions, err error) {
	kind, known := lookup.PlatformKind(raw.Platform)
	if !known {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: platform is not known", i)
	}
	frame0, err := stack.ParseFrame0(raw.Frame0)
	if err != nil {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: frame0: want exact, return or stepped", i)
	}
	const maxNames = 64
	if len(raw.Artifacts) > maxNames || len(raw.Units) > maxNames {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: more than %d artifacts or units", i, maxNames)
	}
	app := raw.App
	if raw.Build != "" {
		app += "@" + raw.Build
	}
	managed, err := raw.Managed(c.ctx, s.o.Client, raw.Artifacts, app)
	if err != nil {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: %v", i, err)
	}
	split = stack.Options{Artifacts: raw.Artifacts, Frame0: frame0, Managed: managed}
	if err := raw.Dart.Options(&split); err != nil {
		return split, o, failed(http.StatusBadRequest, "stacks[%d]: %v", i, err)
	}
	return split, lookup.StackOptions{Artifacts: raw.Artifacts, App: app, Kind: kind, Used: c.used}, nil
}

// read splits a raw stack.
func (s *Server) read(c *call, w *work, i int, raw *rawStack, text []byte) error {
	split, o, err := s.options(c, i, raw)
	if err != nil {
		return err
	}
	c.stacks++
	err = stack.Split(c.ctx, bytes.NewReader(text), split, func(d *stack.Stack) error {
		for t := range d.Threads {
			c.frames += len(d.Threads[t].Frames)
		}
		if c.frames > s.o.Limits.Frames {
			return errFrames
		}
		w.dumps = append(w.dumps, dump{i, d})
		w.queries = append(w.queries, lookup.StackQuery{Stack: d, StackOptions: o})
		return nil
	})
	if errors.Is(err, errFrames) {
		return failed(http.StatusRequestEntityTooLarge, "more than %d frames", s.o.Limits.Frames)
	}
	return err
}
