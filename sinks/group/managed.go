package group

import "strings"

// platformPackages are the beginnings of classes that come with a platform or a language.
var platformPackages = []string{"java.", "javax.", "sun.", "jdk.", "kotlin.", "kotlinx.", "android.", "androidx.", "com.android.", "com.sun.", "dalvik.", "libcore.", "scala."}

// ofPlatform reports whether a class comes with a platform or a language.
func ofPlatform(class string) bool { return hasAnyPrefix(class, platformPackages) }

// made mark classes and methods that compilers make: they stand between others in some builds only.
var made = []string{"$$ExternalSynthetic", "$$InternalSynthetic", "$$SyntheticClass", "$$Lambda", "$r8$", ".access$"}

// lambda stands behind the name of the method that holds a lambda.
const lambda = "{lambda}"

// managedName returns the name of a method of Java or Kotlin with its class: anonymous classes and lambdas without their
// numbers, "" if a compiler made the method.
func managedName(name string) string {
	for _, mark := range made {
		if strings.Contains(name, mark) {
			return ""
		}
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return name
	}
	class, method := name[:dot], strings.TrimSuffix(name[dot+1:], "$default") // it fills in arguments, and calls the method
	if rest, ok := strings.CutPrefix(method, "lambda$"); ok {                 // javac: lambda$pay$0
		if at := strings.LastIndexByte(rest, '$'); at > 0 {
			rest = rest[:at]
		}
		return unnumbered(class) + "." + rest + lambda
	}
	if at := strings.Index(method, "$lambda"); at > 0 { // kotlinc: pay$lambda$0
		return unnumbered(class) + "." + method[:at] + lambda
	}
	if method == "invoke" || method == "invokeSuspend" { // of a class that stands for a lambda: Cart$pay$1
		if outer, ok := strings.CutSuffix(unnumbered(class), "$"); ok {
			if at := strings.LastIndexByte(outer, '$'); at > 0 && at+1 < len(outer) {
				return outer[:at] + "." + outer[at+1:] + lambda
			}
		}
	}
	method = strings.TrimSuffix(strings.TrimSuffix(method, "$suspendImpl"), "-impl")
	if at := strings.LastIndexByte(method, '$'); at > 0 && (strings.HasSuffix(method, "_release") || strings.HasSuffix(method, "_debug")) {
		method = method[:at] // an internal function with the name of its module
	}
	return unnumbered(class) + "." + method
}

// unnumbered returns a class without the numbers of anonymous classes in it: "Cart$" of "Cart$1", "Cart$pay$" of
// "Cart$pay$2", "Kt$lambda$" of "Kt$lambda-1$1".
func unnumbered(class string) string {
	if !strings.Contains(class, "$") {
		return class
	}
	parts := strings.Split(class, "$")
	for i := 1; i < len(parts); i++ {
		if p := parts[i]; p != "" && strings.Trim(p, "0123456789") == "" {
			parts[i] = ""
		} else if number, ok := strings.CutPrefix(p, "lambda-"); ok && strings.Trim(number, "0123456789") == "" {
			parts[i] = "lambda"
		}
	}
	return strings.Join(parts, "$")
}
