package r8

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// Partition reads the partition maps of R8: a zip with an entry a class, named as the class stands in the program, that holds
// its text, and METADATA. An entry may begin with the source files of the other classes that it names.
//
// METADATA is AA A8, the strategy (2 bytes; 0: classes, 1: classes with source files), the map version, the names of all
// entries, and numbered pieces: 0 what stands before the first class of the mapping, 1 the packages of the entries.
var Partition = formats.Format{Name: partitionName, Version: version, Detect: detectPartition, Open: openPartition}

const (
	partitionName = "r8-partition"
	metadataName  = "METADATA"
	localMagic    = "PK\x03\x04"
)

var metadataMagic = []byte{0xaa, 0xa8}

// detectPartition looks into the first entry: it is METADATA, or holds a class that is called as the entry is.
func detectPartition(_ string, head []byte) bool {
	const fixed = 30
	if len(head) < fixed || string(head[:4]) != localMagic {
		return false
	}
	method := binary.LittleEndian.Uint16(head[8:])
	n, extra := int(binary.LittleEndian.Uint16(head[26:])), int(binary.LittleEndian.Uint16(head[28:]))
	if len(head) < fixed+n+extra {
		return false
	}
	entry, body := head[fixed:fixed+n], head[fixed+n+extra:]
	var r io.Reader = bytes.NewReader(body)
	switch method {
	case zip.Deflate:
		r = flate.NewReader(r)
	case zip.Store:
	default:
		return false
	}
	body = make([]byte, formats.HeadBytes)
	got, _ := io.ReadFull(r, body) // the head may end inside the entry
	body = body[:got]
	if string(entry) == metadataName {
		return bytes.HasPrefix(body, metadataMagic)
	}
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, newline)
		_, text := trim(line)
		if len(text) > 0 && text[0] != '#' {
			_, renamed, reason := classLine(text)
			return reason == "" && string(renamed) == string(entry)
		}
		body = rest
	}
	return false
}

// partition is an opened partition map.
type partition struct {
	in      *formats.Input
	entries []*zip.File // in the order of their names, so that parts do not depend on the archive's
	meta    metadata
	of      map[string]*zip.File
}

// partEntries is how many entries one part reads.
const partEntries = 2048

func openPartition(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	// A section answers io.EOF where a directory points before the file or behind it.
	z, err := zip.NewReader(io.NewSectionReader(in.Bytes, 0, in.Size), in.Size)
	if err != nil {
		return nil, zipError(in, err)
	}
	if len(z.File) > in.Limits.Members {
		return nil, &formats.Error{Format: partitionName, Want: fmt.Sprintf("at most %d entries", in.Limits.Members), Err: formats.ErrLimit}
	}
	p := &partition{in: in, of: make(map[string]*zip.File, len(z.File))}
	var meta *zip.File
	packed := uint64(0)
	for _, f := range z.File {
		// Entries may lead to the same bytes, so a small file could ask for endless work.
		if packed += min(f.CompressedSize64, uint64(in.Size)); packed > uint64(in.Size) {
			return nil, &formats.Error{Format: partitionName, Want: "entries that do not lie over each other", Err: formats.ErrCorrupt}
		}
		switch {
		case f.Name == metadataName:
			meta = f
		case strings.HasSuffix(f.Name, "/"):
		case p.of[f.Name] == nil:
			p.of[f.Name] = f
			p.entries = append(p.entries, f)
		}
	}
	if meta == nil {
		return nil, &formats.Error{Format: partitionName, Want: "an entry METADATA", Err: formats.ErrCorrupt}
	}
	b, err := p.read(meta)
	if err != nil {
		return nil, err
	}
	if err := p.meta.parse(b, in.Limits); err != nil {
		return nil, err
	}
	slices.SortFunc(p.entries, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range p.meta.names {
		if p.of[n] == nil {
			return nil, &formats.Error{Format: partitionName, Section: metadataName, Want: "an entry for each class that it names", Err: formats.ErrCorrupt}
		}
	}
	id := header(p.meta.preamble)
	if id.canonical == "" {
		l := newLines(in, 0)
		for l.sum = sha256.New(); l.taken < in.Size; {
			b, err := l.window(ctx, l.taken, windowBytes)
			if err != nil {
				return nil, err
			}
			l.free = append(l.free, b)
		}
		id.canonical = contentID(l.sum)
	}
	return object(in, id, max(1, (len(p.entries)+partEntries-1)/partEntries), p.explode), nil
}

// zipError translates an error of archive/zip. All kinds of that package condemn the file; errors of reading do not.
func zipError(in *formats.Input, err error) error {
	var flat flate.CorruptInputError
	if errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) || errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrInsecurePath) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &flat) || in.Mapped != nil {
		return &formats.Error{Format: partitionName, Want: "a zip file: " + err.Error(), Err: formats.ErrCorrupt}
	}
	return err
}

