package row

import (
	"maps"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/compact"
)

// Bits of a load's fields that need not be there, the usual ones first. Durable.
const (
	hasKey = 1 << iota
	hasFence
	hasRows
	hasNames
	hasETag
	hasBy
	hasLines
	hasSize // it is not the number with which the ETag begins
	hasInline
	hasTable
	hasCode
	hasMember
	hasSegments
	hasUnwind
	hasFaults
	hasMissing
	hasAnchors
	hasParts
	hasMembers
	hasTexts
	hasWarnings
	hasDropped
	hasStanding
	hasClaim
	isCopied
	hasOtherID
	hasOtherKey // its sealed data key is not of the usual length and form
	loadedBits  = iota
)

// Write appends the fields of a load of artifact id, in the order that the package doc specifies.
func (l *Loaded) Write(w *compact.Writer, id symbol.ID) {
	a, q := &l.Artifact, &l.Quality
	var bits uint64
	set := func(bit uint64, on bool) bool {
		if on {
			bits |= bit
		}
		return on
	}
	set(hasOtherID, a.ID != id)
	set(hasNames, len(a.Names) > 0)
	set(hasAnchors, len(a.Anchors) > 0)
	set(hasParts, len(a.Parts) > 0)
	set(hasSegments, len(a.Segments) > 0)
	usual := len(l.WrappedKey) == wrappedBytes && l.WrappedKey[0] == version1
	set(hasKey, usual)
	set(hasOtherKey, !usual && len(l.WrappedKey) > 0)
	set(hasFence, len(l.Fence) > 0)
	set(hasRows, l.Rows > 0 || l.Ranges > 0 || l.Bytes > 0)
	set(hasMembers, l.Members > 0)
	set(hasTexts, l.TextRows > 0 || l.TextsLeft > 0)
	set(hasUnwind, l.Unwind != nil)
	set(hasDropped, l.Dropped != Dropped{})
	set(hasFaults, q.UnitsBroken > 0 || q.LinesBroken > 0 || q.UnwindBroken > 0)
	set(hasInline, q.WithInline > 0)
	set(hasLines, q.Lines > 0 || q.BadLines > 0)
	set(hasWarnings, len(q.Warnings) > 0)
	set(hasMissing, len(q.Missing) > 0)
	set(hasMember, l.Source.Member != "")
	set(hasETag, l.Source.ETag != "")
	set(hasSize, l.Source.Size != compact.First(l.Source.ETag))
	set(hasStanding, l.Source.Standing != Standing{})
	set(hasClaim, l.Claim != nil)
	set(hasTable, l.Layout.Table != [32]byte{})
	set(hasCode, l.Layout.Code != [32]byte{})
	set(hasBy, l.By != WorkerID{})
	set(isCopied, l.Copied)
	w.Uint(bits)
	has := func(bit uint64) bool { return bits&bit != 0 }

	w.Raw(l.Load[:])
	if has(hasOtherID) {
		w.Raw(a.ID[:])
	}
	w.Text(string(a.Kind))
	w.Text(a.Canonical)
	w.Text(a.Arch)
	w.Uint(a.Base)
	w.Uint(a.End)
	w.Text(l.Source.URL)
	if has(hasMember) {
		w.Text(l.Source.Member)
	}
	if has(hasETag) {
		w.Text(l.Source.ETag)
	}
	if has(hasSize) {
		w.Int(l.Source.Size)
	}
	if has(hasStanding) {
		l.Source.Standing.Write(w)
	}
	if has(hasClaim) {
		l.Claim.Write(w)
	}
	if has(hasNames) {
		l.Context().Write(w, a.Names)
	}
	writeImage(w, a)
	w.Uint(uint64(l.KeyVersion))
	if has(hasKey) {
		w.Raw(l.WrappedKey[1:])
	}
	if has(hasOtherKey) {
		w.Bytes(l.WrappedKey)
	}
	w.Text(l.Format)
	w.Int(int64(l.Parser))
	w.Uint(uint64(l.Rank))
	if has(hasFence) {
		w.Bytes(l.Fence)
	}
	writeCounts(w, l, bits)
	w.Raw(l.Digest[:])
	if has(hasTable) {
		w.Raw(l.Layout.Table[:])
	}
	if has(hasCode) {
		w.Raw(l.Layout.Code[:])
	}
	w.Base(loadTime(l.Load))
	w.Time(l.At)
	if has(hasBy) {
		l.By.Write(w)
	}
}

