// build.mjs BUNDLER NAME…: bundles programs of src as each tool does for production, into out/BUNDLER-NAME.js and its map.
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {compile} from './compile.mjs';
import {entry} from './entries.mjs';

const require = createRequire(import.meta.url);
const define = {'process.env.NODE_ENV': '"production"'};
const extensions = ['.tsx', '.ts', '.mjs', '.js', '.json'];

// webpack and rspack take the same configuration.
const packed = (from, to, more) => ({
  mode: 'production', entry: from, target: ['web', 'es2022'], devtool: 'source-map', output: {path: resolve('out'), filename: to}, resolve: {extensions}, performance: {hints: false}, ...more,
});
const run = compiler => new Promise((done, fail) => compiler.run((e, stats) => {
  if (e || stats.hasErrors()) return fail(e || new Error(stats.toString({colors: false})));
  compiler.close(done);
}));

const typescript = {name: 'typescript', transform: (text, id) => /\.tsx?$/.test(id) ? compile(id, text) : null};
const json = {name: 'json', transform: (text, id) => id.endsWith('.json') ? {code: `module.exports = ${text};`, map: null} : null};
const replace = {name: 'replace', transform(text, id) {
  if (!text.includes('process.env.NODE_ENV')) return null;
  const code = text.replaceAll('process.env.NODE_ENV', match => '"production"'.padEnd(match.length));
  return {code, map: null}; // of the same length: every position stays
}};

async function rolled(from) {
  const {rollup} = await import('rollup');
  const {nodeResolve} = await import('@rollup/plugin-node-resolve');
  const {default: commonjs} = await import('@rollup/plugin-commonjs');
  const bundle = await rollup({input: from, plugins: [nodeResolve({browser: true, extensions}), replace, json, typescript, commonjs({extensions: ['.js', '.cjs', '.json']})], onwarn() {}});
  const {output: [{code, map}]} = await bundle.generate({format: 'iife', name: 'app', sourcemap: true, inlineDynamicImports: true});
  await bundle.close();
  return {code, map};
}

function write(to, code, map) {
  map = typeof map === 'string' ? JSON.parse(map) : map;
  writeFileSync(join('out', to), `${code.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '')}\n//# sourceMappingURL=${to}.map\n`);
  writeFileSync(join('out', to + '.map'), JSON.stringify({...map, file: to}));
}

const bundlers = {
  async webpack(from, to) {
    await run(require('webpack')(packed(from, to, {module: {rules: [{test: /\.tsx?$/, loader: 'ts-loader', options: {transpileOnly: true, compilerOptions: {target: 'es2022', module: 'esnext', sourceMap: true, jsx: 'react'}}}]}})));
  },
  async rollup(from, to) {
    const {minify} = await import('terser');
    const {code, map} = await rolled(from);
    const out = await minify({[to]: code}, {module: false, toplevel: true, sourceMap: {content: JSON.parse(map.toString())}});
    write(to, out.code, out.map);
  },
  async esbuild(from, to) {
    await require('esbuild').build({entryPoints: [from], bundle: true, minify: true, sourcemap: true, format: 'iife', platform: 'browser', define, outfile: join('out', to), logLevel: 'silent'});
  },
  async terser(from, to) { // of the bundle that esbuild did not minify, with everything that is safe and does not rename properties
    const {minify} = await import('terser');
    const {outputFiles} = await require('esbuild').build({entryPoints: [from], bundle: true, sourcemap: true, format: 'iife', platform: 'browser', define, outfile: to, write: false, logLevel: 'silent'});
    const [map, code] = ['.map', '.js'].map(end => outputFiles.find(f => f.path.endsWith(end)).text);
    const out = await minify({[to]: code}, {ecma: 2022, compress: {passes: 3, hoist_funs: true}, mangle: {toplevel: true}, sourceMap: {content: JSON.parse(map), includeSources: true}});
    write(to, out.code, out.map);
  },
  async uglify(from, to) {
    const {minify} = require('uglify-js');
    const {code, map} = await rolled(from);
    const out = minify({[to]: code}, {toplevel: true, sourceMap: {content: map.toString(), includeSources: true}});
    if (out.error) throw out.error;
    write(to, out.code, out.map);
  },
  async swc(from, to) {
    const Terser = require('terser-webpack-plugin');
    const syntax = (parser, test) => ({test, exclude: /node_modules/, loader: 'swc-loader', options: {jsc: {parser, target: 'es2017'}, sourceMaps: true}});
    await run(require('webpack')(packed(from, to, {
      module: {rules: [syntax({syntax: 'typescript', tsx: true}, /\.tsx$/), syntax({syntax: 'typescript'}, /\.ts$/), syntax({syntax: 'ecmascript'}, /\.js$/)]},
      optimization: {minimizer: [new Terser({minify: Terser.swcMinify, parallel: false})]},
    })));
  },
  async rspack(from, to) {
    const rule = (syntax, test) => ({test, loader: 'builtin:swc-loader', type: 'javascript/auto', options: {jsc: {parser: syntax, target: 'es2022'}}});
    await run(require('@rspack/core').rspack(packed(from, to, {module: {rules: [rule({syntax: 'typescript', tsx: true}, /\.tsx$/), rule({syntax: 'typescript'}, /\.ts$/)]}})));
  },
  async parcel(from, to) {
    const {Parcel} = require('@parcel/core');
    const dist = mkdtempSync(resolve('parcel-'));
    const cache = mkdtempSync(resolve('parcel-'));
    try {
      await new Parcel({
        entries: from, defaultConfig: '@parcel/config-default', mode: 'production', cacheDir: cache, shouldDisableCache: true, logLevel: 'error', env: {NODE_ENV: 'production'},
        targets: {main: {distDir: dist, distEntry: to, context: 'browser', outputFormat: 'global', includeNodeModules: true, scopeHoist: true, optimize: true, sourceMap: true, engines: {browsers: ['Chrome 110']}}},
      }).run();
      const read = end => readFileSync(join(dist, readdirSync(dist).find(f => f.endsWith(end))), 'utf8');
      write(to, read('.js'), read('.map'));
    } finally {
      rmSync(dist, {recursive: true});
      rmSync(cache, {recursive: true});
    }
  },
  async vite(from, to) {
    const {build} = await import('vite');
    const {output} = [await build({
      configFile: false, logLevel: 'silent', define, root: process.cwd(),
      build: {write: false, sourcemap: true, minify: true, lib: {entry: from, formats: ['iife'], name: 'app', fileName: () => to}},
    })].flat()[0];
    const chunk = output.find(o => o.type === 'chunk');
    write(to, chunk.code, chunk.map.toString());
  },
};

export const all = Object.keys(bundlers);

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [bundler, ...names] = process.argv.slice(2);
  process.env.NODE_ENV = 'production';
  mkdirSync('out', {recursive: true});
  let failed = false;
  for (const name of names) {
    const to = `${bundler}-${name}.js`;
    if (existsSync(join('out', to + '.map'))) continue;
    try {
      await bundlers[bundler](entry(name), to);
    } catch (e) {
      failed = true;
      rmSync(join('out', to + '.map'), {force: true});
      process.stderr.write(`${bundler} ${name}: ${String(e && e.stack || e).slice(0, 1500)}\n`);
    }
  }
  process.exit(failed ? 1 : 0);
}
