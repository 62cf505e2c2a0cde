// Answers with Apple's own demangler: for each name on standard input a line
// with its full and its simplified form, a tab between them. With a number as
// argument it reads all names first and tells how many of them it demangles in
// a second of one core, in each form, over that many rounds.
#include "swift/Demangling/Demangle.h"
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

using swift::Demangle::DemangleOptions;
using swift::Demangle::demangleSymbolAsString;

static double speed(const std::vector<std::string> &names, int rounds, const DemangleOptions &form) {
  size_t bytes = 0;
  clock_t start = clock();
  for (int i = 0; i < rounds; i++)
    for (const auto &name : names)
      bytes += demangleSymbolAsString(name, form).size();
  return bytes ? double(names.size()) * rounds * CLOCKS_PER_SEC / double(clock() - start) : 0;
}

int main(int argc, char **argv) {
  std::ios::sync_with_stdio(false);
  const DemangleOptions full, simplified = DemangleOptions::SimplifiedUIDemangleOptions();
  std::string name;
  if (argc > 1) {
    std::vector<std::string> names;
    while (std::getline(std::cin, name))
      names.push_back(name);
    std::cout << (long)speed(names, atoi(argv[1]), full) << ' ' << (long)speed(names, atoi(argv[1]), simplified) << '\n';
    return 0;
  }
  // Some malformed names crash it: what was answered before must be out.
  while (std::getline(std::cin, name)) {
    std::string first = demangleSymbolAsString(name, full);
    std::cout << first << '\t' << demangleSymbolAsString(name, simplified) << std::endl;
  }
}
