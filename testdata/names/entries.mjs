// The programs of src, and how places in them are called wherever they were bundled.
import {existsSync, readdirSync} from 'node:fs';
import {resolve} from 'node:path';

export const names = () => readdirSync('src').filter(f => /\.(js|tsx?)$/.test(f)).map(f => f.replace(/\..*$/, '')).sort();

export function entry(name) {
  for (const end of ['.js', '.ts', '.tsx']) {
    if (existsSync(`src/${name}${end}`)) return resolve(`src/${name}${end}`);
  }
  throw new Error(`src has no program ${name}`);
}

// place is the part of a path or of a map's source that every bundler keeps: from node_modules or src on. '' is neither.
export function place(path) {
  path = path.replaceAll('\\', '/').replace(/\?.*$/, '');
  const at = path.lastIndexOf('node_modules/');
  if (at >= 0) return path.slice(at);
  const own = /(?:^|\/)(src\/[^/]+\.(?:js|tsx?)|src\/vendor\/.*)$/.exec(path);
  return own ? own[1] : '';
}
