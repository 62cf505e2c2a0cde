#!/bin/sh
# Builds cart.wasm and cart.wasm.map from cart.ts. It needs Node and the packages assemblyscript 0.28 in ASC, the folder
# with node_modules. The map keeps the text of cart.ts alone.
set -eu
cd "$(dirname "$0")"
"${ASC:?the folder with node_modules}/node_modules/.bin/asc" cart.ts -o cart.wasm --sourceMap --debug
node -e '
const fs = require("fs"), map = JSON.parse(fs.readFileSync("cart.wasm.map"));
map.sourcesContent = map.sourcesContent.map((text, i) => map.sources[i] === "cart.ts" ? text : null);
fs.writeFileSync("cart.wasm.map", JSON.stringify(map));'
