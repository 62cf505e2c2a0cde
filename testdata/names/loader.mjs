// Hooks of Node's loader: TypeScript and JSX become JavaScript, and imports may leave out an extension.
import {existsSync, readFileSync, statSync} from 'node:fs';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {compile} from './compile.mjs';

// Files that are modules although their package.json does not say so.
const own = /\/src\/[^/]+$|\/src\/vendor\/|\/mobx\/dist\/|\/yup\/index\.esm\.js/;
// Names that Node does not see in a package of CommonJS, which bundlers do.
const hidden = /import (\{[^}]*\}) from '(property-expr)';/g;

export async function resolve(name, context, next) {
  if (/^\.{1,2}\//.test(name)) {
    const path = fileURLToPath(new URL(name, context.parentURL));
    for (const end of ['', '.ts', '.tsx', '.js', '/index.ts', '/index.js']) {
      if (existsSync(path + end) && statSync(path + end).isFile()) {
        const url = pathToFileURL(path + end).href;
        return own.test(path + end) ? {url, format: 'module', shortCircuit: true} : next(url, context);
      }
    }
  }
  return next(name, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !own.test(url)) return next(url, context);
  const path = fileURLToPath(url);
  const text = readFileSync(path, 'utf8');
  return {format: 'module', shortCircuit: true, source: /\.tsx?$/.test(path) ? compile(path, text).code : text.replace(hidden, "import * as all from '$2'; const $1 = all.default;")};
}
