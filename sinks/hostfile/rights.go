package hostfile

import "strings"

// readableBy returns the group of other users that a list of rights, as Windows writes it (SDDL), lets read a file; "": none.
// A right is (TYPE;FLAGS;RIGHTS;OBJECT;INHERITED;GROUP). The type A allows.
func readableBy(sddl string) string {
	groups := map[string]string{
		"WD": "everyone", "S-1-1-0": "everyone",
		"AU": "every user with a login", "S-1-5-11": "every user with a login",
		"BU": "every user of this machine", "S-1-5-32-545": "every user of this machine",
		"BG": "every guest", "S-1-5-32-546": "every guest", "AN": "everyone without a name", "S-1-5-7": "everyone without a name",
	}
	_, list, ok := strings.Cut(sddl, "D:")
	if !ok || strings.HasPrefix(list, "NO_ACCESS_CONTROL") {
		return "everyone" // without a list all is allowed
	}
	for right := range strings.SplitSeq(list, "(") {
		right, _, _ = strings.Cut(right, ")")
		fields := strings.Split(right, ";")
		const kind, rights, group = 0, 2, 5
		if len(fields) <= group || fields[kind] != "A" || fields[rights] == "" || fields[rights] == "0x0" {
			continue
		}
		if name := groups[fields[group]]; name != "" {
			return name
		}
	}
	return ""
}
