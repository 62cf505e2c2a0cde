//! Stacks answered from SymCache files, as a service that embeds the crate does it.
use std::{fs, hint::black_box, sync::atomic::{AtomicU64, AtomicUsize, Ordering}, thread, time::Instant};

use symbolic::common::ByteView;
use symbolic::symcache::SymCache;

use crate::Result;

/// Frames that a thread takes at once.
const PIECE: usize = 500 * 30;

/// LIST names the caches, one a line; FRAMES are pairs of an index into it and an address, four bytes each,
/// little-endian. Two threads answer them, opening included; prints seconds and source frames.
pub fn stacks(list: &str, frames: &str) -> Result<()> {
    let names: Vec<String> = fs::read_to_string(list)?.lines().map(String::from).collect();
    let raw = fs::read(frames)?;
    let number = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let asked: Vec<(u32, u32)> = raw.chunks_exact(8).map(|b| (number(b), number(&b[4..]))).collect();

    let start = Instant::now();
    let views = names.iter().map(ByteView::open).collect::<std::result::Result<Vec<_>, _>>()?;
    let caches = views.iter().map(|v| SymCache::parse(v)).collect::<std::result::Result<Vec<_>, _>>()?;
    let (next, total) = (AtomicUsize::new(0), AtomicU64::new(0));
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let mut found = 0;
                while let Some(piece) = asked.chunks(PIECE).nth(next.fetch_add(1, Ordering::Relaxed)) {
                    for &(cache, address) in piece {
                        for source in caches[cache as usize].lookup(address.into()) {
                            black_box(source.function().name());
                            black_box(source.file().map(|f| f.full_path()));
                            black_box(source.line());
                            found += 1;
                        }
                    }
                }
                total.fetch_add(found, Ordering::Relaxed);
            });
        }
    });
    println!("{} {}", start.elapsed().as_secs_f64(), total.load(Ordering::Relaxed));
    Ok(())
}
