package symbol

// ArchFamily returns the architecture that has arch as a variant, or arch itself.
func ArchFamily(arch string) string {
	switch arch {
	case "arm64e", "arm64_32":
		return "arm64"
	case "armv6", "armv7", "armv7s", "armv7k", "armv7f":
		return "arm"
	case "x86_64h":
		return "x86_64"
	}
	return arch
}
