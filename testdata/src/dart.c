/* What a compiler of Dart makes of a small program that it was told to
   obfuscate, said in C. In names Z stands for ".", W for " ", L and G for "<"
   and ">": dart.sh puts these into the assembly. UNIT is the loading unit: 1 what a program begins with, 2 a
   deferred one. Code begins at the symbol that addresses are counted from. */
#ifdef __ELF__
#define MARK(name) __asm__(".text\n.globl " name "\n.type " name ", %object\n" name ":\n");
#define FUNCTION(name) ".type \"" name "\", %function\n\"" name "\":\n"
#define SIZE(name) ".size \"" name "\", . - \"" name "\"\n"
#else
#define FUNCTION(name) "\"_" name "\":\n"
#define SIZE(name)
#define MARK(name) __asm__(".text\n.globl " name "\n" name ":\n");
#endif

#ifdef __arm__
#define RETURN "bx lr"
#else
#define RETURN "ret"
#endif

#define INLINE static inline __attribute__((always_inline))
#define KEPT __attribute__((used, noinline)) static

volatile int sink;

#if UNIT == 1

MARK("_kDartVmSnapshotInstructions")
__asm__(FUNCTION("stub WriteBarrier") " nop\n nop\n nop\n " RETURN "\n" SIZE("stub WriteBarrier") ".p2align 6\n");
MARK("_kDartIsolateSnapshotInstructions")

struct da {
  int price, count;
};

/* Item.total, whose names the compiler calls da and ea. */
INLINE int daZea(struct da *item) {
  if (item->count < 0)
    sink = item->price;
  return item->price * item->count;
}

/* new Cart */
KEPT int newWba(int seed) {
  sink = seed;
  return seed ^ 0x55;
}

/* Cart.sum */
KEPT int baZca(struct da *items, int n) {
  int all = 0;
  for (int i = 0; i < n; i++)
    all += daZea(&items[i]);
  sink = all;
  return all;
}

/* Cart.sum.<anonymous closure> */
KEPT int baZcaZLanonymousWclosureG(struct da *items) {
  sink = 1;
  return baZca(items, 2) + 1;
}

/* Cart.toString: a name that the library has is never replaced. */
KEPT int baZtoString(struct da *items) {
  sink = 2;
  return baZcaZLanonymousWclosureG(items) * 2;
}

int main(int n) {
  struct da items[2] = {{n, 1}, {2, n}};
  return newWba(n) + baZtoString(items);
}

#else

MARK("_kDartIsolateSnapshotInstructions")

/* Receipt.print of the deferred library. */
INLINE int faZga(int n) {
  sink = n;
  return n / sink;
}

int haZia(int n) {
  sink = 3;
  return faZga(n) + 7;
}

#endif
