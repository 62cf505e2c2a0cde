// Package house holds the rules of the source tree as tests. It has no code of its own.
//
//   - files_test.go: inside a package of more than ten files, files use each other in one
//     direction only.
//   - size_test.go: a package fits in a head, 3,500 lines and 20 files.
//   - words_test.go: comments are written in plain words.
//   - sleep_test.go: tests wait for conditions.
//   - docs_test.go: commands, folders and files that documents name exist.
//
// Each rule is also tried on planted violations. Tests of a package, generated files and files for
// other systems are exempt.
package house
