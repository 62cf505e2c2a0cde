// Time for which the programs of this folder work: the first argument, in seconds; without one, two.
#pragma once
#include <chrono>
#include <cstdlib>

#ifdef GPERFTOOLS
#include <gperftools/profiler.h>
#endif

class Busy {
public:
  Busy(int argc, char** argv) {
    double seconds = argc > 1 ? std::atof(argv[1]) : 2;
    end_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  }
  bool more() const { return std::chrono::steady_clock::now() < end_; }

private:
  std::chrono::steady_clock::time_point end_;
};
