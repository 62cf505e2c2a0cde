package query

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/profiles"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/remote"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/scratch"
)

// Memory of a profile, in bytes. The process stays below 256 MiB for any size of input.
const (
	profileBytes        = 64 << 20  // what its form keeps
	profileCacheBytes   = 24 << 20  // what the client keeps of a store
	profileSampleBytes  = 112 << 20 // samples on their way to another form
	profileMemoryBytes  = 96 << 20  // of a profile in its own form, with the collector's room beside it
	profileConvertBytes = 168 << 20 // of a conversion
)

// profiling is the command as far as it concerns profiles.
type profiling struct {
	files     []string // none: standard input
	output    string   // its name tells the form
	artifacts []string
	app       string
	frame0    string
	strict    bool
	going     bool   // see notices
	other     string // a flag that does not go with profiles; "": none was given
	exploded  bool   // the client has what --symbols named, and nothing else
	// client opens what places are looked up in. cacheBytes bound what it keeps of a store.
	client func(cacheBytes int64) (c *answer.Client, close func() error, err error)

	name  string // of the input, for messages
	in    *profile.Input
	to    profiles.Output
	spool *profiles.Spool
}

// profile answers the input, if it is a profile; done is false if it is none.
func (j *profiling) profile(p *session.Session, from *sources) (done bool, err error) {
	if len(j.files) == 0 {
		j.files = []string{"-"}
	}
	for _, file := range j.files {
		head, err := from.head(file)
		if err != nil {
			return true, err
		}
		form, err := profiles.Of(profile.Bytes(file, head))
		if err != nil || form == nil {
			continue // what only looks like a packed profile is read as text
		}
		if form.Report && !j.converts(form) {
			continue
		}
		j.name, j.spool = file, profiles.NewSpool(scratchDir(p), nil)
		if file == "-" {
			j.name = "standard input"
		}
		if len(j.files) > 1 {
			return true, exit.Usage("%s is a profile: symbolicate takes one profile, and writes one --output", j.name)
		}
		if err := j.check(p, form); err != nil {
			return true, err
		}
		return true, j.run(p, from, file)
	}
	return false, nil
}

// converts reports whether the output is of another form than the input's.
func (j *profiling) converts(form *profile.Format) bool {
	to, err := profiles.File(form, filepath.Base(j.output))
	return err == nil && to.Form != nil
}

// check finds faults in the words that go with a profile of a form.
func (j *profiling) check(p *session.Session, form *profile.Format) (err error) {
	switch {
	case j.other != "":
		return exit.Usage("%s does not go with profiles, and %s is one", j.other, j.name)
	case j.output == "" && p.OutView.Terminal():
		return exit.Usage("%s is a profile: give --output FILE", j.name)
	case j.output == "" && p.Flags.JSON, j.output == "-" && p.Flags.JSON:
		return exit.Usage("--json prints the counts of %s, which is a profile: give --output FILE", j.name)
	}
	if j.to, err = profiles.File(form, filepath.Base(j.output)); err != nil {
		return exit.Usage("--output %s: %w", j.output, err)
	}
	return nil
}

