//! peer symcache FILE OUT        write a SymCache as symbolic does
//! peer addr2line FILE ADDRS     look every address (hex, one a line) up twice, print the time of the warm pass
//! peer proguard MAPPING OUT      write a cache file as rust-proguard does
//! peer retrace MAPPING FRAMES   retrace frames with rust-proguard, print frames a second
//! peer stacks LIST FRAMES       answer stacks from SymCaches, print seconds and source frames
//! peer scopes                   name functions of scripts by their maps
mod retrace;
mod scopes;
mod stacks;

use std::{env, fs, hint::black_box, time::Instant};

use symbolic::common::ByteView;
use symbolic::debuginfo::Archive;
use symbolic::symcache::SymCacheConverter;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn symcache(file: &str, out: &str) -> Result<()> {
    let view = ByteView::open(file)?;
    let archive = Archive::parse(&view)?;
    let object = archive.objects().next().ok_or("no object")??;
    let mut converter = SymCacheConverter::new();
    converter.process_object(&object)?;
    let mut w = std::io::BufWriter::new(fs::File::create(out)?);
    converter.serialize(&mut w)?;
    Ok(())
}

fn addr2line(file: &str, addresses: &str) -> Result<()> {
    let loader = addr2line::Loader::new(file).map_err(|e| e.to_string())?;
    let probes: Vec<u64> = fs::read_to_string(addresses)?
        .split_whitespace()
        .map(|a| u64::from_str_radix(a.trim_start_matches("0x"), 16))
        .collect::<std::result::Result<_, _>>()?;
    for pass in 0..2 {
        let start = Instant::now();
        let mut frames = 0u64;
        for &p in &probes {
            let mut it = loader.find_frames(p).map_err(|e| e.to_string())?;
            while let Some(f) = it.next().map_err(|e| e.to_string())? {
                black_box(f.function.as_ref().map(|n| n.raw_name().map(|s| s.len()).unwrap_or(0)));
                black_box(f.location.as_ref().and_then(|l| l.line));
                frames += 1;
            }
        }
        let spent = start.elapsed().as_secs_f64();
        if pass == 1 {
            println!("{:.0} {}", probes.len() as f64 / spent, frames);
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "symcache", file, out] => symcache(file, out),
        [_, "addr2line", file, addresses] => addr2line(file, addresses),
        [_, "proguard", mapping, out] => retrace::cache(mapping, out),
        [_, "retrace", mapping, frames] => retrace::retrace(mapping, frames),
        [_, "stacks", list, frames] => stacks::stacks(list, frames),
        [_, "scopes"] => scopes::scopes(),
        _ => Err("peer symcache FILE OUT | peer addr2line FILE ADDRESSES | peer proguard MAPPING OUT | peer retrace MAPPING FRAMES | peer stacks LIST FRAMES | peer scopes".into()),
    }
}
