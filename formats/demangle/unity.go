package demangle

import "strings"

// unitySuffixes end the names of further forms of a method that Unity's il2cpp makes.
var unitySuffixes = [...]string{"_AdjustorThunk", "_inline", "_gshared", "_fshared", "_inline", "_gshared"}

// unityHash is the length of the mark and the hash that end such a name: "_m", 40 hex digits in capitals.
const unityHash = len("_m") + 40

// unityName returns the method of a function that il2cpp made of C#, and false for any other: "Player.OnHit" of
// "Player_OnHit_m9F…". The parts of a name are joined by underscores, which names may have too: where more than one
// reading is left, the underscores stay.
func unityName(linkage string) (string, bool) {
	if len(linkage) <= unityHash {
		return "", false
	}
	name := linkage
	for _, s := range unitySuffixes {
		name = strings.TrimSuffix(name, s)
	}
	at := len(name) - unityHash
	if at <= 0 || name[at:at+2] != "_m" || strings.Trim(name[at+2:], "0123456789ABCDEF") != "" {
		return "", false
	}
	return unityMethod(unityText(name[:at])), true
}

// unityText returns a name with the characters that il2cpp writes as "U" and two hex digits.
func unityText(name string) string {
	if !strings.Contains(name, "U3") && !strings.Contains(name, "U7C") && !strings.Contains(name, "U60") {
		return name
	}
	return strings.NewReplacer("U3CU3E", "<>", "U3C", "<", "U3E", ">", "U7C", "|", "U60", "`").Replace(name)
}

// unityMethod puts a dot between type and method where only one place is left for it.
func unityMethod(name string) string {
	for _, constructor := range [...]string{"__ctor", "__cctor"} {
		if owner, is := strings.CutSuffix(name, constructor); is && owner != "" {
			return owner + ".." + constructor[2:]
		}
	}
	for _, prefix := range [...]string{"_get_", "_set_", "_add_", "_remove_", "_op_"} {
		if at := strings.Index(name, prefix); at > 0 && strings.Count(name, prefix) == 1 {
			return name[:at] + "." + name[at+1:]
		}
	}
	if owner, is := strings.CutSuffix(name, "_MoveNext"); is && strings.Contains(owner, ">d__") {
		return owner + ".MoveNext"
	}
	if strings.Count(name, "_") == 1 && name[0] != '_' && name[len(name)-1] != '_' {
		return strings.Replace(name, "_", ".", 1)
	}
	return name
}
