#!/usr/bin/env python3
"""Writes sites.cpp and sites.rs: programs of 104 crash sites. Each site walks its stack and prints it as a row of NDJSON.

Eight kinds of sites repeat: a function in an unnamed namespace, methods, templates, a lambda, a virtual function, a
loop over a list, a stored function, recursion. No call is the last act of its function: compilers leave no frame of a
caller that has nothing left to do.

Usage: testdata/group/make.py
"""
import os

SITES = 104

CPP_HEAD = '''// Made by make.py.
extern "C" int backtrace(void **pcs, int most);
extern "C" int printf(const char *form, ...);
extern char __executable_start;
volatile int sink;

static __attribute__((noinline)) void crash(int site) {
  void *pcs[64];
  int n = backtrace(pcs, 64);
  printf("{\\"site\\":%d,\\"frame0\\":\\"return\\",\\"frames\\":[", site);
  const char *between = "";
  for (int i = 1; i < n; i++) {
    unsigned long at = (char *)pcs[i] - &__executable_start;
    if (at > 1ul << 24) break; // the C library
    printf("%s{\\"artifact\\":\\"sites\\",\\"address\\":\\"+0x%lx\\"}", between, at);
    between = ",";
  }
  printf("]}\\n");
  sink = sink + 1;
}

template <class F> struct Stored;
template <class R, class A> struct Stored<R(A)> {
  struct Base { virtual R call(A) { return R(); } };
  template <class F> struct Held : Base { F f; Held(F g) : f(g) {} R call(A a) override { R r = f(a); sink = r; return r; } };
  Base *base = nullptr;
  R operator()(A a) const { R r = base->call(a); sink = r; return r; }
};
template <class T, class F> void each(T *from, T *to, F f) { for (; from != to; ++from) { f(*from); sink = sink + 1; } }

namespace shop {
'''

CPP = [
    'namespace { int hidden(int n) { int r = step(n); sink = r; return r * 2; } }\n'
    'int run(int n) { int r = hidden(n) + 1; sink = r; return r; }',
    'struct Cart { int total(int n) { int r = step(n) + 3; sink = r; return r; } int pay(int n) { int r = total(n) * 2; sink = r; return r; } };\n'
    'int run(int n) { Cart c; int r = c.pay(n); sink = r; return r + 1; }',
    'template <class T> struct Box { T v; T open(T n) { T r = step(n) + v; sink = r; return r; } };\n'
    'template <class T> T twice(T n) { Box<T> b{n}; T r = b.open(n); sink = r; return r * 2; }\n'
    'int run(int n) { int r = twice<int>(n); sink = r; return r; }',
    'int run(int n) { auto f = [n](int m) { int r = step(n) + m; sink = r; return r; }; int r = f(sink); sink = r; return r + 2; }',
    'struct Shape { virtual int area(int n) { return n; } };\n'
    'struct Disc : Shape { int area(int n) override { int r = step(n) * 3; sink = r; return r; } };\n'
    'struct Rect : Shape { int area(int n) override { sink = n; return n; } };\n'
    'Disc disc; Rect rect; Shape *volatile shapes[] = {&disc, &rect};\n'
    'int run(int n) { int r = shapes[sink == -1]->area(n); sink = r; return r; }',
    'int run(int n) { int v[3] = {n, n, n}; int t = 0; each(v, v + 3, [&](int x) { t += step(x); sink = t; }); return t; }',
    'int run(int n) { auto f = [](int m) { int r = step(m) + 1; sink = r; return r; }; Stored<int(int)>::Held<decltype(f)> h(f);\n'
    '  Stored<int(int)> s; s.base = &h; int r = s(n); sink = r; return r; }',
    'static int deep(int n, int d) { if (d == 0) { int r = step(n); sink = r; return r; } int r = deep(n, d - 1) + d; sink = r; return r; }\n'
    'int run(int n) { int r = deep(n, 3); sink = r; return r; }',
]

RUST_HEAD = '''// Made by make.py.
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

extern "C" {
    fn backtrace(pcs: *mut *mut c_void, most: c_int) -> c_int;
    static __executable_start: u8;
}

pub static SINK: AtomicI32 = AtomicI32::new(0);

#[inline]
fn keep(n: i32) -> i32 {
    SINK.store(n, SeqCst);
    n
}

#[inline(never)]
fn crash(site: i32) {
    let mut pcs = [std::ptr::null_mut(); 64];
    let n = unsafe { backtrace(pcs.as_mut_ptr(), 64) };
    let base = unsafe { std::ptr::addr_of!(__executable_start) } as usize;
    let at: Vec<String> = pcs[1..n as usize].iter().map(|p| (*p as usize).wrapping_sub(base)).take_while(|a| *a < 1 << 24)
        .map(|a| format!("{{\\"artifact\\":\\"sites\\",\\"address\\":\\"+0x{:x}\\"}}", a)).collect();
    println!("{{\\"site\\":{},\\"frame0\\":\\"return\\",\\"frames\\":[{}]}}", site, at.join(","));
}

'''

RUST = [
    '    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }\n'
    '    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }',
    '    struct Cart;\n'
    '    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }\n'
    '    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }',
    '    struct Held<T>(T);\n'
    '    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }\n'
    '    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }\n'
    '    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }',
    '    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }',
    '    trait Shape { fn area(&self, n: i32) -> i32; }\n'
    '    struct Disc; struct Rect;\n'
    '    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }\n'
    '    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }\n'
    '    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }\n'
    '    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }',
    '    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }',
    '    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }',
    '    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }\n'
    '    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }',
]


def cpp():
    out = [CPP_HEAD]
    for i in range(SITES):
        out.append(f'namespace unit{i} {{\nstatic int step(int n) {{ sink = sink + n; if (n == {i}) crash({i}); sink = sink + 1; return n + sink; }}\n')
        out.append(CPP[i % len(CPP)] + '\n}\n')
    out.append('int (*const units[])(int) = {' + ', '.join(f'unit{i}::run' for i in range(SITES)) + '};\n')
    out.append('int dispatch(int n) { int r = units[n](n); sink = r; return r + 1; }\n}\n')
    out.append(f'int main() {{ for (int i = 0; i < {SITES}; i++) sink = shop::dispatch(i); return 0; }}\n')
    return ''.join(out)


def rust():
    out = [RUST_HEAD]
    for i in range(SITES):
        out.append(f'mod unit{i} {{\n    use super::*;\n    fn step(n: i32) -> i32 {{ keep(n); if n == {i} {{ crash({i}); }} keep(n) % 1000 + 1 }}\n')
        out.append(RUST[i % len(RUST)] + '\n}\n')
    out.append('fn dispatch(n: i32) -> i32 {\n    match n {\n')
    out += [f'        {i} => keep(unit{i}::run(n)),\n' for i in range(SITES)]
    out.append(f'        _ => 0,\n    }}\n}}\nfn main() {{ for i in 0..{SITES} {{ keep(dispatch(i)); }} }}\n')
    return ''.join(out)


here = os.path.dirname(os.path.abspath(__file__))
for name, text in (('sites.cpp', cpp()), ('sites.rs', rust())):
    with open(os.path.join(here, name), 'w') as f:
        f.write(text)
