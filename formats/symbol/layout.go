package symbol

// Layout says how an image lies in memory, so that two files that claim one id can be compared. A
// stripped file and its debug file have the same Table; zero fields are unknown.
type Layout struct {
	Table [32]byte // SHA-256 over names, addresses, sizes and flags of the sections that are loaded
	Code  [32]byte // SHA-256 over the bytes of the sections that are executed; zero: the file has none
}

// Agrees reports whether two files can be of one image: their tables are known and equal, and so
// are the bytes of their code where both hold them.
func (l Layout) Agrees(o Layout) bool {
	var unknown [32]byte
	if l.Table == unknown || l.Table != o.Table {
		return false
	}
	return l.Code == unknown || o.Code == unknown || l.Code == o.Code
}
