package jobs

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
)

// frameJSON is a frame as --json prints it.
type frameJSON struct {
	Function string `json:"function"`
	Linkage  string `json:"linkage"`
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Column   uint32 `json:"column"`
	Name     string `json:"name,omitempty"`    // scripts: the identifier at this place
	Ignored  bool   `json:"ignored,omitempty"` // scripts: the source is none of the application's own
}

// answerJSON is an answer as --json prints it.
type answerJSON struct {
	Artifact string        `json:"artifact,omitempty"`
	Load     string        `json:"load,omitempty"`
	Kind     symbol.Kind   `json:"kind,omitempty"`
	Position string        `json:"position,omitempty"`
	Raw      string        `json:"raw,omitempty"`
	Status   symbol.Status `json:"status"`
	Reason   string        `json:"reason,omitempty"`
	Retry    bool          `json:"retry,omitempty"`
	Frames   []frameJSON   `json:"frames"`
	// Alternatives are the other chains that may be meant, where a mapping leaves several.
	Alternatives [][]frameJSON `json:"alternatives,omitempty"`
}

func framesJSON(frames []symbol.Frame) []frameJSON {
	out := make([]frameJSON, len(frames))
	for i, f := range frames {
		out[i] = frameJSON{functionOf(f), f.Linkage, f.File, f.Line, f.Column, f.Name, f.Ignored}
	}
	return out
}

// newAnswerJSON fills what every answer has.
func newAnswerJSON(a symbol.Answer) answerJSON {
	j := answerJSON{Status: a.Status, Retry: a.Status.Retry(), Frames: framesJSON(a.Frames)}
	for _, other := range a.Or {
		j.Alternatives = append(j.Alternatives, framesJSON(other))
	}
	if a.Status != symbol.Found {
		j.Reason = reason(a)
	}
	return j
}

// reason is one sentence for every status but found.
func reason(a symbol.Answer) string {
	if a.Err != nil {
		return a.Err.Error()
	}
	switch a.Status {
	case symbol.Hole:
		return "nothing is known about this position"
	case symbol.Outside:
		return "the position is beyond the image"
	case symbol.NoArtifact:
		return "no such artifact"
	}
	return string(a.Status)
}

// functionOf is the name a person reads.
func functionOf(f symbol.Frame) string {
	if f.Function != "" {
		return f.Function
	}
	return f.Linkage
}

// style is a text form of answers.
type style func(to []byte, frames []symbol.Frame) []byte

// styles are the text forms by the name --style takes.
var styles = map[string]style{"llvm": appendLLVM, "addr2line": appendAddr2line}

// appendLLVM prints an answer as llvm-symbolizer does: a function line and a
// place line a frame, then an empty line.
func appendLLVM(to []byte, frames []symbol.Frame) []byte {
	if len(frames) == 0 {
		return append(to, "??\n??:0:0\n\n"...)
	}
	for _, f := range frames {
		to = append(orUnknown(to, functionOf(f)), '\n')
		to = append(orUnknown(to, f.File), ':')
		to = append(strconv.AppendUint(to, uint64(f.Line), 10), ':')
		to = append(strconv.AppendUint(to, uint64(f.Column), 10), '\n')
	}
	return append(to, '\n')
}

// appendAddr2line prints an answer as addr2line -ipfC does.
func appendAddr2line(to []byte, frames []symbol.Frame) []byte {
	if len(frames) == 0 {
		return append(to, "?? ??:0\n"...)
	}
	for i, f := range frames {
		if i > 0 {
			to = append(to, " (inlined by) "...)
		}
		to = append(orUnknown(to, functionOf(f)), " at "...)
		to = append(orUnknown(to, f.File), ':')
		if f.Line == 0 {
			to = append(to, "?\n"...)
			continue
		}
		to = append(strconv.AppendUint(to, uint64(f.Line), 10), '\n')
	}
	return to
}

func orUnknown(to []byte, s string) []byte {
	if s == "" {
		return append(to, "??"...)
	}
	return append(to, s...)
}

// printJSON writes one NDJSON record to standard output.
func (p *process) printJSON(v any) error { return writeJSON(p.out, v) }

// writeJSON writes one NDJSON record.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
