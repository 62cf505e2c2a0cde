//! rust-proguard's two ways to answer a frame, in memory and from its cache file.
use std::{fs, hint::black_box};

use proguard::{ProguardCache, ProguardMapper, ProguardMapping, StackFrame};

/// Nanoseconds that this thread has spent on a processor.
fn spent() -> u64 {
    fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next().and_then(|n| n.parse().ok()))
        .unwrap_or(0)
}

/// Writes the cache file of a mapping.
pub fn cache(mapping: &str, out: &str) -> super::Result<()> {
    let bytes = fs::read(mapping)?;
    let mut w = std::io::BufWriter::new(fs::File::create(out)?);
    ProguardCache::write(&ProguardMapping::new(&bytes), &mut w)?;
    Ok(())
}

/// Prints frames a second of the mapper and of the cache, the best of five passes over FRAMES, whose
/// lines are "CLASS METHOD LINE".
pub fn retrace(mapping: &str, frames: &str) -> super::Result<()> {
    let bytes = fs::read(mapping)?;
    let mapping = ProguardMapping::new(&bytes);
    let mut written = Vec::new();
    ProguardCache::write(&mapping, &mut written)?;
    let cache = ProguardCache::parse(&written)?;
    let mapper = ProguardMapper::new(mapping);
    let text = fs::read_to_string(frames)?;
    let frames: Vec<StackFrame> = text
        .lines()
        .filter_map(|l| {
            let mut parts = l.split(' ');
            Some(StackFrame::new(parts.next()?, parts.next()?, parts.next()?.parse().ok()?))
        })
        .collect();
    let mut best = [0f64; 2];
    for _ in 0..5 {
        let start = spent();
        for f in &frames {
            for r in mapper.remap_frame(f) {
                black_box((r.class(), r.method(), r.file().map(str::len), r.line()));
            }
        }
        let middle = spent();
        for f in &frames {
            for r in cache.remap_frame(f) {
                black_box((r.class(), r.method(), r.file().map(str::len), r.line()));
            }
        }
        let end = spent();
        for (i, ns) in [middle - start, end - middle].into_iter().enumerate() {
            best[i] = best[i].max(frames.len() as f64 * 1e9 / ns as f64);
        }
    }
    println!("{:.0} {:.0}", best[0], best[1]);
    Ok(())
}