// read inflates an entry. It bounds the text by the limits, not by the size in the directory.
func (p *partition) read(f *zip.File) ([]byte, error) {
	most := p.in.Limits.ClassBytes
	if f.Name == metadataName {
		most = 4 * most // all names
	}
	if f.UncompressedSize64 > uint64(most) {
		return nil, &formats.Error{Format: partitionName, Section: metadataOr(f), Offset: most, Want: "a smaller entry", Err: formats.ErrLimit}
	}
	r, err := f.Open()
	if err != nil {
		return nil, zipError(p.in, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, int64(f.UncompressedSize64)+1))
	if err != nil {
		return nil, zipError(p.in, err)
	}
	if uint64(len(b)) != f.UncompressedSize64 {
		return nil, &formats.Error{Format: partitionName, Section: metadataOr(f), Want: "an entry of the length that its directory says", Err: formats.ErrCorrupt}
	}
	return b, nil
}

// metadataOr names an entry without telling the class.
func metadataOr(f *zip.File) string {
	if f.Name == metadataName {
		return metadataName
	}
	return "class"
}

// facts returns the facts of METADATA and of the names of entries. The packages are the names'.
func (p *partition) facts() (*facts, error) {
	f := newFacts(p.in.Limits)
	f.version = p.meta.version
	for _, e := range p.entries {
		if err := f.class([]byte(e.Name)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (p *partition) explode(ctx context.Context, part int, emit func(*symbol.Class) error) (symbol.Quality, error) {
	var prelude []symbol.ClassFile
	fileOf := func(class string) string {
		i, ok := slices.BinarySearchFunc(prelude, class, func(f symbol.ClassFile, c string) int { return strings.Compare(f.Class, c) })
		if !ok {
			return ""
		}
		return prelude[i].File
	}
	c := newParser(p.in.Limits, fileOf, emit)
	defer c.release()
	if part == 0 {
		if p.meta.version.unknown {
			c.warn("METADATA: the map version is newer than 2.2: what is new in it is read as a comment")
		}
		facts, err := p.facts()
		if err != nil {
			return c.quality, err
		}
		if err := emit(facts.nameless()); err != nil {
			return c.quality, err
		}
	}
	from := part * partEntries
	for _, f := range p.entries[min(from, len(p.entries)):min(from+partEntries, len(p.entries))] {
		if err := ctx.Err(); err != nil {
			return c.quality, err
		}
		b, err := p.read(f)
		if err != nil {
			return c.quality, err
		}
		prelude, c.version, c.line = nil, p.meta.version, 0
		for len(b) > 0 {
			line, rest, _ := bytes.Cut(b, newline)
			if c.line == 0 {
				var n note
				if ok, _ := n.read(line); ok && n.id == idPartitionFiles {
					prelude = n.files
					slices.SortFunc(prelude, func(a, b symbol.ClassFile) int { return strings.Compare(a.Class, b.Class) })
				}
			}
			if err := c.take(line, int64(len(line)) > p.in.Limits.LineBytes && c.line > 0); err != nil {
				return c.quality, err
			}
			b = rest
		}
		if err := c.end(); err != nil {
			return c.quality, err
		}
	}
	return c.quality, nil
}

// metadata is what METADATA says.
type metadata struct {
	version  mapVersion
	names    []string
	preamble []byte
}

// pieceBefore is the piece with the text before the first class. R8's other piece, 1, lists the packages of all
// entries.
const pieceBefore = 0

func (m *metadata) parse(b []byte, l *formats.Limits) error {
	at := 0
	fail := func(want string) error {
		return &formats.Error{Format: partitionName, Section: metadataName, Offset: int64(at), Want: want, Err: formats.ErrCorrupt}
	}
	take := func(n uint64) []byte {
		if n > uint64(len(b)-at) {
			return nil
		}
		at += int(n)
		return b[at-int(n) : at : at]
	}
	number := func(size int) (v uint64, ok bool) {
		f := take(uint64(size))
		for _, c := range f {
			v = v<<8 | uint64(c)
		}
		return v, f != nil
	}
	if f := take(2); !bytes.Equal(f, metadataMagic) {
		return fail("AA A8")
	}
	if strategy, ok := number(2); !ok || strategy > 1 {
		if !ok {
			return fail("a strategy")
		}
		return &formats.Error{Format: partitionName, Section: metadataName, Offset: 2, Want: "strategy 0 or 1", Err: formats.ErrUnsupported}
	}
	n, ok := number(2)
	v := take(n)
	if !ok || v == nil {
		return fail("a map version")
	}
	m.version = parseVersion(string(v))
	n, ok = number(4)
	list := take(n)
	if !ok || list == nil {
		return fail("the names of the entries")
	}
	if c := bytes.Count(list, []byte{';'}); c >= l.Members {
		return &formats.Error{Format: partitionName, Section: metadataName, Want: "fewer names", Err: formats.ErrLimit}
	}
	if len(list) > 0 {
		m.names = strings.Split(string(list), ";")
	}
	if at == len(b) {
		return nil // older ones end here
	}
	if _, ok = number(4); !ok {
		return fail("the length of what follows")
	}
	pieces, ok := number(2)
	if !ok {
		return fail("how many pieces follow")
	}
	for range pieces {
		kind, ok := number(2)
		n, ok2 := number(4)
		piece := take(n)
		if !ok || !ok2 || piece == nil && n > 0 {
			return fail("a piece")
		}
		if kind == pieceBefore {
			m.preamble = piece
		}
	}
	return nil
}
