// Package method reads what traces of Android's runtimes say of methods: IDs, descriptors, packed entries.
package method

import "strings"

// Dotted returns a class as the source spells it.
func Dotted(class string) string {
	if strings.HasPrefix(class, "L") && strings.HasSuffix(class, ";") {
		class = class[1 : len(class)-1]
	}
	return strings.ReplaceAll(class, "/", ".")
}

var primitives = map[byte]string{'V': "void", 'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short", 'I': "int", 'J': "long", 'F': "float", 'D': "double"}

// Pretty turns "(ILjava/lang/String;)V" into "(int, java.lang.String)". ok is false if it is no descriptor.
func Pretty(descriptor string) (types string, ok bool) {
	var b strings.Builder
	b.WriteByte('(')
	rest := descriptor[1:]
	for i := 0; ; i++ {
		if strings.HasPrefix(rest, ")") {
			b.WriteByte(')')
			return b.String(), true
		}
		if i > 0 {
			b.WriteString(", ")
		}
		bare := strings.TrimLeft(rest, "[")
		dimensions := len(rest) - len(bare)
		if bare == "" || dimensions > 255 {
			return "", false
		}
		if p, ok := primitives[bare[0]]; ok {
			b.WriteString(p)
			rest = bare[1:]
		} else if end := strings.IndexByte(bare, ';'); bare[0] == 'L' && end > 1 {
			b.WriteString(strings.ReplaceAll(bare[1:end], "/", "."))
			rest = bare[end+1:]
		} else {
			return "", false
		}
		b.WriteString(strings.Repeat("[]", dimensions))
	}
}