// run answers the profile and tells of it.
func (j *profiling) run(p *session.Session, from *sources, file string) (err error) {
	memory := int64(profileMemoryBytes)
	if j.to.Form != nil {
		memory = profileConvertBytes
	}
	if !j.exploded { // what --symbols names takes its own memory
		p.Collector.Use(collector.Trace, memory)
	}
	out := io.Writer(p.Out)
	commit := func() error { return nil }
	if j.output != "" && j.output != "-" {
		f, err := createOut(j.output)
		if err != nil {
			return err
		}
		defer f.abort()
		out, commit = f, f.commit
	}
	release, err := j.open(p, from, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	counts, err := j.answer(p, out)
	if err == nil {
		err = commit()
	}
	switch {
	case formats.Rejects(err):
		return &exit.Error{Code: exit.Rejected, Err: fmt.Errorf("%s: %w", j.name, err)}
	case errors.As(err, new(*exit.Error)):
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", j.name, err)
	}
	return j.tell(p, counts)
}

// open opens the input. A pipe is kept, because some forms are read twice.
func (j *profiling) open(p *session.Session, from *sources, file string) (release func() error, err error) {
	meter := newMeter(p, j.files, j.output)
	if from.regular(file) {
		j.in = &profile.Input{Name: j.name, Open: func() (io.ReadCloser, error) {
			f, err := os.Open(file)
			if err != nil {
				return nil, err
			}
			meter.again()
			return readCloser{meter.reader(j.name, f), f}, nil
		}}
		return func() error { meter.stop(); return nil }, nil
	}
	r, closeInput, err := from.open(file)
	if err != nil {
		return nil, err
	}
	defer closeInput()
	defer meter.stop()
	j.in, release, err = j.spool.Keep(j.name, meter.reader(j.name, r))
	return release, err
}

// readCloser reads by one, and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

// answer writes the profile with answers: a server's, or of the store.
func (j *profiling) answer(p *session.Session, out io.Writer) (*wire.Summary, error) {
	server, err := p.Remote()
	if err != nil {
		return nil, err
	}
	if server != nil && !j.exploded {
		counts, err := j.ask(p, server, out)
		return counts, err
	}
	frame0, err := report.ParseFrame0(j.frame0)
	if err != nil {
		return nil, exit.Usage("--frame0: %w", err)
	}
	o := profiles.Options{Artifacts: j.artifacts, App: j.app, All: j.exploded, Frame0: frame0, Memory: profileBytes,
		Scratch: func() (profile.Scratch, error) {
			f, err := scratch.NewRandom(scratchDir(p))
			if err != nil {
				return nil, err
			}
			return f, nil
		}}
	var client *answer.Client
	o.Open = func() (c *answer.Client, close func() error, err error) {
		client, close, err = j.client(profileCacheBytes)
		return client, close, err
	}
	if !j.exploded {
		asked := &demand{}
		o.Asked = func(r *report.Report, answers [][]symbol.Answer) error {
			asked.stack(p, client, r, answers)
			return nil
		}
		defer asked.note(p)
	}
	asker := profiles.New(o)
	questions := asker.Profile()
	err = profiles.Write(p.Ctx, j.in, out, j.to, questions, j.spool.Keep, profileSampleBytes)
	return wire.NewProfile(&questions.Counts), errors.Join(err, asker.Close())
}

// ask sends the profile to a server.
func (j *profiling) ask(p *session.Session, server *remote.Client, out io.Writer) (*wire.Summary, error) {
	q := url.Values{"artifact": j.artifacts}
	for name, value := range map[string]string{"app": j.app, "frame0": j.frame0} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if j.to.Form != nil {
		q.Set("output", j.to.Form.Name)
	}
	counts := new(wire.Summary)
	err := j.to.Asked(j.in, out, func(out io.Writer) (err error) {
		counts, err = server.Profile(p.Ctx, j.in.Open, q, out)
		return err
	})
	if err != nil {
		return nil, p.Refusal(err)
	}
	return counts, nil
}

// tell tells what became of the profile. The error says that a part of it stays as it came.
func (j *profiling) tell(p *session.Session, s *wire.Summary) error {
	said := notices{p: p, json: p.Flags.JSON, strict: j.strict, going: j.going, places: true}
	s.Input = j.name
	p.Log.Info("profile", "input", s.Input, "form", s.Profile, "samples", s.Samples, "places", s.Recognized, "answered", s.Answered)
	if s.Recognized == 0 {
		p.Log.Warn("no place was found that can be looked up", "input", s.Input, "form", s.Profile, "samples", s.Samples)
		said.short = append(said.short, j.name)
	}
	said.unread(s)
	said.all.Merge(s)
	if p.Flags.JSON {
		if err := p.PrintJSON(s.Record()); err != nil {
			return err
		}
	}
	if err := said.end(); err != nil || len(s.Unread) == 0 {
		return err
	}
	if p.Log.Enabled(p.Ctx, slog.LevelWarn) { // the log has told all
		return &exit.Error{Code: exit.Rejected}
	}
	return &exit.Error{Code: exit.Rejected, Err: fmt.Errorf("%s: a part could not be read and stays as it came: %s", j.name, unreadText(&s.Unread[0]))}
}

// asked refuses an output that only a profile or a trace can have, for inputs that are none.
func (j *profiling) asked() error {
	if !profiles.Asks(filepath.Base(j.output)) {
		return nil
	}
	files := j.files
	if len(files) == 0 {
		files = []string{"standard input"}
	}
	return exit.Usage("--output %s asks for a profile, and %s is none of a known form", j.output, strings.Join(files, ", "))
}

// scratchDir returns the folder of scratch files. A store may have none yet, or belong to others: then it is the system's.
func scratchDir(p *session.Session) string {
	dir := p.Scratch()
	f, err := scratch.NewRandom(dir)
	if err != nil {
		return os.TempDir()
	}
	f.Close()
	return dir
}
