static volatile int table[16];

__attribute__((noinline)) static int element(int at) { return table[at] + table[at + 1]; }

int reads(int at) {
  int sum = 0;
  for (int i = 0; i < 3; i++)
    sum += element(at + i);
  return sum;
}
