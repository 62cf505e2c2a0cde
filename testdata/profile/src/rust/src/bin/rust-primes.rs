//! Iterators and closures that the compiler joins into few functions.
use profiles::Busy;

trait Test {
    fn prime(&self, n: u64) -> bool;
}

struct Division;

struct Rabin(&'static [u64]);

impl Test for Division {
    fn prime(&self, n: u64) -> bool {
        n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0)
    }
}

fn power(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut result = 1;
    base %= modulus;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base, modulus);
        }
        base = multiply(base, base, modulus);
        exponent >>= 1;
    }
    result
}

#[inline(always)]
fn multiply(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

impl Test for Rabin {
    fn prime(&self, n: u64) -> bool {
        if n < 4 || n % 2 == 0 {
            return n == 2 || n == 3;
        }
        let twos = (n - 1).trailing_zeros();
        let odd = (n - 1) >> twos;
        self.0.iter().filter(|&&w| w % n != 0).all(|&witness| {
            let mut x = power(witness, odd, n);
            x == 1 || (0..twos).any(|_| {
                let found = x == n - 1;
                x = multiply(x, x, n);
                found
            })
        })
    }
}

#[inline(never)]
fn sum(test: &dyn Test, from: u64, to: u64) -> u64 {
    (from..to).filter(|&n| test.prime(n)).map(|n| n % 1000).sum()
}

fn main() {
    let busy = Busy::begin();
    let tests: [Box<dyn Test>; 2] = [Box::new(Division), Box::new(Rabin(&[2, 3, 5, 7, 11, 13, 17]))];
    let mut total = 0;
    let mut from = 1_000_000;
    while busy.more() {
        for test in &tests {
            total += sum(test.as_ref(), from, from + 2000);
        }
        from += 2000;
    }
    println!("{total}");
    busy.end();
}
