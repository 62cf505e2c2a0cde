// vendor.mjs copies the TypeScript and JavaScript sources that three packages ship into src/vendor. Imports and exports
// of types get the word type: compilers that see one file at a time cannot know it.
import {cpSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import ts from 'typescript';

rmSync('src/vendor', {recursive: true, force: true});
for (const name of ['immer', 'rxjs', 'preact']) cpSync(`node_modules/${name}/src`, `src/vendor/${name}`, {recursive: true, filter: from => !from.endsWith('.d.ts')});

const roots = ['src/vendor/immer/immer.ts', 'src/vendor/rxjs/index.ts'];
const program = ts.createProgram(roots, {target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, noEmit: true, skipLibCheck: true});
const checker = program.getTypeChecker();
for (const file of program.getSourceFiles()) {
  if (!file.fileName.includes('src/vendor/')) continue;
  const places = [];
  const visit = node => {
    if ((ts.isImportSpecifier(node) || ts.isExportSpecifier(node)) && !node.isTypeOnly && !node.parent.parent.isTypeOnly) {
      let symbol = checker.getSymbolAtLocation(node.name);
      if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
      if (symbol && symbol.declarations && !(symbol.flags & ts.SymbolFlags.Value)) places.push(node.getStart());
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  let text = file.text;
  for (const at of places.reverse()) text = text.slice(0, at) + 'type ' + text.slice(at);
  writeFileSync(file.fileName, text);
}
