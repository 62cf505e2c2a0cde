#!/usr/bin/env bash
# Install the release in bin/dist as its users would, and use it: the .deb on a fresh Debian in a chroot, the image's
# files as its user. Look into the .rpm, the .apk and the archives. Usage: installed.sh CACHE
set -euo pipefail
cache=$1
cd "$(dirname "$0")/.."

skip() {
  echo "SKIP make installed: $1"
  [ -z "${SYMLAKE_REQUIRE:-}" ] || exit 1
  exit 0
}
has() { grep "$@" >/dev/null; } # reads all of a pipe, unlike grep -q
fail() { echo "installed: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || skip "only root may chroot: sudo make installed"
for need in debootstrap:debootstrap rpm:rpm systemd-analyze:systemd; do
  command -v "${need%%:*}" >/dev/null || skip "${need%%:*} is missing: apt-get install ${need##*:}"
done
arch=$(dpkg --print-architecture)
deb=$(echo bin/dist/symlake_*_"$arch".deb)
[ -e "$deb" ] || fail "$deb is missing: make release VERSION=1.2.3"
version=${deb#bin/dist/symlake_}
version=${version%_"$arch".deb}

debian=$cache/debian-bookworm
if [ ! -e "$debian" ]; then
  rm -rf "$debian.new"
  debootstrap --variant=minbase bookworm "$debian.new" >"$cache/debootstrap.log" || fail "debootstrap: see $cache/debootstrap.log"
  rm -rf "$debian.new"/var/cache/apt/archives/*.deb "$debian.new"/var/lib/apt/lists/*
  mv "$debian.new" "$debian"
fi

work=$(mktemp -d)
root=$work/root
clean() {
  umount "$root/proc" "$work/image/proc" "$root" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT
mkdir -p "$root" "$work/upper" "$work/work"
# A copy where folders cannot be laid over each other, as in some containers.
mount -t overlay overlay -o "lowerdir=$debian,upperdir=$work/upper,workdir=$work/work" "$root" 2>/dev/null || cp -a "$debian/." "$root"
mount -t proc proc "$root/proc"
[ -c "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
[ -c "$root/dev/urandom" ] || mknod -m 666 "$root/dev/urandom" c 1 9
cp "$deb" "$root/root/symlake.deb"
install -d -m 0755 "$root/srv/symbols"
cp testdata/elf/libgame-arm64-dw5.so testdata/stacks/monitor.txt testdata/stacks/monitor.expected.txt "$root/srv/symbols/"
chmod 644 "$root"/srv/symbols/*
there() { chroot "$root" "$@"; }
as() { chroot --userspec=symlake:symlake "$root" env -C /tmp HOME=/tmp SYMLAKE_CONFIG=/etc/symlake/symlake.yaml "$@"; }

# From a fresh Debian to a symbolicated stack.
start=$EPOCHREALTIME
there dpkg -i /root/symlake.deb >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg -i"; }
as symlake --log-level error ingest /srv/symbols/libgame-arm64-dw5.so >"$work/log" 2>&1 || { cat "$work/log"; fail "ingest"; }
as symlake --log-level error symbolicate /srv/symbols/monitor.txt >"$work/said" || fail "symbolicate"
end=$EPOCHREALTIME
grep -q 'game::Engine::step(int)' "$work/said" || { cat "$work/said"; fail "no function in the symbolicated stack"; }
awk -v a="$start" -v b="$end" 'BEGIN { printf "installed: from a fresh Debian to a symbolicated stack: %.1f s\n", b - a }'

there symlake --version | has -F " $version " || fail "symlake --version does not say $version: $(there symlake --version)"
there symlake-lookup version | has -F " $version " || fail "symlake-lookup version does not say $version"
[ "$(there stat -c '%U:%G %a' /var/lib/symlake)" = "symlake:symlake 700" ] || fail "/var/lib/symlake: $(there stat -c '%U:%G %a' /var/lib/symlake)"
[ "$(there stat -c '%U %a' /var/lib/symlake/keyset.json)" = "symlake 600" ] || fail "the keyset is not its owner's alone"
for page in symlake symlake-ingest symlake-serve; do
  gzip -dc "$root/usr/share/man/man1/$page.1.gz" | has '^\.TH' || fail "no man page $page"
done
[ "$(there stat -c %a /usr/share/man/man1 /usr/share/doc/symlake /etc/symlake | sort -u)" = 755 ] || fail "folders that others cannot read"
for script in symlake symlake-lookup; do
  there bash -n "/usr/share/bash-completion/completions/$script" || fail "completion of $script for bash"
  grep -q "#compdef $script" "$root/usr/share/zsh/vendor-completions/_$script" || fail "completion of $script for zsh"
  [ -s "$root/usr/share/fish/vendor_completions.d/$script.fish" ] || fail "completion of $script for fish"
done
grep -q 'modernc.org/sqlite v' "$root/usr/share/doc/symlake/THIRD-PARTY-LICENSES" || fail "no licenses of dependencies"

# Units name programs, users and settings that systemd knows. Its targets are not in this Debian: the host's stand in.
mkdir -p "$work/units"
cp "$root"/usr/lib/systemd/system/symlake-* "$work/units/"
sed -i "s#=/usr/bin/symlake #=$root/usr/bin/symlake #" "$work"/units/*.service
if ! systemd-analyze verify --man=no "$work"/units/symlake-* >"$work/said" 2>&1 || has "^$work/units" "$work/said"; then
  cat "$work/said"
  fail "systemd-analyze verify"
fi
echo "installed: exposure of symlake-serve.service: $(systemd-analyze security --offline=true "$work/units/symlake-serve.service" 2>/dev/null | tail -1)"

# Again over an edited configuration, which stays; removal and purge leave the store and its keyset.
echo '# edited' >> "$root/etc/symlake/symlake.yaml"
there dpkg -i /root/symlake.deb >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg -i, again"; }
grep -q '^# edited' "$root/etc/symlake/symlake.yaml" || fail "an edited configuration was replaced"
there dpkg -r symlake >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg -r"; }
[ -e "$root/etc/symlake/symlake.yaml" ] || fail "removal took the configuration"
there dpkg -P symlake >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg -P"; }
[ ! -e "$root/etc/symlake/symlake.yaml" ] && [ ! -e "$root/usr/bin/symlake" ] || fail "purge left files of the package"
there test -s /var/lib/symlake/keyset.json || fail "purge took the keyset"
there id symlake >/dev/null || fail "purge took the owner of the store"

# The other packages hold the same files. Completions of zsh have a folder of their own on Debian.
files() { grep -v '/$' | sed 's#^\./##; s#^/##; s#vendor-completions#site-functions#' | grep -E '^(usr|etc)/' | sort; }
dpkg-deb --fsys-tarfile "$deb" | tar t | files >"$work/deb"
rpm=$(echo bin/dist/symlake-*."$(uname -m)".rpm)
rpm -K --nosignature "$rpm" >/dev/null || fail "rpm -K $rpm"
rpm -qpl "$rpm" | files | diff "$work/deb" - || fail "$rpm holds other files than $deb"
rpm -qp --configfiles "$rpm" | has -x /etc/symlake/symlake.yaml || fail "$rpm: the configuration is not marked"
tar tzf bin/dist/symlake_*_"$(uname -m)".apk 2>/dev/null | files | diff "$work/deb" - || fail "the .apk holds other files than $deb"
for a in bin/dist/symlake_*_windows_*.zip; do
  [ ! -e "$a" ] || unzip -l "$a" | has '/symlake\.exe$' || fail "$a: no symlake.exe"
done
for a in bin/dist/symlake_*_{linux,darwin}_*.tar.gz; do
  [ ! -e "$a" ] || tar tzf "$a" | has '/man/symlake-ingest\.1$' || fail "$a: no man pages"
done

# The image is an index of images and of lists of contents. Its user can work without a volume.
oci=$work/oci
mkdir -p "$oci" "$work/image"
tar xf "bin/dist/symlake_${version}_image.tar" -C "$oci"
python3 - "$oci" "$arch" >"$work/layer" <<'P'
import hashlib, json, pathlib, sys
oci, arch = pathlib.Path(sys.argv[1]), sys.argv[2]
def blob(d):
    b = (oci / "blobs/sha256" / d["digest"].split(":")[1]).read_bytes()
    assert len(b) == d["size"] and "sha256:" + hashlib.sha256(b).hexdigest() == d["digest"], d
    return b
assert json.loads((oci / "oci-layout").read_text())["imageLayoutVersion"] == "1.0.0"
top = json.loads((oci / "index.json").read_text())["manifests"]
index = json.loads(blob(next(m for m in top if m["mediaType"] == "application/vnd.oci.image.index.v1+json")))
images = {m["platform"]["architecture"]: m for m in index["manifests"]}
lists = {}
for m in top:
    if m["mediaType"] == "application/vnd.oci.image.manifest.v1+json":
        r = json.loads(blob(m))
        lists[r["subject"]["digest"]] = json.loads(blob(r["layers"][0]))
for m in images.values():
    assert lists[m["digest"]]["bomFormat"] == "CycloneDX" and len(lists[m["digest"]]["components"]) > 20
manifest = json.loads(blob(images[arch]))
config = json.loads(blob(manifest["config"]))
assert config["config"]["User"] == "65532:65532" and config["config"]["Entrypoint"] == ["/symlake"], config
assert config["config"]["WorkingDir"] == "/data" and config["rootfs"]["diff_ids"], config
print(manifest["layers"][0]["digest"].split(":")[1])
P
mkdir "$work/image/proc"
mount -t proc proc "$work/image/proc" # container engines do
tar xzpf "$oci/blobs/sha256/$(cat "$work/layer")" -C "$work/image"
cp testdata/elf/libgame-arm64-dw5.so testdata/stacks/monitor.txt "$work/image/"
cat > "$work/run.py" <<'P'
import os, sys
os.chroot(sys.argv[1]); os.chdir("/data"); os.setgroups([]); os.setgid(65532); os.setuid(65532)
os.execve("/symlake", ["symlake"] + sys.argv[2:], {"TMPDIR": "/data"})
P
python3 "$work/run.py" "$work/image" --log-level error ingest /libgame-arm64-dw5.so >"$work/log" 2>&1 || { cat "$work/log"; fail "ingest in the image"; }
python3 "$work/run.py" "$work/image" --log-level error symbolicate /monitor.txt | has 'game::Engine::step(int)' || fail "symbolicate in the image"
echo "installed: symlake $version is as it should be: .deb, .rpm, .apk, archives, image"
