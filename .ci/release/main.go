// Command release writes what a release holds beside programs: licenses of dependencies, lists of contents (SBOM), a
// container image, and a formula for Homebrew. .ci/release.sh runs it. Equal inputs give equal bytes.
//
//	release licenses OUT
//	release sbom PROGRAM OUT VERSION SECONDS
//	release image OUT.tar VERSION SECONDS CERTIFICATES LICENSES ARCH=PROGRAM…
//	release formula CHECKSUMS VERSION
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "licenses":
		return licenses(args[1])
	case len(args) == 5 && args[0] == "sbom":
		return writeBOM(args[1], args[2], args[3], args[4])
	case len(args) >= 7 && args[0] == "image":
		return writeImage(args[1], args[2], args[3], args[4], args[5], args[6:])
	case len(args) == 3 && args[0] == "formula":
		return formula(args[1], args[2])
	}
	return errors.New("usage: release licenses|sbom|image|formula …, see its source")
}
