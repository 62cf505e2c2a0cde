package zookeeper

import "testing"

// FuzzAnswer takes answers apart.
func FuzzAnswer(f *testing.F) {
	f.Add(make([]byte, 24))
	f.Add(append(make([]byte, 16), 0, 0, 0, 2, 'a', 'b'))
	f.Fuzz(func(t *testing.T, b []byte) {
		if data, err := answer(b); err == nil && len(data) > len(b)-20 {
			t.Fatalf("%d bytes of %d", len(data), len(b))
		}
	})
}
