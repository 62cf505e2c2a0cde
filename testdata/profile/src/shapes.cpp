// Virtual calls, exceptions and small objects.
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "busy.h"

class Shape {
public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
};

class Circle : public Shape {
public:
  explicit Circle(double r) : r_(r) {
    if (r < 0) throw std::domain_error("a circle without a radius");
  }
  double area() const override { return std::sin(r_) + 3.141592653589793 * r_ * r_; }

private:
  double r_;
};

class Polygon : public Shape {
public:
  explicit Polygon(std::vector<std::pair<double, double>> corners) : corners_(std::move(corners)) {}
  double area() const override {
    double sum = 0;
    for (size_t i = 0; i < corners_.size(); i++) sum += cross(corners_[i], corners_[(i + 1) % corners_.size()]);
    return std::fabs(sum) / 2;
  }

private:
  static double cross(const std::pair<double, double>& a, const std::pair<double, double>& b) { return a.first * b.second - a.second * b.first; }
  std::vector<std::pair<double, double>> corners_;
};

__attribute__((noinline)) std::unique_ptr<Shape> make(int i) {
  if (i % 2 == 0) return std::make_unique<Circle>(double(i % 100) - 1);
  std::vector<std::pair<double, double>> corners;
  for (int k = 0; k < 3 + i % 5; k++) corners.emplace_back(std::cos(k) * i, std::sin(k) * i);
  return std::make_unique<Polygon>(std::move(corners));
}

__attribute__((noinline)) double total(int n, int* bad) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < n; i++) {
    try {
      shapes.push_back(make(i));
    } catch (const std::domain_error&) {
      ++*bad;
    }
  }
  double sum = 0;
  for (int times = 0; times < 20; times++) {
    for (const auto& s : shapes) sum += s->area();
  }
  return sum;
}

int main(int argc, char** argv) {
  Busy busy(argc, argv);
  double sum = 0;
  int bad = 0;
  while (busy.more()) sum += total(2000, &bad);
  std::printf("%f %d\n", sum, bad);
}
