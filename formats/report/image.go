package report

import (
	"bytes"
	"encoding/binary"

	"github.com/symlake/symlake/formats/internal/scan"
)

// image is what lines say of an image. Hundreds of frames say the same.
type image struct {
	names     []string // to ask for, best first
	file      string
	container string
}

// images are those that were met, by what the lines say: at most textBytes of it.
type images struct {
	met   map[string]*image
	bytes int
	key   []byte
}

// of gives the image of a line.
func (m *images) of(l *line) *image {
	m.key = m.key[:0]
	for _, part := range [...][]byte{l.file, l.container, l.buildID} {
		m.key = append(binary.AppendUvarint(m.key, uint64(len(part))), part...)
	}
	if known, ok := m.met[string(m.key)]; ok {
		return known
	}
	if m.bytes += 2 * len(m.key); m.met == nil || m.bytes > textBytes {
		m.met, m.bytes = map[string]*image{}, 2*len(m.key)
	}
	made := &image{file: string(l.file), container: string(l.container)}
	made.names = l.names(made.file)
	m.met[string(m.key)] = made
	return made
}

// names are the names to ask for, best first; file is l.file. What the kernel calls a mapping
// ("[vdso]", "<anonymous:7f60>") is no artifact's name. Nothing can be appended to them in place.
func (l *line) names(file string) []string {
	var names [2]string
	n := 0
	if l.buildID != nil {
		names[n] = string(bytes.ToLower(l.buildID))
		n++
	}
	if name := file[len(file)-len(scan.Base(l.file)):]; name != "" && file[0] != '[' && file[0] != '<' {
		names[n] = name
		n++
	}
	if n == 0 {
		return nil
	}
	return names[:n:n]
}
