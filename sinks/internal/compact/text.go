package compact

import (
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"
)

// The lowest two bits of a text's head say how the text is coded. The other bits are a number n. Durable.
const (
	textRaw   = 0 // n bytes
	textHex   = 1 // n bytes, 2n lower-case hex digits
	textShape = 2 // n is a shape
	textWord  = 3 // n is a number in words
)

// Shapes of texts. Durable.
const (
	shapeUUID    = 0 // 16 bytes: 8-4-4-4-12 lower-case hex digits
	shapeParts   = 1 // 16 bytes and a number: 32 lower-case hex digits, a dash, the number
	shapeRun     = 2 // seconds from the base, and 5 bits for each of 6 letters: 20060102T150405Z-LETTER
	shapePacked  = 3 // the number of letters, and 6 bits for each: its place in packed
	shapeNumbers = 4 // shape - 2 numbers with dashes between them; this shape is for two
	mostNumbers  = 8
)

// packed are the letters of most paths and URLs. Durable.
const packed = "abcdefghijklmnopqrstuvwxyz0123456789/.-_:@+=,% ()!#~&$ABCDEFLMSX"

// leastPacked is the length from which on texts are packed.
const leastPacked = 8

const runLayout = "20060102T150405Z-"

var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// Text appends a text in the shortest coding.
func (w *Writer) Text(s string) {
	if n, ok := wordNumbers[s]; ok {
		w.Uint(uint64(n)<<2 | textWord)
		return
	}
	if w.shape(s) {
		return
	}
	if b, ok := fromHex(s); ok && len(b) > 0 {
		w.Uint(uint64(len(b))<<2 | textHex)
		w.Raw(b)
		return
	}
	if w.pack(s) {
		return
	}
	w.Uint(uint64(len(s))<<2 | textRaw)
	w.B = append(w.B, s...)
}

// packedPlaces are the places of letters in packed, from 1; 0: it has none.
var packedPlaces = func() (places [256]byte) {
	for i := range len(packed) {
		places[packed[i]] = byte(i + 1)
	}
	return places
}()

// pack appends s and returns true if all its letters are in packed.
func (w *Writer) pack(s string) bool {
	if len(s) < leastPacked {
		return false
	}
	for i := range len(s) {
		if packedPlaces[s[i]] == 0 {
			return false
		}
	}
	w.Uint(shapePacked<<2 | textShape)
	w.Uint(uint64(len(s)))
	var bits uint32
	n := 0
	for i := range len(s) {
		bits = bits<<6 | uint32(packedPlaces[s[i]]-1)
		if n += 6; n >= 8 {
			n -= 8
			w.B = append(w.B, byte(bits>>n))
		}
	}
	if n > 0 {
		w.B = append(w.B, byte(bits<<(8-n)))
	}
	return true
}

// unpack reads a packed text.
func (r *Reader) unpack() string {
	letters := r.Uint()
	if letters > uint64(len(r.b))*8/6 {
		r.Fail("%d letters in %d bytes", letters, len(r.b))
		return ""
	}
	b := r.Raw(int(letters*6+7) / 8)
	s := make([]byte, 0, letters)
	var bits uint32
	n := 0
	for _, c := range b {
		bits = bits<<8 | uint32(c)
		for n += 8; n >= 6 && len(s) < int(letters); {
			n -= 6
			s = append(s, packed[bits>>n&63])
		}
	}
	return string(s)
}

// shape appends s and returns true if s has one of the shapes.
func (w *Writer) shape(s string) bool {
	head := func(shape int) { w.Uint(uint64(shape)<<2 | textShape) }
	if len(s) == 36 && s[8] == '-' {
		if b, ok := fromUUID(s); ok {
			head(shapeUUID)
			w.Raw(b)
			return true
		}
	}
	if len(s) == len(runLayout)+6 && s[8] == 'T' {
		if t, err := time.Parse(runLayout, s[:len(runLayout)]); err == nil && t.Format(runLayout) == s[:len(runLayout)] {
			if b, err := letters.DecodeString(s[len(runLayout):] + "AA"); err == nil && len(b) == 5 {
				head(shapeRun)
				w.Int(t.Unix() - w.base)
				w.Uint(uint64(binary.BigEndian.Uint32(b)))
				return true
			}
		}
	}
	first, _, ok := strings.Cut(s, "-")
	if !ok {
		return false
	}
	if len(first) == 32 {
		sum, isHex := fromHex(first)
		n, isNumber := number(s[33:])
		if isHex && isNumber {
			head(shapeParts)
			w.Raw(sum)
			w.Uint(n)
			return true
		}
	}
	var numbers [mostNumbers]uint64
	n := 0
	for part := range strings.SplitSeq(s, "-") {
		v, ok := number(part)
		if !ok || n == mostNumbers {
			return false
		}
		numbers[n] = v
		n++
	}
	head(shapeNumbers + n - 2)
	for _, v := range numbers[:n] {
		w.Uint(v)
	}
	return true
}

