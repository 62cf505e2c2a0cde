// Made by make.py.
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
        .map(|a| format!("{{\"artifact\":\"sites\",\"address\":\"+0x{:x}\"}}", a)).collect();
    println!("{{\"site\":{},\"frame0\":\"return\",\"frames\":[{}]}}", site, at.join(","));
}

mod unit0 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 0 { crash(0); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit1 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 1 { crash(1); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit2 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 2 { crash(2); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit3 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 3 { crash(3); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit4 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 4 { crash(4); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit5 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 5 { crash(5); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit6 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 6 { crash(6); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit7 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 7 { crash(7); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit8 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 8 { crash(8); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit9 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 9 { crash(9); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit10 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 10 { crash(10); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit11 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 11 { crash(11); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit12 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 12 { crash(12); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit13 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 13 { crash(13); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit14 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 14 { crash(14); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit15 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 15 { crash(15); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit16 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 16 { crash(16); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit17 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 17 { crash(17); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit18 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 18 { crash(18); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit19 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 19 { crash(19); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit20 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 20 { crash(20); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit21 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 21 { crash(21); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit22 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 22 { crash(22); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit23 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 23 { crash(23); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit24 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 24 { crash(24); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit25 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 25 { crash(25); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit26 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 26 { crash(26); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit27 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 27 { crash(27); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit28 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 28 { crash(28); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit29 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 29 { crash(29); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit30 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 30 { crash(30); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit31 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 31 { crash(31); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit32 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 32 { crash(32); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit33 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 33 { crash(33); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit34 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 34 { crash(34); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit35 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 35 { crash(35); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit36 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 36 { crash(36); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit37 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 37 { crash(37); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit38 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 38 { crash(38); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit39 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 39 { crash(39); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit40 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 40 { crash(40); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit41 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 41 { crash(41); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit42 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 42 { crash(42); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit43 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 43 { crash(43); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit44 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 44 { crash(44); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit45 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 45 { crash(45); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit46 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 46 { crash(46); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit47 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 47 { crash(47); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit48 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 48 { crash(48); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit49 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 49 { crash(49); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit50 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 50 { crash(50); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit51 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 51 { crash(51); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit52 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 52 { crash(52); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit53 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 53 { crash(53); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit54 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 54 { crash(54); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit55 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 55 { crash(55); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit56 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 56 { crash(56); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit57 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 57 { crash(57); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit58 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 58 { crash(58); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit59 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 59 { crash(59); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit60 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 60 { crash(60); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit61 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 61 { crash(61); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit62 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 62 { crash(62); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit63 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 63 { crash(63); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit64 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 64 { crash(64); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit65 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 65 { crash(65); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit66 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 66 { crash(66); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit67 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 67 { crash(67); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit68 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 68 { crash(68); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit69 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 69 { crash(69); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit70 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 70 { crash(70); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit71 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 71 { crash(71); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit72 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 72 { crash(72); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit73 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 73 { crash(73); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit74 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 74 { crash(74); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit75 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 75 { crash(75); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit76 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 76 { crash(76); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit77 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 77 { crash(77); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit78 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 78 { crash(78); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit79 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 79 { crash(79); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit80 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 80 { crash(80); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit81 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 81 { crash(81); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit82 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 82 { crash(82); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit83 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 83 { crash(83); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit84 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 84 { crash(84); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit85 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 85 { crash(85); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit86 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 86 { crash(86); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit87 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 87 { crash(87); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit88 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 88 { crash(88); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit89 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 89 { crash(89); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit90 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 90 { crash(90); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit91 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 91 { crash(91); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit92 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 92 { crash(92); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit93 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 93 { crash(93); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit94 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 94 { crash(94); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit95 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 95 { crash(95); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
mod unit96 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 96 { crash(96); } keep(n) % 1000 + 1 }
    fn hidden(n: i32) -> i32 { let r = step(n); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = hidden(n) + 1; keep(r) }
}
mod unit97 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 97 { crash(97); } keep(n) % 1000 + 1 }
    struct Cart;
    impl Cart { fn total(&self, n: i32) -> i32 { let r = step(n) + 3; keep(r) } fn pay(&self, n: i32) -> i32 { let r = self.total(n) * 2; keep(r) } }
    pub fn run(n: i32) -> i32 { let r = Cart.pay(n); keep(r) + 1 }
}
mod unit98 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 98 { crash(98); } keep(n) % 1000 + 1 }
    struct Held<T>(T);
    impl<T: Into<i32> + Copy> Held<T> { fn open(&self) -> i32 { let r = step(self.0.into()); keep(r) } }
    fn twice<T: Into<i32> + Copy>(n: T) -> i32 { let r = Held(n).open(); keep(r) * 2 }
    pub fn run(n: i32) -> i32 { let r = twice::<i32>(n); keep(r) }
}
mod unit99 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 99 { crash(99); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f = |m: i32| { let r = step(n) + m; keep(r) }; let r = f(SINK.load(SeqCst)); keep(r) + 2 }
}
mod unit100 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 100 { crash(100); } keep(n) % 1000 + 1 }
    trait Shape { fn area(&self, n: i32) -> i32; }
    struct Disc; struct Rect;
    impl Shape for Disc { fn area(&self, n: i32) -> i32 { let r = step(n) * 3 % 1000; keep(r) } }
    impl Shape for Rect { fn area(&self, n: i32) -> i32 { keep(n) } }
    #[inline(never)] fn shape() -> Box<dyn Shape> { if SINK.load(SeqCst) != -1 { Box::new(Disc) } else { Box::new(Rect) } }
    pub fn run(n: i32) -> i32 { let r = shape().area(n); keep(r) }
}
mod unit101 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 101 { crash(101); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let mut t = 0; [n, n, n].iter().for_each(|x| { t += step(*x) % 1000; keep(t); }); t }
}
mod unit102 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 102 { crash(102); } keep(n) % 1000 + 1 }
    pub fn run(n: i32) -> i32 { let f: Box<dyn Fn(i32) -> i32> = Box::new(|m| { let r = step(m) + 1; keep(r) }); let r = f(n); keep(r) }
}
mod unit103 {
    use super::*;
    fn step(n: i32) -> i32 { keep(n); if n == 103 { crash(103); } keep(n) % 1000 + 1 }
    fn deep(n: i32, d: i32) -> i32 { if d == 0 { let r = step(n); return keep(r); } let r = deep(n, d - 1) + d; keep(r) }
    pub fn run(n: i32) -> i32 { let r = deep(n, 3); keep(r) }
}
fn dispatch(n: i32) -> i32 {
    match n {
        0 => keep(unit0::run(n)),
        1 => keep(unit1::run(n)),
        2 => keep(unit2::run(n)),
        3 => keep(unit3::run(n)),
        4 => keep(unit4::run(n)),
        5 => keep(unit5::run(n)),
        6 => keep(unit6::run(n)),
        7 => keep(unit7::run(n)),
        8 => keep(unit8::run(n)),
        9 => keep(unit9::run(n)),
        10 => keep(unit10::run(n)),
        11 => keep(unit11::run(n)),
        12 => keep(unit12::run(n)),
        13 => keep(unit13::run(n)),
        14 => keep(unit14::run(n)),
        15 => keep(unit15::run(n)),
        16 => keep(unit16::run(n)),
        17 => keep(unit17::run(n)),
        18 => keep(unit18::run(n)),
        19 => keep(unit19::run(n)),
        20 => keep(unit20::run(n)),
        21 => keep(unit21::run(n)),
        22 => keep(unit22::run(n)),
        23 => keep(unit23::run(n)),
        24 => keep(unit24::run(n)),
        25 => keep(unit25::run(n)),
        26 => keep(unit26::run(n)),
        27 => keep(unit27::run(n)),
        28 => keep(unit28::run(n)),
        29 => keep(unit29::run(n)),
        30 => keep(unit30::run(n)),
        31 => keep(unit31::run(n)),
        32 => keep(unit32::run(n)),
        33 => keep(unit33::run(n)),
        34 => keep(unit34::run(n)),
        35 => keep(unit35::run(n)),
        36 => keep(unit36::run(n)),
        37 => keep(unit37::run(n)),
        38 => keep(unit38::run(n)),
        39 => keep(unit39::run(n)),
        40 => keep(unit40::run(n)),
        41 => keep(unit41::run(n)),
        42 => keep(unit42::run(n)),
        43 => keep(unit43::run(n)),
        44 => keep(unit44::run(n)),
        45 => keep(unit45::run(n)),
        46 => keep(unit46::run(n)),
        47 => keep(unit47::run(n)),
        48 => keep(unit48::run(n)),
        49 => keep(unit49::run(n)),
        50 => keep(unit50::run(n)),
        51 => keep(unit51::run(n)),
        52 => keep(unit52::run(n)),
        53 => keep(unit53::run(n)),
        54 => keep(unit54::run(n)),
        55 => keep(unit55::run(n)),
        56 => keep(unit56::run(n)),
        57 => keep(unit57::run(n)),
        58 => keep(unit58::run(n)),
        59 => keep(unit59::run(n)),
        60 => keep(unit60::run(n)),
        61 => keep(unit61::run(n)),
        62 => keep(unit62::run(n)),
        63 => keep(unit63::run(n)),
        64 => keep(unit64::run(n)),
        65 => keep(unit65::run(n)),
        66 => keep(unit66::run(n)),
        67 => keep(unit67::run(n)),
        68 => keep(unit68::run(n)),
        69 => keep(unit69::run(n)),
        70 => keep(unit70::run(n)),
        71 => keep(unit71::run(n)),
        72 => keep(unit72::run(n)),
        73 => keep(unit73::run(n)),
        74 => keep(unit74::run(n)),
        75 => keep(unit75::run(n)),
        76 => keep(unit76::run(n)),
        77 => keep(unit77::run(n)),
        78 => keep(unit78::run(n)),
        79 => keep(unit79::run(n)),
        80 => keep(unit80::run(n)),
        81 => keep(unit81::run(n)),
        82 => keep(unit82::run(n)),
        83 => keep(unit83::run(n)),
        84 => keep(unit84::run(n)),
        85 => keep(unit85::run(n)),
        86 => keep(unit86::run(n)),
        87 => keep(unit87::run(n)),
        88 => keep(unit88::run(n)),
        89 => keep(unit89::run(n)),
        90 => keep(unit90::run(n)),
        91 => keep(unit91::run(n)),
        92 => keep(unit92::run(n)),
        93 => keep(unit93::run(n)),
        94 => keep(unit94::run(n)),
        95 => keep(unit95::run(n)),
        96 => keep(unit96::run(n)),
        97 => keep(unit97::run(n)),
        98 => keep(unit98::run(n)),
        99 => keep(unit99::run(n)),
        100 => keep(unit100::run(n)),
        101 => keep(unit101::run(n)),
        102 => keep(unit102::run(n)),
        103 => keep(unit103::run(n)),
        _ => 0,
    }
}
fn main() { for i in 0..104 { keep(dispatch(i)); } }
