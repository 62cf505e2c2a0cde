package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
)

// The protocol of POST /symbolicate/v5, as Eliot speaks it: jobs of a memory map ([file name, debug id] each)
// and stacks of [index into the map, offset from the image's base]; -1 stands for an unknown one. Unknown members
// are passed over, as there.
type teckenRequest struct {
	Jobs *[]teckenJob `json:"jobs"` // or one job stands in its place
	teckenJob
}

type teckenJob struct {
	MemoryMap *[][]*string      `json:"memoryMap"`
	Stacks    *[][]teckenFrames `json:"stacks"`
}

// teckenFrames is one frame; a type of its own, because an array of any length would be taken for one of two numbers.
type teckenFrames struct {
	module int
	offset uint64
	none   bool // the offset is -1
}

var errFrame = errors.New("want [index into memoryMap or -1, offset or -1]")

// UnmarshalJSON reads [module, offset].
func (f *teckenFrames) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return failed(http.StatusBadRequest, "a frame: %v", errFrame)
	}
	first, second, ok := bytes.Cut(text[1:len(text)-1], []byte{','})
	if !ok {
		return failed(http.StatusBadRequest, "a frame: %v", errFrame)
	}
	f.module = -1
	if !isMinusOne(first) {
		module, err := integer(first)
		if err != nil || module > math.MaxInt32 {
			return failed(http.StatusBadRequest, "a frame's module: %v", errFrame)
		}
		f.module = int(module)
	}
	if f.none = isMinusOne(second); f.none {
		return nil
	}
	var err error
	if f.offset, err = integer(second); err != nil {
		return failed(http.StatusBadRequest, "a frame's offset: want -1 to 2^64-1")
	}
	return nil
}

// isMinusOne reports whether the number stands for an unknown one.
func isMinusOne(text []byte) bool {
	s := string(bytes.TrimSpace(text))
	return s == "-1" || s == "-1.0"
}

// maxModules bounds the memory maps of a request: processes have some hundreds of images.
const maxModules = 10_000

// parseTecken reads a request and refuses wrong forms.
func (s *Server) parseTecken(c *call) ([]teckenJob, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	n, l := count(text), s.o.Limits
	if most := l.Frames + l.Stacks + maxModules + 4*l.Jobs + 16; n.arrays > most {
		return nil, failed(http.StatusRequestEntityTooLarge, "more than %d frames, %d stacks or %d modules", l.Frames, l.Stacks, maxModules)
	} else if n.commas > 2*most+n.objects {
		return nil, failed(http.StatusRequestEntityTooLarge, "more values than %d frames and %d modules have", l.Frames, maxModules)
	}
	if err := c.enter(teckenBytes*int64(n.arrays+n.commas) + int64(len(text))); err != nil {
		return nil, err
	}
	var req teckenRequest
	if err := decode(text, &req, false); err != nil {
		return nil, err
	}
	jobs := []teckenJob{req.teckenJob}
	if req.Jobs != nil {
		jobs = *req.Jobs
	}
	if len(jobs) > l.Jobs {
		return nil, failed(http.StatusBadRequest, "%d jobs: at most %d are answered at once", len(jobs), l.Jobs)
	}
	modules := 0
	for i := range jobs {
		if err := s.check(c, &jobs[i]); err != nil {
			return nil, failed(status(err), "job %d: %v", i, err)
		}
		if modules += len(*jobs[i].MemoryMap); modules > maxModules {
			return nil, failed(http.StatusRequestEntityTooLarge, "job %d: more than %d modules", i, maxModules)
		}
	}
	return jobs, nil
}

// teckenBytes is about the memory of an array or a value of a request, decoded, while its slice grows.
const teckenBytes = 48

// check refuses a job that is not formed as it should be.
func (s *Server) check(c *call, j *teckenJob) error {
	if j.Stacks == nil {
		return failed(http.StatusBadRequest, "no stacks specified")
	}
	if j.MemoryMap == nil {
		return failed(http.StatusBadRequest, "no memoryMap specified")
	}
	if len(*j.Stacks) == 0 {
		return failed(http.StatusBadRequest, "no stacks specified")
	}
	for i, m := range *j.MemoryMap {
		if len(m) != 2 || m[0] == nil || m[1] == nil {
			return failed(http.StatusBadRequest, "module %d: want [file name, debug id]", i)
		}
		for _, r := range *m[1] {
			if r < '0' || r > '9' && r < 'A' || r > 'F' && r < 'a' || r > 'f' {
				return failed(http.StatusBadRequest, "module %d: want a debug id of hex digits", i)
			}
		}
	}
	c.stacks += len(*j.Stacks)
	if c.stacks > s.o.Limits.Stacks {
		return failed(http.StatusRequestEntityTooLarge, "more than %d stacks", s.o.Limits.Stacks)
	}
	for i, frames := range *j.Stacks {
		if frames == nil {
			return failed(http.StatusBadRequest, "stack %d: want an array of frames", i)
		}
		if c.frames += len(frames); c.frames > s.o.Limits.Frames {
			return failed(http.StatusRequestEntityTooLarge, "more than %d frames", s.o.Limits.Frames)
		}
		for k := range frames {
			if frames[k].module >= len(*j.MemoryMap) {
				return failed(http.StatusBadRequest, "stack %d, frame %d: its module is not in memoryMap", i, k)
			}
		}
	}
	return nil
}

func status(err error) int {
	if f := (*fail)(nil); errors.As(err, &f) {
		return f.code
	}
	return http.StatusBadRequest
}

var _ json.Unmarshaler = (*teckenFrames)(nil)
