// Package pprof answers profiles of pprof: Google's profile.proto, which Go, gperftools, Rust's pprof-rs, converters of perf
// and agents write.
//
// A location without lines gets the functions, files, lines and inlined calls of its address. Locations with lines stay,
// but for scripts and renamed Java, which are answered by their place. Everything else stays byte for byte: new functions
// and strings stand at the end of the profile, and only locations and mappings that change are written again.
//
// # Addresses
//
// A mapping says where a part of a file lay. From it an address becomes an offset in that file, which the segments of the
// stored artifact resolve. An address outside all of its mapping, or in a mapping that has no place, is an address of the
// file already: agents write such profiles. As pprof does, the package takes addresses as they are: profilers have moved return
// addresses into their calls.
//
// # Size
//
// A profile is read twice: for its tables, and to write it. Many locations take a read of their own. They are asked for in
// windows, and the answers wait in memory, then in a file. So memory grows with mappings and distinct functions alone.
package pprof

import (
	"encoding/binary"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
)

// Format is Google's profile.proto.
var Format = &profile.Format{
	Name:    "pprof",
	Title:   "pprof",
	Endings: []string{".pb.gz", ".pprof", ".pprof.gz", ".prof"},
	Media:   []string{"application/x-pprof"},
	Begins:  begins,
	Answer:  answer,
	Samples: samplesOf,
	Write:   write,
}

// begins reports whether head is the fields of a Profile, one of them at least with contents that no other form has.
func begins(head []byte) bool {
	sure := false
	for first := true; len(head) > 0; first = false {
		number, kind, n := protowire.ConsumeTag(head)
		if n < 0 {
			return sure && len(head) < binary.MaxVarintLen64
		}
		fits := false
		switch kind {
		case protowire.VarintType:
			fits = number > profileString && number != profileUnit
		case protowire.BytesType:
			fits = number <= profileString || number == profileUnit || number == profileComment || number > profileLast
		default:
			fits = number > profileLast
		}
		if !fits || number > profileLast && !sure {
			return false
		}
		size := protowire.ConsumeFieldValue(number, kind, head[n:])
		if size < 0 {
			return sure // the head ends within it
		}
		if kind == protowire.BytesType {
			b, _ := protowire.ConsumeBytes(head[n:])
			known, whole := isMessage(uint32(number), b)
			if !whole {
				return false
			}
			sure = sure || known && len(b) > 0 || first && number == profileString && len(b) == 0
		}
		head = head[n+size:]
	}
	return sure
}

// isMessage reports whether the bytes are a message of that field of a Profile, and whether all fields of it are known.
func isMessage(number uint32, b []byte) (known, whole bool) {
	if number == profileComment || number == profileString || number > profileLast {
		return false, number != profileString || utf8.Valid(b) || len(b) > 64
	}
	known, whole = true, true
	message := protobuf.Each(b, func(f *protobuf.Fields) {
		last, isBytes := uint32(0), false
		switch number {
		case profileType, profileUnit:
			last = typeUnit
		case profileSample:
			last, isBytes = sampleLabel, f.Number == sampleLabel || f.Bytes != nil
			known = known && (f.Bytes == nil || len(f.Bytes) > 0)
		case profileMapping:
			last = mappingInlined
		case profileLocation:
			last, isBytes = locationFolded, f.Number == locationLine
		case profileFunction:
			last = functionStart
		}
		if f.Number > last || f.Wire != protobuf.Varint && f.Wire != protobuf.Bytes {
			known = false
		} else if isBytes != (f.Bytes != nil) {
			whole = false
		}
	})
	return known, whole && message
}
