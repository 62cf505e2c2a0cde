package row

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// LoadedForm is how earlier versions stored a Loaded: as JSON inside a record. Its field names are durable. It is only
// read: [Loaded.Write] writes the form of today.
type LoadedForm struct {
	Load       string         `json:"load"`
	Artifact   artifactForm   `json:"artifact"`
	KeyVersion uint32         `json:"key_version"`
	WrappedKey []byte         `json:"wrapped_key,omitempty"`
	Format     string         `json:"format"`
	Parser     int            `json:"parser"`
	Rank       symbol.Rank    `json:"rank"`
	Fence      []byte         `json:"fence,omitempty"`
	Rows       uint64         `json:"rows"`
	Ranges     uint64         `json:"ranges"`
	Members    uint64         `json:"members,omitempty"`
	TextRows   uint64         `json:"text_rows,omitempty"`
	TextsLeft  uint64         `json:"texts_left,omitempty"`
	Unwind     *unwindForm    `json:"unwind,omitempty"`
	Bytes      uint64         `json:"bytes"`
	Dropped    *Dropped       `json:"dropped,omitempty"`
	Quality    symbol.Quality `json:"quality"`
	Digest     string         `json:"digest"`
	Source     Source         `json:"source"`
	Claim      *Standing      `json:"claim,omitempty"`
	Layout     *layoutForm    `json:"layout,omitempty"`
	At         time.Time      `json:"at"`
	By         WorkerID       `json:"by,omitzero"`
	Copied     bool           `json:"copied,omitempty"`
}

// unwindForm is the stored form of what a load says of its call frame information.
type unwindForm struct {
	Fence  []byte `json:"fence"`
	Ranges uint64 `json:"ranges"`
	Bytes  uint64 `json:"bytes"`
}

type layoutForm struct {
	Table string `json:"table,omitempty"`
	Code  string `json:"code,omitempty"`
}

type artifactForm struct {
	ID        string            `json:"id"`
	Kind      symbol.Kind       `json:"kind"`
	Canonical string            `json:"canonical"`
	Names     []symbol.Name     `json:"names,omitempty"`
	Arch      string            `json:"arch,omitempty"`
	Base      uint64            `json:"base"`
	End       uint64            `json:"end"`
	Anchors   map[string]uint64 `json:"anchors,omitempty"`
	Parts     []partForm        `json:"parts,omitempty"`
	Segments  []segmentForm     `json:"segments,omitempty"`
}

// segmentForm is the stored form of a symbol.Segment.
type segmentForm struct {
	Position uint64 `json:"p"`
	Size     uint64 `json:"s"`
	Offset   uint64 `json:"o,omitempty"`
	Stored   uint64 `json:"f,omitempty"`
}

// partForm is the stored form of a symbol.Part.
type partForm struct {
	Name  string `json:"n"`
	Start uint64 `json:"s"`
	End   uint64 `json:"e"`
	Stubs bool   `json:"stubs,omitempty"`
}

// Loaded returns the load that f is the form of; nil for nil.
func (f *LoadedForm) Loaded() (*Loaded, error) {
	if f == nil {
		return nil, nil
	}
	load, err := parseHex[sinks.Load]("load", f.Load)
	if err != nil {
		return nil, err
	}
	digest, err := parseHex[[32]byte]("digest", f.Digest)
	if err != nil {
		return nil, err
	}
	a := &f.Artifact
	id, err := symbol.ParseID(a.ID)
	if err != nil {
		return nil, err
	}
	l := &Loaded{
		Load: load,
		Artifact: symbol.Artifact{ID: id, Kind: a.Kind, Canonical: a.Canonical, Names: a.Names,
			Arch: a.Arch, Base: a.Base, End: a.End, Anchors: a.Anchors, Parts: partsOf(a.Parts), Segments: segmentsOf(a.Segments)},
		KeyVersion: f.KeyVersion, WrappedKey: f.WrappedKey, Format: f.Format, Parser: f.Parser, Rank: f.Rank,
		Fence: f.Fence, Rows: f.Rows, Ranges: f.Ranges, Members: f.Members, TextRows: f.TextRows, TextsLeft: f.TextsLeft, Bytes: f.Bytes,
		Quality: f.Quality, Digest: digest, Source: f.Source, Claim: f.Claim, At: f.At, By: f.By, Copied: f.Copied,
	}
	if f.Dropped != nil {
		l.Dropped = *f.Dropped
	}
	if u := f.Unwind; u != nil {
		l.Unwind, l.UnwindRanges, l.UnwindBytes = u.Fence, u.Ranges, u.Bytes
	}
	if f.Layout != nil {
		for _, sum := range []struct {
			into *[32]byte
			text string
		}{{&l.Layout.Table, f.Layout.Table}, {&l.Layout.Code, f.Layout.Code}} {
			if sum.text == "" {
				continue
			}
			if *sum.into, err = parseHex[[32]byte]("layout", sum.text); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

func partsOf(forms []partForm) (all []symbol.Part) {
	for _, p := range forms {
		all = append(all, symbol.Part(p))
	}
	return all
}

func segmentsOf(forms []segmentForm) (all []symbol.Segment) {
	for _, s := range forms {
		all = append(all, symbol.Segment(s))
	}
	return all
}

func parseHex[T ~[8]byte | ~[32]byte](what, s string) (out T, err error) {
	b, err := hex.DecodeString(s)
	if err == nil && len(b) != len(out) {
		err = fmt.Errorf("%s %q: want %d hex digits", what, s, 2*len(out))
	}
	if err != nil {
		return out, err
	}
	for i := range b {
		out[i] = b[i]
	}
	return out, nil
}

// AppendLayout appends where the places of an artifact count from: they turn an address into a
// position.
func AppendLayout(b []byte, a *symbol.Artifact) []byte {
	b = binary.BigEndian.AppendUint64(b, a.Base)
	b = binary.BigEndian.AppendUint64(b, a.End)
	b = binary.BigEndian.AppendUint32(b, uint32(len(a.Anchors)))
	for _, name := range slices.Sorted(maps.Keys(a.Anchors)) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
		b = append(b, name...)
		b = binary.BigEndian.AppendUint64(b, a.Anchors[name])
	}
	return b
}

// ParseLoad reads a load as records have it: in hex digits.
func ParseLoad(s string) (sinks.Load, error) { return parseHex[sinks.Load]("load", s) }
