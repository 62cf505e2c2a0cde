//! Maps and strings of the standard library, with generic functions over them.
use profiles::Busy;
use std::collections::{BTreeMap, HashMap};

struct Words(u32);

impl Iterator for Words {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut word = String::new();
        for _ in 0..2 + self.step() % 4 {
            word.push_str(["ka", "ro", "mi", "tel", "su", "no", "ba", "vir"][self.step() as usize % 8]);
        }
        Some(word)
    }
}

impl Words {
    fn step(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        self.0 >> 16
    }
}

#[inline(never)]
fn count<I: Iterator<Item = String>>(words: I) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

#[inline(never)]
fn top(counts: &HashMap<String, usize>, n: usize) -> Vec<(&str, usize)> {
    let mut all: Vec<_> = counts.iter().map(|(w, &n)| (w.as_str(), n)).collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    all.truncate(n);
    all
}

#[inline(never)]
fn by_length(counts: &HashMap<String, usize>) -> BTreeMap<usize, Vec<String>> {
    let mut lengths: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for word in counts.keys() {
        lengths.entry(word.len()).or_default().push(word.to_uppercase());
    }
    lengths
}

fn main() {
    let busy = Busy::begin();
    let mut total = 0;
    let mut seed = 1;
    while busy.more() {
        let counts = count(Words(seed).take(20_000));
        total += top(&counts, 100).iter().map(|(w, n)| w.len() * n).sum::<usize>();
        total += by_length(&counts).values().map(Vec::len).sum::<usize>();
        seed += 1;
    }
    println!("{total}");
    busy.end();
}
