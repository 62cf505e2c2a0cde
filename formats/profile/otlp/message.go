package otlp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// message is a message in memory, with its changes.
type message struct {
	reader
	o        *profile.Options
	run      *run
	at       int64 // where it begins in the input
	sets     []*tables
	boxes    []box // the messages around changes
	edits    []edit
	payloads [][]byte // with answers
	samples  uint64
	agent    bool  // of the eBPF profiler: addresses are of the file, columns count from 0
	left     int64 // bytes that it may still take
}

// errRoom says that a message would take more memory than it may.
var errRoom = errors.New("a message takes more memory than is allowed for it")

// take takes memory.
func (m *message) take(bytes int) error {
	if m.left -= int64(bytes); m.left < 0 {
		return errRoom
	}
	return nil
}

// where names a place in the message.
func (m *message) where(what string, i int) string {
	return fmt.Sprintf("%s %d of the message at %#x", what, i, m.at)
}

// read reads the tables of a message.
func (m *message) read() error {
	if !m.json {
		v, err := versionOf(&m.reader)
		if err != nil {
			return err
		}
		m.version = v
	}
	main := &tables{m: m}
	err := m.fields(kData, 0, len(m.b), func(f *field) error {
		switch f.name {
		case nResourceProfiles:
			return m.resource(f)
		case nTables:
			main.kind = kTables
			main.home(f)
		case nMappings, nLocations, nFunctions, nStrings, nAttributes:
			if len(main.homes) == 0 {
				main.kind, main.homes = kData, []span{{0, int32(len(m.b))}}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(main.homes) > 0 {
		m.sets = append(m.sets, main)
	}
	for _, t := range m.sets {
		if err := t.read(); err != nil {
			return err
		}
	}
	return nil
}

// box notes a message that may change its length.
func (m *message) box(f *field) {
	if !m.json {
		m.boxes = append(m.boxes, box{tag: int32(f.from), body: int32(f.body), end: int32(f.end)})
	}
}

// resource reads the profiles of a resource.
func (m *message) resource(f *field) error {
	m.box(f)
	return m.fields(kResourceProfiles, f.body, f.end, func(f *field) error {
		if f.name != nScopeProfiles {
			return nil
		}
		m.box(f)
		return m.fields(kScopeProfiles, f.body, f.end, func(f *field) error {
			switch f.name {
			case nScope:
				return m.scope(f)
			case nProfiles:
				m.box(f)
				return m.profile(f)
			}
			return nil
		})
	})
}

// agentScope is the name of the scope of the eBPF profiler of OpenTelemetry.
const agentScope = "go.opentelemetry.io/ebpf-profiler"

// scope reads the name of the program that made profiles.
func (m *message) scope(f *field) error {
	return m.fields(kScope, f.body, f.end, func(f *field) error {
		if f.name == nName && m.text(span{int32(f.body), int32(f.end)}) == agentScope {
			m.agent = true
		}
		return nil
	})
}

// profile reads a profile: its own tables, and a profile of another form in it.
func (m *message) profile(f *field) error {
	own := &tables{m: m, kind: kProfile}
	format := ""
	payload := field{}
	err := m.fields(kProfile, f.body, f.end, func(in *field) error {
		switch in.name {
		case nSamples:
			m.samples++
		case nMappings, nLocations, nFunctions, nStrings:
			if len(own.homes) == 0 {
				own.homes = []span{{int32(f.body), int32(f.end)}}
			}
		case nFormat:
			format = m.text(span{int32(in.body), int32(in.end)})
		case nPayload:
			payload = *in
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(own.homes) > 0 {
		m.sets = append(m.sets, own)
	}
	if format != "" && payload.end > payload.body {
		return m.take(editBytes + m.addPayload(&payload))
	}
	return nil
}

// addPayload notes a profile of another form. It returns the bytes that it may take.
func (m *message) addPayload(f *field) int {
	m.box(f)
	m.edits = append(m.edits, edit{from: int32(f.body), to: int32(f.end), what: payloadEdit})
	return 3 * (f.end - f.body)
}

// inside answers the profiles of other forms in the message.
func (m *message) inside(ctx context.Context) error {
	kept := m.edits[:0]
	for _, e := range m.edits {
		payload := m.b[e.from:e.to]
		if m.json {
			plain := make([]byte, base64.StdEncoding.DecodedLen(len(payload)))
			n, err := base64.StdEncoding.Decode(plain, bytes.ReplaceAll(payload, []byte(`\/`), []byte("/")))
			if err != nil {
				m.o.Counts.Keep("the payload of a profile is no base64", m.where("byte", int(e.from)))
				continue
			}
			payload = plain[:n]
		}
		var out bytes.Buffer
		answered := m.o.Counts.Answered
		err := m.o.Inside(ctx, payload, &out)
		var bad *formats.Error
		switch {
		case errors.Is(err, profile.ErrFormat):
			continue // of a form that is not known: jfr, linux_perf
		case errors.As(err, &bad):
			m.o.Counts.Keep("the payload of a profile cannot be read", m.where("byte", int(e.from)))
			continue
		case err != nil:
			return err
		case m.o.Counts.Answered == answered:
			continue
		}
		if err := m.take(out.Len()); err != nil {
			return err
		}
		e.i = int32(len(m.payloads))
		m.payloads = append(m.payloads, out.Bytes())
		kept = append(kept, e)
	}
	m.edits = kept
	return nil
}

// facts reads the facts of a resource, which may stand behind its profiles.
func (s *sampling) facts(f *field) error {
	s.resource = samples.Thread{}
	return s.m.fields(kResourceProfiles, f.body, f.end, func(f *field) error {
		if f.name != nResource || s.t == nil {
			return nil
		}
		return s.m.fields(kResource, f.body, f.end, s.pair)
	})
}

// pair reads an attribute of a resource.
func (s *sampling) pair(f *field) error {
	if f.name != nPairs {
		return nil
	}
	key, text, number := "", "", uint64(0)
	m := s.m
	err := m.fields(kPair, f.body, f.end, func(f *field) error {
		switch f.name {
		case nKeyIndex:
			key = s.t.string(index(f.value))
		case nKey:
			key = m.text(span{int32(f.body), int32(f.end)})
		case nValue:
			var err error
			text, number, err = s.t.value(f)
			return err
		}
		return nil
	})
	switch key {
	case "process.pid":
		s.resource.PID = int64(number)
	case "process.executable.name":
		s.resource.Process = text
	case "service.name":
		if s.to.Name == "" {
			s.to.Name = text
		}
		if s.resource.Process == "" {
			s.resource.Process = text
		}
	}
	return err
}
