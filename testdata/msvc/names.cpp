// Source of the names in answers.tsv.zst: each form that Microsoft's C++ ABI mangles in a way of its own. names.sh
// compiles it. It includes no headers, so that a compiler needs no library.
using size_t = decltype(sizeof 0);
void *operator new(size_t, void *p) noexcept { return p; }
namespace std {
struct type_info { virtual ~type_info(); };
struct strong_ordering { int v; static const strong_ordering equal; };
template <class T> struct initializer_list { const T *a; const T *b; };
template <class R, class... A> struct coroutine_traits;
}
typedef float v4 __attribute__((__vector_size__(16)));
struct guid {};

namespace shop {
enum color { red }; enum class size : long long { big }; union either { int a; float b; };
template <class T> struct box { T v; T get() const & { return v; } T take() && { return v; } static T count; template <class U> U as(U u) { return u; } operator T() { return v; } template <class U> operator U *() { return 0; } };
template <class T> T box<T>::count = {};
template <class T, size_t N> struct row { T v[N]; T &at(size_t i) { return v[i]; } };
template <template <class> class B, class T> struct held { B<T> b; void put(B<T>) {} };
template <class... T> struct pack { template <class... U> static void call(U...) {} };
template <auto V> struct value { static void show() {} };
template <class T> using same = T;

struct base { virtual ~base() {} virtual int price(int n) const { return n; } int x; static base one; int operator()(int) { return 1; } };
struct left : virtual base { int price(int) const override { return 2; } int l; };
struct right : virtual base { virtual void go() {} int r; };
struct both : left, right { both() {} ~both() override {} int price(int) const override { return 3; } void go() override {} };
struct two : right { void go() override {} };
struct first { virtual void a() {} virtual first *me() { return this; } }; struct second { virtual void b() {} virtual second *me2() { return this; } };
struct joined : first, second { void b() override {} joined *me2() override { return this; } joined *me() override { return this; } };
struct later;

class cart {
	int secret(int) { return 1; } static int hidden; int const *const volatile *deep(int const *const volatile *p) { return p; }
protected:
	int kept(char) { return 2; } static double guarded(double d) { return d; } virtual void virt(float) {}
	friend void all(cart &);
public:
	cart() {} cart(const cart &) {} cart(cart &&) {} explicit cart(int, ...) {} virtual ~cart() {}
	static void *operator new(size_t); static void operator delete(void *); static void *operator new[](size_t); static void operator delete[](void *);
	cart &operator=(const cart &c) { return *this; } bool operator==(const cart &) const { return 1; } bool operator!=(const cart &) const { return 0; }
	cart operator+(int) const; cart operator-(int) const; cart operator*(int) const; cart operator/(int) const; cart operator%(int) const; cart operator^(int) const;
	cart operator&(int) const; cart operator|(int) const; cart operator~() const; bool operator!() const; bool operator<(int) const; bool operator>(int) const;
	bool operator<=(int) const; bool operator>=(int) const; cart operator<<(int) const; cart operator>>(int) const; bool operator&&(int) const; bool operator||(int) const;
	cart &operator+=(int); cart &operator-=(int); cart &operator*=(int); cart &operator/=(int); cart &operator%=(int); cart &operator^=(int); cart &operator&=(int);
	cart &operator|=(int); cart &operator<<=(int); cart &operator>>=(int); cart &operator++(); cart operator++(int); cart &operator--(); cart operator,(int);
	cart *operator->(); int operator->*(int); int operator()(int, ...); int operator[](char) volatile; operator int() const; operator const char *(); operator cart *();
	std::strong_ordering operator<=>(const cart &) const; int operator co_await();
	void r1() &; void r2() const &&; void r3() noexcept; void r4() __restrict; void r5() volatile; static int shared; int member; int (*fun)(int);
	void use(cart *, cart &, const cart &, cart &&, cart *const, const volatile cart *, int (&)[3], int (*)[4][5], const int[2]);
};
#define DEFINE(op) cart cart::operator op(int) const { return *this; }
DEFINE(+) DEFINE(-) DEFINE(*) DEFINE(/) DEFINE(%) DEFINE(^) DEFINE(&) DEFINE(|) DEFINE(<<) DEFINE(>>)
#define ASSIGN(op) cart &cart::operator op(int) { return *this; }
ASSIGN(+=) ASSIGN(-=) ASSIGN(*=) ASSIGN(/=) ASSIGN(%=) ASSIGN(^=) ASSIGN(&=) ASSIGN(|=) ASSIGN(<<=) ASSIGN(>>=)
#define TEST(op) bool cart::operator op(int) const { return 1; }
TEST(<) TEST(>) TEST(<=) TEST(>=) TEST(&&) TEST(||)
cart cart::operator~() const { return *this; } bool cart::operator!() const { return 1; } cart &cart::operator++() { return *this; } cart cart::operator++(int) { return *this; }
cart &cart::operator--() { return *this; } cart cart::operator,(int) { return *this; } cart *cart::operator->() { return this; } int cart::operator->*(int) { return 1; }
int cart::operator()(int, ...) { return 1; } int cart::operator[](char) volatile { return 1; } cart::operator int() const { return 1; } cart::operator const char *() { return "a"; }
cart::operator cart *() { return this; } std::strong_ordering cart::operator<=>(const cart &) const { return {1}; } int cart::operator co_await() { return 1; }
void cart::r1() & {} void cart::r2() const && {} void cart::r3() noexcept {} void cart::r4() __restrict {} void cart::r5() volatile {} int cart::shared = 1; int cart::hidden = 2;
void *cart::operator new(size_t) { return 0; } void cart::operator delete(void *) {} void *cart::operator new[](size_t) { return 0; } void cart::operator delete[](void *) {}
void cart::use(cart *, cart &, const cart &, cart &&, cart *const, const volatile cart *, int (&)[3], int (*)[4][5], const int[2]) {}
void all(cart &c) { c.secret(1); c.kept('a'); cart::guarded(1); c.virt(1); c.deep(0); new cart[3]; delete[] new cart[2]; cart d(1, 2); cart e((cart &&)d); delete new both; delete new joined; delete new two; }
base base::one;
int operator""_eur(unsigned long long v) { return int(v); } int operator""_txt(const char *, size_t) { return 1; }

void primitives(bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long, float, double, long double, wchar_t, char8_t, char16_t, char32_t, decltype(nullptr), v4) {}
void tags(color, size, either, cart, box<int>, later *) {}
void back(cart *, cart *, box<cart> *, box<cart> *, int *, int *, color, color) {}
void functions(void (*)(int), int (*(*)(char))(float), void (&)(cart), int (cart::*)(int) const, int cart::*, int (base::*)(int), int (both::*)(int), int both::*, int later::*, int (later::*)(int), void (*)(...) noexcept) {}
int (*returns(int))(char) { return 0; }
int (&array())[7] { static int a[7]; return a; }
int (*const table[3])(int) = {};
const int *const *volatile stars = 0; int __unaligned *un = 0; void restricted(int *__restrict a, const char *__restrict *b) {}
auto deduced() { return 1; } decltype(auto) deduced2() { return (table); } template <class T> auto deduced3(T t) { return t; }
template <class T> T max(T a, T b) { return a; } template <> int max(int a, int) { return a; }
template <class T, class... R> void print(T, R...) {} template <int... N> void numbers() {} template <class T> void packed(T) {}
template <const int *P> void pointed() {} template <int &R> void referred() {} template <void (*F)(int)> void called() {} template <int (cart::*M)(int, ...)> void membered() {}
template <int cart::*M> void data() {} template <int both::*M> void datav() {} template <int (both::*M)(int) const> void memberv() {} template <int (joined::*M)()> void memberj() {}
template <class T> struct outer { template <class U> struct inner { static U f(T, U) { return {}; } }; };
int global; void taken(int) {} int volatile const cv = 3; thread_local cart perthread; extern "C" int plain(int n) { static cart inside; struct near { int f() { static int k = 1; return k++; } }; return near().f() + n; }
namespace { struct hide { int f() { return 1; } }; template <class T> T hidden(T t) { return t; } int quiet = hidden(1); } namespace deep::er { void f(hide) {} }
inline int counted() { static cart once; static int n = 0; return n++ + once.member; } int (*fc)() = counted;
template <class F> int run(F f) { return f(1); }
int lambdas(int k) { auto a = [](int n) { return n; }; auto b = [k](int n) { auto c = [n](auto m) { return m + n; }; return c(k); }; auto p = +a; return run(a) + run(b) + p(1) + run([](int n) { return n * 2; }); }
auto atglobal = [](int a) { return a; }; int once = atglobal(2);
const char *texts() { static const char *l[] = {"short", "", "a quote \" and \\ and \n and \x01 and \xe9", "a text that is longer than thirty-two bytes is cut"}; return l[0]; }
const wchar_t *wides() { static const wchar_t *l[] = {L"wide", L"", L"wide \x20ac and a text that is longer than thirty-two characters"}; return l[1]; }
const char16_t *u16() { return u"sixteen"; } const char32_t *u32() { return U"thirty-two bits wide"; } const char8_t *u8() { return u8"eight"; }
void thrown(int n) { if (n) throw cart(1); throw both(); }
template <int N> struct countdown { using next = typename countdown<N - 1>::next; }; template <> struct countdown<0> { using next = int; };
template <class A, class B> struct pair { A a; B b; }; using p1 = pair<int, pair<char, pair<float, box<cart *>>>>; using p2 = pair<p1, pair<p1, p1>>; using p3 = pair<p2, pair<p2, p2>>; using p4 = pair<p3, pair<p3, p3>>; using p5 = pair<p4, pair<p4, p4>>;
void deeply(p1, p2 *, p3 *, p4 *) {} void hashed(p5 *) {} void hashed2(pair<p5, pair<p5, p5>> *) {}
#ifdef _M_IX86
int __stdcall std1(int) { return 1; } int __fastcall fast1(int) { return 1; } int __thiscall this1(int); struct __declspec(novtable) conv { int __stdcall s(); int __cdecl c(); int __fastcall f(); }; int __stdcall conv::s() { return 1; } int __cdecl conv::c() { return 1; } int __fastcall conv::f() { return 1; }
extern "C" int __stdcall cstd(int, int) { return 1; } extern "C" int __fastcall cfast(int) { return 1; } extern "C" int __vectorcall cvec(int) { return 1; }
void conventions(int (__stdcall *)(int), int (__fastcall *)(int), int (__thiscall cart::*)(int)) {}
#endif
int __vectorcall vec1(int, v4) { return 1; } __attribute__((swiftcall)) void swift1() {} __attribute__((pascal)) void pascal1(int) {} __attribute__((regcall)) void regcall1(int) {}

template struct box<int>; template struct box<cart *>; template struct box<box<char>>; template struct row<short, 12>; template struct held<box, long>; template struct pack<>; template struct pack<int, cart, box<int>>;
template struct box<decltype(nullptr)>; template struct outer<int>::inner<char>; template struct row<cart *, 1000>; template struct box<int (*)(char)>; template struct box<int cart::*>; template struct box<const volatile char *>;
template struct value<1>; template struct value<-7>; template struct value<'a'>; template struct value<true>; template struct value<&global>; template struct value<&taken>; template struct value<&cart::member>; template struct value<nullptr>; template struct value<size::big>; template struct value<9000000000ull>;
template <class> struct sig { static void f() {} }; template struct sig<void()>; template struct sig<int(cart, char) noexcept>; template struct sig<void() const>; template struct sig<void() const &>; template struct sig<void() &&>; template struct sig<int[5]>; template struct sig<int[]>; template struct sig<const int>; template struct sig<const int[2][3]>; template struct sig<void (*)(int (*)(char))>; template struct sig<int &&>; template struct sig<const cart &>; template struct sig<decltype([] { return 1; })>; template struct sig<void(...)>; template struct sig<sig<void(sig<int()>)>>; template struct sig<int (*(*)(float))(char)>;
void instances() {
	max(1.0, 2.0); max<char>('a', 'b'); max<cart *>(0, 0); max(box<int>{}, box<int>{}); print(1); print(1, 'a', 2.0, box<int>{}); numbers<>(); numbers<1, -2, 300>(); packed(pack<>{}); packed(pack<int, char>{});
	pointed<&global>(); pointed<nullptr>(); referred<global>(); called<taken>(); called<nullptr>(); membered<&cart::operator()>(); membered<nullptr>(); data<&cart::member>(); data<nullptr>(); datav<nullptr>(); memberv<nullptr>(); memberv<&both::price>(); memberj<nullptr>();
	pack<int>::call(1, 2, 3); pack<>::call(); box<int> b; b.as('a'); b.as(b); (void)(int)b; float *f = b; deduced3(1); deduced3(b); held<box, char>().put({}); packed(either{}); packed(size::big); packed(lambdas); packed(&cart::r2); packed(hide{}); hide{}.f(); packed([] {}); struct nested { void f() {} }; nested n; n.f(); packed(n); run([](auto x) { return x; });
}
int (both::*virtual_member)(int) const = &both::price; void (right::*virtual_go)() = &right::go; void (second::*virtual_b)() = &second::b;
}
