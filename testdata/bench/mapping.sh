#!/bin/sh
# A real mapping of about 27 MB: R8 renames, inlines and outlines a dozen libraries, removing nothing.
# Usage: mapping.sh FOLDER; makes FOLDER/mapping.txt and FOLDER/partition.zip unless they are there.
# Needs java, mvn and 6 GB of memory, and takes two minutes or more.
set -eu
out=$1
[ -s "$out/mapping.txt" ] && [ -s "$out/partition.zip" ] && exit 0
mkdir -p "$out/jars"
r8=9.5.28
copy() { mvn -q -B dependency:copy -Dartifact="$1" -DoutputDirectory="$out/jars" -Dmdep.useBaseVersion=true >&2; }
[ -f "$out/jars/r8-$r8.jar" ] || copy "com.android.tools:r8:$r8"
for a in com.google.guava:guava:33.3.1-jre com.squareup.okhttp3:okhttp:4.12.0 com.squareup.okio:okio-jvm:3.6.0 \
	com.squareup.retrofit2:retrofit:2.11.0 com.squareup.moshi:moshi:1.15.1 com.google.code.gson:gson:2.11.0 \
	com.fasterxml.jackson.core:jackson-databind:2.17.2 com.fasterxml.jackson.core:jackson-core:2.17.2 \
	com.fasterxml.jackson.core:jackson-annotations:2.17.2 io.reactivex.rxjava3:rxjava:3.1.9 \
	org.reactivestreams:reactive-streams:1.0.4 org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.1 \
	org.jetbrains.kotlin:kotlin-stdlib:1.9.24 org.apache.commons:commons-lang3:3.17.0 \
	org.apache.commons:commons-collections4:4.4 com.google.protobuf:protobuf-java:4.28.2; do
	name=$(echo "$a" | cut -d: -f2)-$(echo "$a" | cut -d: -f3).jar
	[ -f "$out/jars/$name" ] || copy "$a"
done
cat >"$out/rules.pro" <<'RULES'
-dontshrink
-dontwarn **
-ignorewarnings
-keepattributes Signature,InnerClasses,EnclosingMethod,*Annotation*,SourceFile,LineNumberTable
RULES
libs=$(find "$out/jars" -name '*.jar' ! -name 'r8-*' | sort)
home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")}
# shellcheck disable=SC2086 # one word a jar
java -Xmx6g -cp "$out/jars/r8-$r8.jar" com.android.tools.r8.R8 --release --classfile --lib "$home" --output "$out/out.jar" \
	--pg-conf "$out/rules.pro" --pg-map-output "$out/mapping.part" --map-id-template %MAP_HASH --source-file-template r8-map-id-%MAP_ID $libs >"$out/r8.log" 2>&1 ||
	{ tail -5 "$out/r8.log" >&2; exit 1; }
java -Xmx2g -cp "$out/jars/r8-$r8.jar" com.android.tools.r8.retrace.Partition --output "$out/partition.zip" "$out/mapping.part"
rm -f "$out/out.jar"
mv "$out/mapping.part" "$out/mapping.txt"