// ReadLoaded reads what Write wrote. Its result shares the reader's bytes.
func ReadLoaded(r *compact.Reader, id symbol.ID) *Loaded {
	l := &Loaded{Artifact: symbol.Artifact{ID: id}}
	a := &l.Artifact
	bits := r.Bits(loadedBits)
	has := func(bit uint64) bool { return bits&bit != 0 }

	copy(l.Load[:], r.Raw(len(l.Load)))
	if has(hasOtherID) {
		copy(a.ID[:], r.Raw(len(a.ID)))
	}
	a.Kind = symbol.Kind(r.Text())
	a.Canonical = r.Text()
	a.Arch = r.Text()
	a.Base = r.Uint()
	a.End = r.Uint()
	l.Source.URL = r.Text()
	if has(hasMember) {
		l.Source.Member = r.Text()
	}
	if has(hasETag) {
		l.Source.ETag = r.Text()
	}
	if l.Source.Size = compact.First(l.Source.ETag); has(hasSize) {
		l.Source.Size = r.Int()
	}
	if has(hasStanding) {
		l.Source.Standing = ReadStanding(r)
	}
	if has(hasClaim) {
		claim := ReadStanding(r)
		l.Claim = &claim
	}
	if has(hasNames) {
		a.Names = l.Context().Read(r)
	}
	readImage(r, a, bits)
	l.KeyVersion = uint32(r.Small(1<<32 - 1))
	if has(hasKey) {
		l.WrappedKey = append([]byte{version1}, r.Raw(wrappedBytes-1)...)
	}
	if has(hasOtherKey) {
		l.WrappedKey = r.Bytes()
	}
	l.Format = r.Text()
	l.Parser = int(r.Int())
	l.Rank = symbol.Rank(r.Small(255))
	if has(hasFence) {
		l.Fence = r.Bytes()
	}
	readCounts(r, l, bits)
	copy(l.Digest[:], r.Raw(len(l.Digest)))
	if has(hasTable) {
		copy(l.Layout.Table[:], r.Raw(len(l.Layout.Table)))
	}
	if has(hasCode) {
		copy(l.Layout.Code[:], r.Raw(len(l.Layout.Code)))
	}
	r.Base(loadTime(l.Load))
	l.At = r.Time()
	if has(hasBy) {
		l.By = ReadWorkerID(r)
	}
	l.Copied = has(isCopied)
	return l
}

// writeImage appends the tables of an image that are not empty.
func writeImage(w *compact.Writer, a *symbol.Artifact) {
	if len(a.Anchors) > 0 {
		w.Uint(uint64(len(a.Anchors)))
		for _, name := range slices.Sorted(maps.Keys(a.Anchors)) {
			w.Text(name)
			w.Uint(a.Anchors[name])
		}
	}
	if len(a.Parts) > 0 {
		w.Uint(uint64(len(a.Parts)))
		var last uint64
		for _, p := range a.Parts {
			w.Text(p.Name)
			w.Int(int64(p.Start - last))
			w.Int(int64(p.End - p.Start))
			w.Bool(p.Stubs)
			last = p.End
		}
	}
	if len(a.Segments) > 0 {
		w.Uint(uint64(len(a.Segments)))
		var last uint64
		for _, s := range a.Segments {
			w.Int(int64(s.Position - last))
			w.Uint(s.Size)
			w.Int(int64(s.Offset - s.Position))
			w.Int(int64(s.Stored - s.Size))
			last = s.Position + s.Size
		}
	}
}

func readImage(r *compact.Reader, a *symbol.Artifact, bits uint64) {
	if bits&hasAnchors != 0 {
		n := r.Count()
		a.Anchors = make(map[string]uint64, n)
		for range n {
			name := r.Text()
			a.Anchors[name] = r.Uint()
		}
	}
	if bits&hasParts != 0 {
		a.Parts = make([]symbol.Part, r.Count())
		var last uint64
		for i := range a.Parts {
			p := &a.Parts[i]
			p.Name, p.Start = r.Text(), last+uint64(r.Int())
			p.End = p.Start + uint64(r.Int())
			p.Stubs = r.Bool()
			last = p.End
		}
	}
	if bits&hasSegments != 0 {
		a.Segments = make([]symbol.Segment, r.Count())
		var last uint64
		for i := range a.Segments {
			s := &a.Segments[i]
			s.Position, s.Size = last+uint64(r.Int()), r.Uint()
			s.Offset = s.Position + uint64(r.Int())
			s.Stored = s.Size + uint64(r.Int())
			last = s.Position + s.Size
		}
	}
}

