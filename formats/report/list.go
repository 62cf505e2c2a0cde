package report

// Dialects are all dialects, in the order in which they are asked for a line.
var Dialects = []Dialect{dartDialect, androidDialect, hotspotDialect, linuxDialect, plainDialect, swiftDialect, minidumpDialect, appleDialect, eventDialect, goDialect, jsDialect, jvmDialect}
