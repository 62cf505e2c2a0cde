package lookup

import (
	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
)

// placeIn is a frame's place as the artifact can tell it.
func placeIn(a *symbol.Artifact, f *stack.Frame) symbol.Where {
	for i := -1; i < len(f.Or); i++ {
		w := f.At
		if i >= 0 {
			w = f.Or[i]
		}
		w = dartPlace(a, w)
		if _, ok := a.Position(w); ok {
			return w
		}
	}
	return f.At
}

// dartPlace counts from the one symbol that newer snapshots of Dart have in
// place of the two that headers of traces still speak of.
func dartPlace(a *symbol.Artifact, w symbol.Where) symbol.Where {
	if w.Space != symbol.Anchored || w.Anchor != symbol.DartIsolate {
		return w
	}
	if _, has := a.Anchors[w.Anchor]; !has {
		if _, has = a.Anchors[symbol.DartText]; has {
			w.Anchor = symbol.DartText
		}
	}
	return w
}