// Text reads a text.
func (r *Reader) Text() string {
	head := r.Uint()
	if r.err != nil {
		return ""
	}
	n := head >> 2
	switch head & 3 {
	case textWord:
		if n >= uint64(len(words)) {
			r.Fail("word %d, and there are %d", n, len(words))
			return ""
		}
		return words[n]
	case textShape:
		return r.shape(n)
	}
	if n > uint64(len(r.b)) {
		r.Fail("a text of %d bytes in %d", n, len(r.b))
		return ""
	}
	b := r.Raw(int(n))
	if head&3 == textHex {
		return hex.EncodeToString(b)
	}
	return string(b)
}

func (r *Reader) shape(shape uint64) string {
	switch {
	case shape == shapeUUID:
		if b := r.Raw(16); b != nil {
			return UUID([16]byte(b))
		}
		return ""
	case shape == shapeParts:
		sum := hex.EncodeToString(r.Raw(16))
		return sum + "-" + strconv.FormatUint(r.Uint(), 10)
	case shape == shapeRun:
		seconds, v := r.base+r.Int(), r.Small(1<<32-1)
		b := binary.BigEndian.AppendUint32(nil, uint32(v))
		t := time.Unix(seconds, 0).UTC()
		if y := t.Year(); y < 0 || y > 9999 {
			r.Fail("a run in the year %d", y)
			return ""
		}
		return t.Format(runLayout) + letters.EncodeToString(append(b, 0))[:6]
	case shape == shapePacked:
		return r.unpack()
	case shape < shapeNumbers+mostNumbers-1:
		b := make([]byte, 0, 64) // of two or three numbers
		for i := range shape - shapeNumbers + 2 {
			if i > 0 {
				b = append(b, '-')
			}
			b = strconv.AppendUint(b, r.Uint(), 10)
		}
		return string(b)
	}
	r.Fail("a text of shape %d", shape)
	return ""
}

// UUID writes 16 bytes as 8-4-4-4-12 lower-case hex digits.
func UUID(b [16]byte) string {
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func fromUUID(s string) ([]byte, bool) {
	if s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return nil, false
	}
	b, ok := fromHex(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
	return b, ok && len(b) == 16
}

// fromHex returns false unless s is lower-case hex digits of whole bytes.
func fromHex(s string) ([]byte, bool) {
	if len(s)%2 != 0 || strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' && c < 'a' || c > 'f' }) {
		return nil, false
	}
	b, err := hex.DecodeString(s)
	return b, err == nil
}

// First returns the number before the first dash of a text, as in the ETag of a local file; 0 if there is none.
func First(s string) int64 {
	first, _, ok := strings.Cut(s, "-")
	v, isNumber := number(first)
	if !ok || !isNumber || v > math.MaxInt64 {
		return 0
	}
	return int64(v)
}

// number returns false unless s is how a number is written.
func number(s string) (uint64, bool) {
	if s == "" || len(s) > 1 && s[0] == '0' || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 10, 64)
	return v, err == nil
}

// words are texts that most records hold. The numbers are durable: a new word goes to the end. Numbers below 32 take one
// byte.
var words = []string{
	"", "live", "loaded", "kept", "published", "loading", "pending", "rejected",
	"build-id", "debug-id", "file", "app", "elf", "macho", "breakpad", "x86_64", "arm64", "arm",
	"sourcemap", "r8", "pe", "pdb", "wasm", "clr", "path", "map-id", "hash", "code-id", "zip", "gzip", "superseded", "armv7",
	"pinned", "shredded", "forgotten", "conflict", "skipped", "failed", "gone", "held", "gc",
	"mvid", "go-build-id", "debuglink", "dart-build", "dart-names", "dart", "gsym", "x86", "i386", "riscv64", "arm64e",
	"armv7s", "armv7k", "armv6", "arm64_32", "x86_64h", "s390x", "ppc64le", "loongarch64", "mips64", "mips", "wasm32",
	"il2cpp", "il2cpp-methods", "bcsymbolmap", "dsym-bundle", "dyld-cache", "ar", "tar", "zstd", "xz", "cabinet",
	"native", "apple", "java", "javascript", "dotnet", "r8-partition", "sentry-cache", "unknown-format",
}

var wordNumbers = func() map[string]int {
	m := make(map[string]int, len(words))
	for i, w := range words {
		m[w] = i
	}
	return m
}()
