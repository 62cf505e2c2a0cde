# Reads what go test -v prints and prints what go test prints without -v, then each tool that tests were skipped for and how
# to get it: without -v nobody would learn of it, and with it nobody would find it.
function missing(line) {
	if (match(line, /SKIP: .* is missing: /)) {
		line = substr(line, RSTART)
		sub(/development fixture .* is missing/, "development fixtures are missing", line)
		if (!(line in times)) order[++kinds] = line
		times[line]++
	}
}
/^(ok|FAIL|\?)[ \t]/ {
	if ($1 == "FAIL") for (i = 1; i <= n; i++) if (held[i] !~ /^(=== |PASS$| *--- (PASS|SKIP): )/) print held[i]
	for (i = 1; i <= n; i++) missing(held[i])
	n = 0
	print
	fflush()
	next
}
{ held[++n] = $0 }
END {
	for (i = 1; i <= n; i++) print held[i]
	for (i = 1; i <= kinds; i++) print order[i] " (" times[order[i]] (times[order[i]] == 1 ? " test)" : " tests)")
}
