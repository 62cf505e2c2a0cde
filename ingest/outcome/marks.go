package outcome

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats"
)

// maxMissed bounds the companions that one object waits for: the largest binaries have 40,000 split
// units.
const maxMissed = 1 << 16

// Missed is a companion that an object asked for in vain.
type Missed struct {
	Want  formats.Ref
	Tried []string // places that its id led to, without the companion
}

// Marks is what an object knows of its companions at a time.
type Marks struct {
	Missed map[string]Missed // by waiter's key
	States map[string]string // of companions that the catalog knows, before the object was read
}

// marks notes how an object stands to its companions.
type marks struct {
	mu      sync.Mutex
	missed  map[string]Missed
	states  map[string]string
	lacks   []string        // companions that its loads say they lack
	found   map[string]bool // companions that an earlier attempt may have missed
	brought []string        // keys under which other objects may wait for it
}

// Marks returns a copy of the notes.
func (m *marks) Marks() Marks {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Marks{Missed: maps.Clone(m.missed), States: maps.Clone(m.states)}
}

// Miss notes a companion that was in none of the places tried. It copies want, which may lie in the
// mapped object: that is closed before the load is published.
func (m *marks) Miss(key string, want formats.Ref, tried []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.missed == nil {
		m.missed = map[string]Missed{}
	}
	if key != "" && len(m.missed) < maxMissed {
		want.ID, want.Name = strings.Clone(want.ID), strings.Clone(want.Name)
		m.missed[key] = Missed{want, tried}
	}
}

// ForgetMissed forgets the companions that the object missed: it looked around, and waits for none.
func (m *marks) ForgetMissed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.missed = nil
}

// Find notes that the object found a companion.
func (m *marks) Find(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found == nil {
		m.found = make(map[string]bool)
	}
	m.found[key] = true
}

// Found returns the keys of Find, in order.
func (m *marks) Found() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key := range m.found {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// NoteState notes the state of a companion before the object is read.
func (m *marks) NoteState(id, state string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.states == nil {
		m.states = make(map[string]string)
	}
	m.states[id] = state
}

// Lack notes companions that a load says it lacks.
func (m *marks) Lack(keys []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lacks = append(m.lacks, keys...)
}

// Has reports whether the object, which was read just now, has the companion of a key.
func (m *marks) Has(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, missed := m.missed[key]
	return !missed && !slices.Contains(m.lacks, key)
}

// Bring notes keys under which other objects may wait for this one.
func (m *marks) Bring(keys ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.brought = append(m.brought, keys...)
}

// Brought returns the keys of Bring, in order and once each.
func (m *marks) Brought() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := slices.Clone(m.brought)
	slices.Sort(keys)
	return slices.Compact(keys)
}
