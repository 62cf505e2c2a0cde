package flame

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"
)

// color returns the color of a function as hex digits of red, green and blue. Functions of one module or package share a
// hue. All are light, so dark letters can be read on them.
func color(f *function) string {
	hue := hash(family(f)) % 360
	light := 74 + hash(f.name)%9
	return hsl(float64(hue), 0.62, float64(light)/100)
}

// family is the module of a function, or the package that its name begins with.
func family(f *function) string {
	if f.module != "" {
		return f.module
	}
	name := f.name
	if i := strings.IndexAny(name, "(<["); i > 0 {
		name = name[:i]
	}
	if i := strings.LastIndexAny(name, "/"); i >= 0 { // Go: the package stands behind its path
		if j := strings.IndexByte(name[i:], '.'); j > 0 {
			return name[:i+j]
		}
	}
	if i := strings.Index(name, "::"); i > 0 {
		return name[:i]
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i]
	}
	return f.file
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	n := h.Sum32()
	return n ^ n>>15
}

// hsl converts a color.
func hsl(h, s, l float64) string {
	part := func(n float64) int {
		k := math.Mod(n+h/30, 12)
		return int(math.Round(255 * (l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1)))))
	}
	return fmt.Sprintf("#%02x%02x%02x", part(0), part(8), part(4))
}
