// Names as a bitcode build leaves them: numbers of lines in a symbol map.
__attribute__((noinline)) int draw(volatile int *p) __asm__("__hidden#0_");
int score(volatile int *p) __asm__("__hidden#1_");
int draw(volatile int *p) { return *p + 1; }
int score(volatile int *p) { return draw(p) * 2; }
