#!/bin/sh
# fresh.sh CACHE: R8 and its retrace from Maven Central, and a mapping that it makes now of a few
# libraries, as text and partitioned, in CACHE/r8. The jar of R8 is the oracle of formats/retrace.
set -eu
out=$1/r8
r8=com.android.tools:r8:9.5.28
libraries="com.google.code.gson:gson:2.11.0 com.squareup.okio:okio-jvm:3.9.0 com.squareup.moshi:moshi:1.15.1 org.jetbrains.kotlin:kotlin-stdlib:1.9.24"
[ -e "$out/map.zip" ] && exit
for tool in java mvn; do
  command -v $tool >/dev/null || { echo "fresh.sh needs $tool: apt-get install default-jdk-headless maven" >&2; exit 1; }
done
mkdir -p "$out/jars"
for artifact in $r8 $libraries; do
  mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$out/jars" -Dmdep.useBaseVersion=true
done
mv "$out"/jars/r8-*.jar "$out/r8.jar"
cat > "$out/rules.pro" <<'RULES'
-dontshrink
-dontwarn **
-ignorewarnings
-allowaccessmodification
-repackageclasses
-keepattributes Signature,InnerClasses,EnclosingMethod,SourceFile,LineNumberTable
RULES
home=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/ *java.home = //p')
java -Xmx2g -cp "$out/r8.jar" com.android.tools.r8.R8 --release --dex --min-api 26 --lib "$home" --output "$out/out.zip" --pg-conf "$out/rules.pro" \
  --pg-map-output "$out/mapping.txt" --partition-map-output "$out/part.zip" --map-id-template %MAP_HASH --source-file-template r8-map-id-%MAP_ID "$out"/jars/*.jar
mv "$out/part.zip" "$out/map.zip"
