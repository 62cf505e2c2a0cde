// Words, counted in two threads with the containers of the standard library.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "busy.h"

namespace text {

class Source {
public:
  explicit Source(unsigned seed) : state_(seed) {}
  std::string word() {
    std::string s;
    for (unsigned n = 2 + next() % 4; n > 0; n--) s += syllables[next() % 8];
    return s;
  }

private:
  unsigned next() { return (state_ = state_ * 1103515245u + 12345u) >> 16; }
  unsigned state_;
  static constexpr const char* syllables[8] = {"ka", "ro", "mi", "tel", "su", "no", "ba", "vir"};
};

struct Counted {
  std::string word;
  int times;
};

class Counter {
public:
  void add(const std::string& w) { hashed_[w]++; }
  std::vector<Counted> top(size_t n) const {
    std::vector<Counted> all;
    for (const auto& [w, times] : hashed_) all.push_back({w, times});
    std::sort(all.begin(), all.end(), [](const Counted& a, const Counted& b) { return a.times != b.times ? a.times > b.times : a.word < b.word; });
    if (all.size() > n) all.resize(n);
    return all;
  }
  std::map<std::string, int> sorted() const { return {hashed_.begin(), hashed_.end()}; }

private:
  std::unordered_map<std::string, int> hashed_;
};

__attribute__((noinline)) size_t count(unsigned seed, const Busy& busy) {
  size_t sum = 0;
  while (busy.more()) {
    Source source(seed++);
    Counter counter;
    for (int i = 0; i < 20000; i++) counter.add(source.word());
    for (const auto& c : counter.top(100)) sum += c.word.size() * static_cast<size_t>(c.times);
    sum += counter.sorted().size();
  }
  return sum;
}

}  // namespace text

int main(int argc, char** argv) {
  Busy busy(argc, argv);
  size_t sums[2];
  std::thread other([&] { sums[1] = text::count(1, busy); });
  sums[0] = text::count(1000, busy);
  other.join();
  std::printf("%zu\n", sums[0] + sums[1]);
}
