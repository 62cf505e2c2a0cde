#!/bin/sh
# builds.sh CACHE: mappings that R8 makes now with six sets of options, for DEX and for class files, in CACHE/r8/builds.
# A long form of the tests of formats/retrace reads them; fresh.sh brings R8 and its inputs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/fresh.sh" "$1"
r8=$1/r8
home=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/ *java.home = //p')
common='-dontwarn **
-ignorewarnings
-keep class com.google.gson.Gson { public *; }
-keep class com.squareup.moshi.Moshi { public *; }
-keep class okio.Okio { public *; }
-keep class kotlin.collections.CollectionsKt { public *; }
-keep class kotlin.sequences.SequencesKt { public *; }
-keep class kotlin.text.StringsKt { public *; }'
lines='-keepattributes SourceFile,LineNumberTable'

# build NAME RULES [ARGUMENTS of R8]: both outputs of one set of options.
build() {
  name=$1 rules=$2
  shift 2
  for kind in dex classfile; do
    out=$r8/builds/$name-$kind
    [ -e "$out/mapping.txt" ] && continue
    rm -rf "$out" && mkdir -p "$out"
    printf '%s\n%s\n' "$common" "$rules" > "$out/rules.pro"
    api=
    [ $kind = dex ] && api="--min-api ${API:-26}"
    java -Xmx2g -cp "$r8/r8.jar" com.android.tools.r8.R8 --release --$kind $api --lib "$home" --output "$out/out.zip" \
      --pg-conf "$out/rules.pro" --pg-map-output "$out/making.txt" --map-id-template %MAP_HASH "$@" "$r8"/jars/*.jar >"$out/log" 2>&1 || { cat "$out/log" >&2; exit 1; }
    rm "$out/out.zip"
    mv "$out/making.txt" "$out/mapping.txt"
  done
}
build whole "$lines"
build unoptimized "-dontoptimize
$lines"
build unobfuscated "-dontobfuscate
$lines"
build repackaged "-dontshrink
-allowaccessmodification
-repackageclasses
$lines"
build compatible "-flattenpackagehierarchy q
-renamesourcefileattribute Hidden
$lines" --pg-compat
API=21 build nolines "-overloadaggressively
-useuniqueclassmembernames" --source-file-template r8-map-id-%MAP_ID