// writeCounts appends the numbers of a load and its quality.
func writeCounts(w *compact.Writer, l *Loaded, bits uint64) {
	q := &l.Quality
	for _, f := range []struct {
		bit    uint64
		values []uint64
	}{
		{hasRows, []uint64{l.Rows, l.Ranges, l.Bytes}},
		{hasMembers, []uint64{l.Members}},
		{hasTexts, []uint64{l.TextRows, l.TextsLeft}},
		{hasDropped, []uint64{l.Dropped.Ranges, l.Dropped.First}},
		{hasFaults, []uint64{uint64(q.UnitsBroken), uint64(q.LinesBroken), uint64(q.UnwindBroken)}},
		{hasInline, []uint64{q.WithInline}},
		{hasLines, []uint64{q.Lines, q.BadLines}},
	} {
		if bits&f.bit != 0 {
			for _, v := range f.values {
				w.Uint(v)
			}
		}
	}
	if bits&hasUnwind != 0 {
		w.Bytes(l.Unwind)
		w.Uint(l.UnwindRanges)
		w.Uint(l.UnwindBytes)
	}
	w.Uint(uint64(q.Units))
	w.Uint(q.Text)
	w.Int(int64(q.Covered - q.Text))
	w.Int(int64(q.WithLine - q.Covered))
	for _, list := range [][]string{q.Warnings, q.Missing} {
		if len(list) > 0 {
			w.Texts(list)
		}
	}
}

func readCounts(r *compact.Reader, l *Loaded, bits uint64) {
	q := &l.Quality
	var unitsBroken, linesBroken, unwindBroken uint64
	for _, f := range []struct {
		bit    uint64
		values []*uint64
	}{
		{hasRows, []*uint64{&l.Rows, &l.Ranges, &l.Bytes}},
		{hasMembers, []*uint64{&l.Members}},
		{hasTexts, []*uint64{&l.TextRows, &l.TextsLeft}},
		{hasDropped, []*uint64{&l.Dropped.Ranges, &l.Dropped.First}},
		{hasFaults, []*uint64{&unitsBroken, &linesBroken, &unwindBroken}},
		{hasInline, []*uint64{&q.WithInline}},
		{hasLines, []*uint64{&q.Lines, &q.BadLines}},
	} {
		if bits&f.bit != 0 {
			for _, v := range f.values {
				*v = r.Uint()
			}
		}
	}
	q.UnitsBroken, q.LinesBroken, q.UnwindBroken = uint32(unitsBroken), uint32(linesBroken), uint32(unwindBroken)
	if bits&hasUnwind != 0 {
		if l.Unwind = r.Bytes(); l.Unwind == nil {
			l.Unwind = Fence{}
		}
		l.UnwindRanges, l.UnwindBytes = r.Uint(), r.Uint()
	}
	q.Units = uint32(r.Small(1<<32 - 1))
	q.Text = r.Uint()
	q.Covered = q.Text + uint64(r.Int())
	q.WithLine = q.Covered + uint64(r.Int())
	if bits&hasWarnings != 0 {
		q.Warnings = r.Texts()
	}
	if bits&hasMissing != 0 {
		q.Missing = r.Texts()
	}
}

// Context returns what the names of an artifact are told against; of no load, nothing.
func (l *Loaded) Context() NameContext {
	if l == nil {
		return NameContext{}
	}
	where := l.Source.URL
	if l.Source.Member != "" {
		where = l.Source.Member
	}
	return NameContext{Canonical: l.Artifact.Canonical, Base: where[strings.LastIndexAny(where, `/\!`)+1:]}
}

// Write appends a standing.
func (s Standing) Write(w *compact.Writer) {
	w.Text(s.Owner)
	w.Int(int64(s.Rank))
}

// ReadStanding reads what Write wrote.
func ReadStanding(r *compact.Reader) (s Standing) {
	s.Owner = r.Text()
	s.Rank = int(r.Int())
	return s
}

// Write appends an id without the zeros at its end.
func (id WorkerID) Write(w *compact.Writer) { w.Bytes(id.short()) }

// ReadWorkerID reads what Write wrote.
func ReadWorkerID(r *compact.Reader) (id WorkerID) {
	b := r.Bytes()
	if len(b) > len(id) {
		r.Fail("a worker's id of %d bytes", len(b))
	}
	copy(id[:], b)
	return id
}
