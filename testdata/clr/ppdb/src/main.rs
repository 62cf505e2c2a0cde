use std::io::{BufRead, Write};
use symbolic_ppdb::{PortablePdb, PortablePdbCache, PortablePdbCacheConverter};

// ppdb FILE: reads "METHOD OFFSET" lines (decimal), writes FILE:LINE or "-".
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let data = std::fs::read(path).unwrap();
    let pdb = PortablePdb::parse(&data).unwrap();
    let mut c = PortablePdbCacheConverter::new();
    c.process_portable_pdb(&pdb).unwrap();
    let mut out = vec![];
    c.serialize(&mut out).unwrap();
    let cache = PortablePdbCache::parse(&out).unwrap();
    let mut w = std::io::BufWriter::new(std::io::stdout());
    for l in std::io::stdin().lock().lines() {
        let l = l.unwrap();
        let mut p = l.split(' ').map(|v| v.parse::<u32>().unwrap());
        let (m, o) = (p.next().unwrap(), p.next().unwrap());
        match cache.lookup(m, o) {
            Some(i) => writeln!(w, "{}:{}", i.file_name, i.line).unwrap(),
            None => writeln!(w, "-").unwrap(),
        }
    }
}
