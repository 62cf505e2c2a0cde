#!/bin/sh
# make.sh CACHE: makes shop.map.txt, the mapping of src as R8 shrinks it; shop.txt, what the shrunken program prints when it
# fails; shop.r8.txt, that by R8's retrace. Needs a JDK, and what fresh.sh fetched.
set -eu
cd "$(dirname "$0")"
sh ./fresh.sh "$1"
jar=$1/r8/r8.jar
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
javac -g -d "$tmp/classes" src/com/example/shop/*.java
cat > "$tmp/rules.pro" <<'RULES'
-keep class com.example.shop.Main { public static void main(java.lang.String[]); }
-keepattributes SourceFile,LineNumberTable
-repackageclasses s
RULES
home=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/ *java.home = //p')
java -cp "$jar" com.android.tools.r8.R8 --release --classfile --lib "$home" --output "$tmp/shop.jar" --pg-conf "$tmp/rules.pro" \
  --pg-map-output shop.map.txt --map-id-template %MAP_HASH --source-file-template r8-map-id-%MAP_ID $(find "$tmp/classes" -name '*.class')
java -cp "$tmp/shop.jar" com.example.shop.Main tea cups 2> shop.txt || true
java -cp "$jar" com.android.tools.r8.retrace.Retrace --quiet shop.map.txt shop.txt > shop.r8.txt
