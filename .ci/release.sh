#!/usr/bin/env bash
# Build a release into bin/dist: archives, packages, an image, lists of contents, checksums, a formula. Nothing is
# published. Usage: release.sh CACHE [VERSION]. Without VERSION the tag of this commit is it.
# RELEASE_TARGETS names some of the systems, as in "linux_amd64 darwin_arm64"; without it all of .ci/goreleaser.yaml are built.
set -euo pipefail
goreleaser=v2.15.1
cache=$1
version=${2:-$(git describe --tags --exact-match 2>/dev/null || true)}
version=${version#v}
cd "$(dirname "$0")/.."
if ! [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+([-+.][0-9A-Za-z.+-]+)?$ ]]; then
  echo "release: this commit has no tag: make release VERSION=1.2.3" >&2
  exit 2
fi
[ -z "$(git status --porcelain)" ] || echo "release: the tree has changes that no commit holds: nobody else can build the same" >&2

export CGO_ENABLED=0 GOFLAGS=
mark=$cache/bin/.goreleaser-$goreleaser
if [ ! -e "$mark" ]; then
  mkdir -p "$cache/bin"
  GOBIN=$cache/bin go install "github.com/goreleaser/goreleaser/v2@$goreleaser"
  touch "$mark"
fi

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
SOURCE_DATE=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || date -u -r "$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ) # GNU, BSD
export SOURCE_DATE_EPOCH SOURCE_DATE VERSION=$version PATH=$PWD/bin/release:$PATH
rm -rf bin/release bin/dist
mkdir -p bin/release/{completions,man,man.gz,units,scripts}
(cd .ci/release && go build -trimpath -o ../../bin/release/release-tool .)
release-tool licenses bin/release/THIRD-PARTY-LICENSES
go build -trimpath -ldflags='-s -w' -o bin/release/ ./jobs/symlake ./jobs/symlake-lookup
for program in symlake symlake-lookup; do
  bin/release/$program completion bash > bin/release/completions/$program.bash
  bin/release/$program completion zsh > bin/release/completions/_$program
  bin/release/$program completion fish > bin/release/completions/$program.fish
  bin/release/$program completion powershell > bin/release/completions/$program.ps1
done
bin/release/symlake man bin/release/man
for page in bin/release/man/*.1; do
  gzip -9 -n < "$page" > "bin/release/man.gz/${page##*/}.gz"
done
for unit in symlake-ingest.service symlake-ingest.timer symlake-serve.service; do
  sed 's#/usr/local/bin/#/usr/bin/#' jobs/cron/$unit > bin/release/units/$unit
done
cp jobs/package/*.sh bin/release/scripts/
touch -d "$SOURCE_DATE" bin/release/scripts/* # an .apk notes their time

config=.ci/goreleaser.yaml
if [ -n "${RELEASE_TARGETS:-}" ]; then
  config=bin/release/goreleaser.yaml
  awk -v want=" $RELEASE_TARGETS " '/^ *- (linux|darwin|windows)_/ { split($2, t, "_"); if (!index(want, " " t[1] "_" t[2] " ")) next } { print }' .ci/goreleaser.yaml > $config
fi
"$cache/bin/goreleaser" release --snapshot --clean --config $config --parallelism 1 --timeout 60m # side by side, binaries would come into archives in any order

cd bin/dist
programs=()
for arch in amd64 arm64; do
  for program in symlake_linux_"${arch}"_*/symlake; do
    [ ! -e "$program" ] || programs+=("$arch=$program")
  done
done
if [ ${#programs[@]} -gt 0 ]; then
  for certificates in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
    [ ! -e $certificates ] || break
  done
  release-tool image "symlake_${version}_image.tar" "$version" "$SOURCE_DATE_EPOCH" $certificates ../release/THIRD-PARTY-LICENSES "${programs[@]}"
  sha256sum "symlake_${version}_image.tar" >> checksums.txt
fi
if grep -qE '_(linux|darwin)_.*\.tar\.gz$' checksums.txt; then
  release-tool formula checksums.txt "$version"
  sha256sum symlake.rb >> checksums.txt
fi
sort -k2 -o checksums.txt checksums.txt
sha256sum --quiet --check checksums.txt
