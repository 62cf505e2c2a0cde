// Package guess finds the word that a person meant: the nearest of a list.
package guess

import (
	"fmt"
	"strings"
)

// Nearest returns the word of list that is nearest to word, ignoring case; "" when none is near. A word is near when at most a third
// of its letters must change, or when word is the beginning of that one word alone.
func Nearest(word string, list []string) string {
	if word == "" {
		return ""
	}
	typed := strings.ToLower(word)
	best, least, begun, begins := "", 1+max(1, len(typed)/3), "", 0
	for _, w := range list {
		if w == "" {
			continue
		}
		lower := strings.ToLower(w)
		if d := distance(typed, lower); d < least && d < len(lower) {
			best, least = w, d
		}
		if strings.HasPrefix(lower, typed) {
			begun, begins = w, begins+1
		}
	}
	if begins == 1 && least > 1 {
		return begun
	}
	return best
}

// Hint returns ": did you mean X?" for the nearest word of list, and "" when none is near.
func Hint(word string, list []string) string {
	if near := Nearest(word, list); near != "" && near != word {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ""
}

// Among returns the error text for a value outside a list: the values, and the nearest one.
func Among(value string, list []string) string {
	var words []string
	for _, w := range list {
		if w != "" {
			words = append(words, w)
		}
	}
	want := strings.Join(words, ", ")
	if i := strings.LastIndex(want, ", "); i >= 0 {
		want = want[:i] + " or " + want[i+2:]
	}
	text := fmt.Sprintf("%q is not known", value)
	if value == "" {
		text = "the value is empty"
	}
	if hint := Hint(value, words); hint != "" {
		return text + hint + " Want " + want
	}
	return text + ": want " + want
}

// distance returns how many letters must be added, removed, changed or swapped with their neighbor to make b of a.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, now := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		now[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			now[j+1] = min(now[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(y)]
}
