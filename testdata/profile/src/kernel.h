#pragma once
#include <cstddef>

namespace kernel {
void multiply(const double* a, const double* b, double* c, size_t n);
double trace(const double* a, size_t n);
}  // namespace kernel
