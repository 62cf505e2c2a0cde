package swift

import (
	"math"
	"slices"
)

// Parameters of RFC 3492, section 5.
const (
	punyBase    = 36
	punyMin     = 1
	punyMax     = 26
	punySkew    = 38
	punyDamp    = 700
	punyBias    = 72
	punyInitial = 128
	// maxPunycode bounds a name in Punycode: decoding inserts, so its time
	// grows with the square of the length.
	maxPunycode = 4 << 10
	// symbols is where Swift maps the ASCII characters that no symbol may
	// hold: the first of the surrogates, which no name can have.
	symbols, symbolsEnd = 0xD800, 0xD880
)

// decode undoes Swift's Punycode: "_" divides, A to J are the digits above z,
// and ASCII that needs hiding has a code of its own.
func decode(in string) (string, bool) {
	if len(in) > maxPunycode {
		return "", false
	}
	var out []rune
	for i := len(in) - 1; i >= 0; i-- {
		if in[i] != '_' {
			continue
		}
		for _, c := range []byte(in[:i]) {
			if c > 0x7f {
				return "", false
			}
			out = append(out, rune(c))
		}
		in = in[i+1:]
		break
	}
	n, i, bias := punyInitial, 0, punyBias
	for in != "" {
		before, w := i, 1
		for k := punyBase; ; k += punyBase {
			if in == "" {
				return "", false
			}
			d := punyDigit(in[0])
			in = in[1:]
			if d < 0 || d > (math.MaxInt32-i)/w {
				return "", false
			}
			i += d * w
			t := min(max(k-bias, punyMin), punyMax)
			if d < t {
				break
			}
			if w > math.MaxInt32/(punyBase-t) {
				return "", false
			}
			w *= punyBase - t
		}
		size := len(out) + 1
		bias = punyAdapt(i-before, size, before == 0)
		if n += i / size; n > math.MaxInt32 {
			return "", false
		}
		out = slices.Insert(out, i%size, rune(n))
		i = i%size + 1
	}
	for i, r := range out {
		switch {
		case symbols <= r && r < symbolsEnd:
			out[i] = r - symbols
		case symbolsEnd <= r && r < 0xE000, r > 0x10FFFF:
			return "", false
		}
	}
	return string(out), true
}

func punyDigit(c byte) int {
	switch {
	case lower(c):
		return int(c - 'a')
	case 'A' <= c && c <= 'J':
		return int(c-'A') + 26
	}
	return -1
}

// punyAdapt is section 6.1 of the RFC.
func punyAdapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}
