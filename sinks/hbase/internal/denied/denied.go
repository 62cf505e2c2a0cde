// Package denied reads the messages by which HBase denies a permission.
package denied

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Parts of the messages by which HBase denies something. They have several forms.
var (
	deniedUser   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`user[=:]? ?'?([^',;\s()]+)`) })
	deniedAction = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`action[=:] ?(ADMIN|CREATE|WRITE|READ|EXEC)\b`) })
	deniedScope  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`scope=([^,;\s()]+)|[tT]able(?:Name)?[=:] ?([^,;\s()\]]+)|namespace=([^,;\s()\]]+)`)
	})
)

// Text makes a sentence of a denial: user, permission, place, and what to do. It gives no whole command: grant
// replaces what a user has.
func Text(message string) string {
	user, action := deniedUser().FindStringSubmatch(message), deniedAction().FindStringSubmatch(message)
	if user == nil || action == nil {
		return "access denied: " + message
	}
	place := "all of HBase"
	if m := deniedScope().FindStringSubmatch(message); m != nil && !strings.Contains(message, "global") {
		place = cmp.Or(m[1:]...)
		if m[3] != "" || !strings.Contains(place, ":") && m[2] == "" {
			place = "@" + strings.TrimPrefix(place, "@")
		}
	}
	return fmt.Sprintf("user %s lacks the permission %s on %s: an administrator gives it with grant in the HBase shell (readers need R, loaders RWC)",
		user[1], action[1], place)
}
