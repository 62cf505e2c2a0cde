package report

// swiftDialect reads the reports of the crash handler of Swift's runtime. Swift says of each frame whether it is a
// return address.
var swiftDialect = Dialect{
	Name:      "swift",
	Forms:     []*Form{swiftCrash, swiftEvent},
	Documents: []Document{swiftText},
	Objects:   []Object{{Member: "faultAddress", Read: readSwiftJSON}},
}

var (
	swiftCrash = &Form{Name: "swift", Frame0: Exact, Print: printSwift, Lines: "1 [ra] 0x000055e8f4561e85 f(_:) + 12 in shop at /src/main.swift:12:11 below Thread 0 crashed: of Swift's own handler, with its Images"}
	swiftEvent = &Form{Name: "swift-json", Frame0: Exact, Print: printObjects("inlined", swiftGone, writeSwiftMembers), Lines: "the same as JSON: crashReport with images, and frames of kind and address"}
)
