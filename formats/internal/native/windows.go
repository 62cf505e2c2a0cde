package native

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// AddPDB names an image of Windows by the GUID, as it is written, and the age, in hex, of its PDB: the canonical id, and the
// debug-ids as crash reporters and symbol servers spell them.
func (id *Identity) AddPDB(guid [16]byte, age string) {
	age = strings.ToLower(age)
	debug := fmt.Sprintf("%x-%x-%x-%x-%x", guid[0:4], guid[4:6], guid[6:8], guid[8:10], guid[10:])
	full := strings.TrimSuffix(debug+"-"+age, "-")
	id.Claim(full)
	id.Add(symbol.NameDebugID, debug)
	id.Add(symbol.NameDebugID, full)
	id.Add(symbol.NameDebugID, hex.EncodeToString(guid[:])+age) // as Breakpad spells it
}

// AddPDB20 names the image of a PDB of Visual C++ 6 or older, which a time stamp and an age tell.
func (id *Identity) AddPDB20(stamp, age uint32) {
	full := fmt.Sprintf("%08x-%x", stamp, age)
	id.Claim(full)
	id.Add(symbol.NameDebugID, full)
	id.Add(symbol.NameDebugID, fmt.Sprintf("%08x%x", stamp, age))
}

// StoreWarning compares the place of a file in a store of symbols with its ids: stores of Windows and of Breakpad keep a file as
// NAME/ID/NAME. "": the folder is none of a store, or it names one of ids.
func StoreWarning(place string, ids []symbol.Name) string {
	parts := strings.Split(strings.ToLower(place), "/")
	n := len(parts)
	if n < 3 || strings.TrimRight(parts[n-1], "_") != strings.TrimRight(parts[n-3], "_") || len(parts[n-2]) < 9 || strings.Trim(parts[n-2], "0123456789abcdef") != "" {
		return ""
	}
	id := parts[n-2]
	if slices.ContainsFunc(ids, func(i symbol.Name) bool { return strings.EqualFold(i.Text, id) }) {
		return ""
	}
	return fmt.Sprintf("store: the folder is called %s, and the file in it has other ids: its own count", id)
}
