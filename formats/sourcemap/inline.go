package sourcemap

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/url"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
)

// tailBytes is where a script's comments about its map are looked for: they
// stand last, but for an inline map of any length, which begins further up.
const tailBytes = 4 << 10

// scanBytes is how many bytes of a script are searched at once.
const scanBytes = 256 << 10

const (
	mappingURL = "sourceMappingURL="
	dataScheme = "data:"
)

// scriptEndings are the name endings of files that hold a script in clear.
var scriptEndings = []string{".js", ".mjs", ".cjs", ".bundle", ".jsbundle"}

func isScript(file string) bool {
	for _, end := range scriptEndings {
		if strings.HasSuffix(file, end) {
			return true
		}
	}
	return false
}

// inlineMap returns the map that a script holds as a data URL, and where that begins behind "data:"; nil: it holds none.
func inlineMap(script *formats.Input) (in *formats.Input, at int64, err error) {
	if at, err = findInline(script); err != nil || at < 0 {
		return nil, at, err
	}
	in, err = decodeInline(script, at)
	return in, at, err
}

// decodeInline decodes the data URL behind "data:".
func decodeInline(script *formats.Input, at int64) (*formats.Input, error) {
	rest, err := script.View(at, min(script.Size-at, 256))
	if err != nil {
		return nil, err
	}
	head, _, found := bytes.Cut(rest, []byte{','})
	if !found {
		return nil, mapfile.Fault("data URL", at, "','")
	}
	isBase64 := strings.HasSuffix(strings.ToLower(strings.TrimSpace(string(head))), ";base64")
	from := at + int64(len(head)) + 1
	raw := &untilSpace{r: io.NewSectionReader(script.Bytes, from, script.Size-from)}
	var r io.Reader
	if isBase64 {
		r = base64.NewDecoder(base64.RawStdEncoding, plainBase64{raw})
	} else {
		text, err := io.ReadAll(io.LimitReader(raw, script.Limits.SectionBytes))
		if err != nil {
			return nil, err
		}
		s, err := url.PathUnescape(string(text))
		if err != nil {
			return nil, mapfile.Fault("data URL", from, "escapes of a URL")
		}
		r = strings.NewReader(s)
	}
	in, err := script.Spool(script.Name+".map", -1, corruptOnBase64{r, from})
	if err != nil {
		return nil, err
	}
	in.Companion = script.Companion
	return in, nil
}

// plainBase64 leaves out the signs behind the last group, which some tools leave out too, and takes the alphabet of URLs
// for the other one.
type plainBase64 struct{ r io.Reader }

func (p plainBase64) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	for i, c := range b[:n] {
		switch c {
		case '-':
			b[i] = '+'
		case '_':
			b[i] = '/'
		}
	}
	return len(bytes.TrimRight(b[:n], "=")), err
}

// corruptOnBase64 says of bytes that are no base64 where they stand.
type corruptOnBase64 struct {
	r    io.Reader
	from int64
}

func (c corruptOnBase64) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if at, ok := err.(base64.CorruptInputError); ok {
		err = mapfile.Fault("data URL", c.from+int64(at), "base64")
	} else if err == io.ErrUnexpectedEOF {
		err = mapfile.Fault("data URL", c.from, "whole groups of base64")
	}
	return n, err
}

// untilSpace ends before the first space, quote or line end.
type untilSpace struct {
	r    io.Reader
	done bool
}

func (u *untilSpace) Read(b []byte) (int, error) {
	if u.done {
		return 0, io.EOF
	}
	n, err := u.r.Read(b)
	if i := bytes.IndexAny(b[:n], " \t\r\n\"'`*"); i >= 0 {
		u.done = true
		return i, io.EOF
	}
	return n, err
}

// findInline gives the offset behind "data:" of the last sourceMappingURL, if that is a data URL; -1: it is none.
func findInline(script *formats.Input) (int64, error) {
	const comment = mappingURL
	for end := script.Size; end > 0; {
		from := max(0, end-scanBytes)
		b, err := script.View(from, min(script.Size, end+int64(len(comment)+len(dataScheme)))-from)
		if err != nil {
			return -1, err
		}
		if i := bytes.LastIndex(b, []byte(comment)); i >= 0 {
			rest := b[i+len(comment):]
			// What only mentions the words, as bundlers do, is no comment.
			if !bytes.HasPrefix(rest, []byte(dataScheme)) || i < 2 || !isComment(b[:i]) {
				return -1, nil
			}
			return from + int64(i+len(comment)+len(dataScheme)), nil
		}
		end = from
		// Only an inline map puts the comment further up than the last few lines.
		if tail := b[max(0, len(b)-tailBytes):]; bytes.Count(tail, []byte{'\n'}) > 16 {
			return -1, nil
		}
	}
	return -1, nil
}

// isComment: before the words stand //# or /*# (once //@).
func isComment(b []byte) bool {
	b = bytes.TrimRight(b, " \t")
	for _, mark := range []string{"//#", "//@", "/*#", "/*@"} {
		if bytes.HasSuffix(b, []byte(mark)) {
			return true
		}
	}
	return false
}
