#!/bin/sh
# jvm.sh CACHE: makes the events of libraries for Java anew. The shrunken program of ../r8 fails, and Events.java hands its
# exception to each library. Needs a JDK, Maven, and what ../r8/fresh.sh fetched.
set -eu
cd "$(dirname "$0")"
sh ../r8/fresh.sh "$1"
libraries="org.slf4j:slf4j-api:2.0.16 com.fasterxml.jackson.core:jackson-core:2.18.2 com.fasterxml.jackson.core:jackson-annotations:2.18.2
  io.sentry:sentry:8.62.0 com.bugsnag:bugsnag:3.8.0 com.rollbar:rollbar-java:2.3.0 com.mindscapehq:core:3.0.0 io.honeybadger:honeybadger-java:2.1.2 io.airbrake:javabrake:0.2.4
  io.opentelemetry:opentelemetry-exporter-logging-otlp:1.63.0 io.opentelemetry:opentelemetry-sdk:1.63.0 net.logstash.logback:logstash-logback-encoder:8.0 ch.qos.logback:logback-classic:1.5.18 co.elastic.logging:logback-ecs-encoder:1.6.0
  org.apache.logging.log4j:log4j-core:2.24.3 org.apache.logging.log4j:log4j-layout-template-json:2.24.3 com.google.code.gson:gson:2.11.0 com.fasterxml.jackson.core:jackson-databind:2.18.2"
out=$1/jvm-events
mkdir -p "$out"
if [ "$(cat "$out/installed" 2>/dev/null)" != "$libraries" ]; then
  {
    echo '<project><modelVersion>4.0.0</modelVersion><groupId>events</groupId><artifactId>events</artifactId><version>1</version><dependencies>'
    for l in $libraries; do
      echo "$l" | sed 's|\(.*\):\(.*\):\(.*\)|<dependency><groupId>\1</groupId><artifactId>\2</artifactId><version>\3</version></dependency>|'
    done
    echo '</dependencies></project>'
  } > "$out/pom.xml"
  rm -rf "$out/jars"
  mvn -q -B -f "$out/pom.xml" dependency:copy-dependencies -DoutputDirectory="$out/jars" -DincludeScope=runtime
  echo "$libraries" > "$out/installed"
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
javac -g -d "$tmp/classes" ../r8/src/com/example/shop/*.java
cat > "$tmp/rules.pro" <<'RULES'
-keep class com.example.shop.Main { public static void main(java.lang.String[]); }
-keepattributes SourceFile,LineNumberTable
-repackageclasses s
RULES
home=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/ *java.home = //p')
java -cp "$1/r8/r8.jar" com.android.tools.r8.R8 --release --classfile --lib "$home" --output "$tmp/shop.jar" --pg-conf "$tmp/rules.pro" \
  --pg-map-output "$tmp/map.txt" --map-id-template %MAP_HASH --source-file-template r8-map-id-%MAP_ID $(find "$tmp/classes" -name '*.class')
cmp "$tmp/map.txt" ../r8/shop.map.txt
javac -nowarn -cp "$tmp/shop.jar:$out/jars/*" -d "$tmp/events" Events.java
java --add-opens java.base/java.lang=ALL-UNNAMED -cp "$tmp/events:$tmp/shop.jar:$out/jars/*" Events .
