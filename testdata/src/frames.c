/* Functions whose frames compact unwind information describes in its different ways. */
typedef void (*callback)(int *);

int leaf(int a) { return a * 3; }

int saved(callback f, int *p)
{
	f(p);
	return *p;
}

long many(callback f, long a, long b, long c, long d, int *p)
{
	f(p);
	return a * b - c * d + *p;
}

int large(callback f)
{
	int room[600];
	f(room);
	return room[7];
}

int larger(callback f, int *p, long a, long b)
{
	int room[70000];
	f(room);
	f(p);
	return room[7] + *p + a * b;
}

int variable(callback f, int n)
{
	int room[n];
	f(room);
	return room[0];
}

#ifdef __aarch64__
int pairs(int a)
{
	__asm__ volatile("" ::: "x19", "x20", "x21", "x25", "d8", "d9");
	return a + 1;
}
#endif
