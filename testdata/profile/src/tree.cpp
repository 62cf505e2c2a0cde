// A search tree of templates: recursion, inlined comparisons, a lambda, an anonymous namespace.
#include <cstdint>
#include <cstdio>
#include <functional>

#include "busy.h"

namespace {

template <typename K>
struct Less {
  __attribute__((always_inline)) bool operator()(const K& a, const K& b) const { return a < b; }
};

template <typename K, typename C = Less<K>>
class Tree {
  struct Node {
    K key;
    Node* left = nullptr;
    Node* right = nullptr;
    explicit Node(K k) : key(k) {}
  };

public:
  ~Tree() { drop(root_); }
  bool insert(K key) { return put(&root_, key); }
  void walk(const std::function<void(K)>& each) const { visit(root_, each); }
  bool find(K key) const {
    const Node* n = root_;
    while (n != nullptr && (less_(key, n->key) || less_(n->key, key))) n = less_(key, n->key) ? n->left : n->right;
    return n != nullptr;
  }

private:
  __attribute__((noinline)) bool put(Node** at, K key) {
    if (*at == nullptr) {
      *at = new Node(key);
      return true;
    }
    if (less_(key, (*at)->key)) return put(&(*at)->left, key);
    if (less_((*at)->key, key)) return put(&(*at)->right, key);
    return false;
  }
  __attribute__((noinline)) void visit(const Node* n, const std::function<void(K)>& each) const {
    if (n == nullptr) return;
    visit(n->left, each);
    each(n->key);
    visit(n->right, each);
  }
  void drop(Node* n) {
    if (n == nullptr) return;
    drop(n->left);
    drop(n->right);
    delete n;
  }
  Node* root_ = nullptr;
  C less_;
};

class Random {
public:
  uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return mix(state_);
  }

private:
  static inline uint32_t mix(uint32_t x) { return x * 2654435761u; }
  uint32_t state_ = 2463534242u;
};

__attribute__((noinline)) uint64_t round(Random& random) {
  Tree<uint32_t> tree;
  for (int i = 0; i < 20000; i++) tree.insert(random.next() % 50000);
  uint64_t sum = 0;
  tree.walk([&sum](uint32_t k) { sum = sum * 31 + k; });
  for (int i = 0; i < 20000; i++) sum += tree.find(random.next() % 50000);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  Busy busy(argc, argv);
  Random random;
  uint64_t sum = 0;
  while (busy.more()) sum += round(random);
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
