// compile turns TypeScript into JavaScript one file at a time, with its map.
import ts from 'typescript';

export function compile(path, text) {
  const out = ts.transpileModule(text, {fileName: path, compilerOptions: {target: 'ES2022', module: 'ESNext', sourceMap: true, isolatedModules: true, jsx: 'React', useDefineForClassFields: true}});
  return {code: out.outputText.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'), map: JSON.parse(out.sourceMapText)};
}
