//! Functions of scripts by their maps, as symbolic's source map cache names them.
use std::{collections::HashMap, fs, io::BufRead};

use symbolic::sourcemapcache::{ScopeLookupResult, SourceMapCache, SourceMapCacheWriter, SourcePosition};

use crate::Result;

/// Reads lines of a script's file, a line and a column, both from 1; prints the function of each, empty without one.
/// The map lies beside the script.
pub fn scopes() -> Result<()> {
    let mut caches: HashMap<String, &'static [u8]> = HashMap::new();
    let mut out = String::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut fields = line.rsplitn(3, ' ');
        let (column, row, script) = (fields.next(), fields.next(), fields.next());
        let (Some(column), Some(row), Some(script)) = (column, row, script) else { return Err("a line is not FILE LINE COLUMN".into()) };
        if !caches.contains_key(script) {
            let source = fs::read_to_string(script)?;
            let map = fs::read_to_string(format!("{script}.map"))?;
            let mut bytes = Vec::new();
            SourceMapCacheWriter::new(&source, &map)?.serialize(&mut bytes)?;
            caches.insert(script.to_string(), Vec::leak(bytes));
        }
        let cache = SourceMapCache::parse(caches[script])?;
        let at = SourcePosition::new(row.parse::<u32>()?.saturating_sub(1), column.parse::<u32>()?.saturating_sub(1));
        if let Some(found) = cache.lookup(at) {
            if let ScopeLookupResult::NamedScope(name) = found.scope() {
                out.push_str(name);
            }
        }
        out.push('\n');
    }
    print!("{out}");
    Ok(())
}
