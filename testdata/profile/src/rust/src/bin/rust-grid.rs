//! Cells that live and die, in two threads, with results and formatted text.
use profiles::Busy;
use std::fmt::Write;
use std::sync::Arc;

#[derive(Clone)]
struct Grid<const W: usize, const H: usize> {
    cells: Vec<bool>,
}

#[derive(Debug)]
struct Outside;

impl<const W: usize, const H: usize> Grid<W, H> {
    fn new(seed: u64) -> Self {
        let mut state = seed | 1;
        let cells = (0..W * H)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % 3 == 0
            })
            .collect();
        Grid { cells }
    }

    fn at(&self, x: usize, y: usize) -> Result<bool, Outside> {
        if x >= W || y >= H {
            return Err(Outside);
        }
        Ok(self.cells[y * W + x])
    }

    fn neighbors(&self, x: usize, y: usize) -> usize {
        let around = |d: usize, c: usize| c.checked_add(d).and_then(|c| c.checked_sub(1));
        (0..3)
            .flat_map(|dy| (0..3).map(move |dx| (dx, dy)))
            .filter(|&d| d != (1, 1))
            .filter_map(|(dx, dy)| Some((around(dx, x)?, around(dy, y)?)))
            .filter(|&(x, y)| self.at(x, y).unwrap_or(false))
            .count()
    }

    #[inline(never)]
    fn step(&self) -> Self {
        let mut next = self.clone();
        for y in 0..H {
            for x in 0..W {
                next.cells[y * W + x] = matches!((self.cells[y * W + x], self.neighbors(x, y)), (true, 2 | 3) | (false, 3));
            }
        }
        next
    }

    #[inline(never)]
    fn draw(&self) -> String {
        let mut text = String::new();
        for (i, row) in self.cells.chunks(W).enumerate() {
            write!(text, "{i:3} ").unwrap();
            text.extend(row.iter().map(|&c| if c { '#' } else { '.' }));
            text.push('\n');
        }
        text
    }
}

fn work(busy: &Busy, seed: u64) -> usize {
    let mut total = 0;
    let mut grid = Grid::<64, 48>::new(seed);
    while busy.more() {
        grid = grid.step();
        total += grid.draw().matches('#').count();
    }
    total
}

fn main() {
    let busy = Arc::new(Busy::begin());
    let shared = Arc::clone(&busy);
    let other = std::thread::spawn(move || work(&shared, 7));
    let total = work(&busy, 42) + other.join().expect("a sum");
    println!("{total}");
    if let Ok(busy) = Arc::try_unwrap(busy) {
        busy.end();
    }
}
