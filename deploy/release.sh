#!/usr/bin/env bash
# Builds a release into a folder: for each architecture the static program, a Debian package and a list of what is in the
# program (SBOM, CycloneDX); and the checksums of all.
#
#   deploy/release.sh DIR [ARCH...]     a relative DIR starts at the root of the repository
#
# The version is that of git, or $VERSION. The build is reproducible: the same commit and the same Go give the same bytes on any machine, because the
# output contains no path of the machine and only the time of the commit. The tools and their versions are pinned in deploy/release/go.mod.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$1
shift
[ $# -gt 0 ] || set -- amd64 arm64
mkdir -p "$dir"
dir=$(realpath "$dir")

deploy/setup.sh
VERSION=${VERSION:-$(git describe --tags --always --dirty)}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export VERSION SOURCE_DATE_EPOCH CGO_ENABLED=0 GOOS=linux GOFLAGS=

# A Debian version begins with a number and has no hyphen: v1.2.3 becomes 1.2.3, a commit without a tag sorts before all.
case $VERSION in
v[0-9]*) DEB_VERSION=${VERSION#v} ;;
*) DEB_VERSION=0~$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S)+$VERSION ;;
esac
DEB_VERSION=${DEB_VERSION//-/+}
export DEB_VERSION

# tool NAME [ARGUMENT...] runs a tool on this machine, whatever the release is for.
tool() { env -u GOARCH -u GOOS go tool -modfile=deploy/release/go.mod "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What multis writes about its command line is the same for each architecture, so that the program of this machine writes it.
export SHARED=$work/shared
mkdir "$SHARED"
(unset GOOS && go build -tags goolm -trimpath -buildvcs=false -o "$work/multis" ./cmd/multis)
for shell in bash zsh fish; do
	"$work/multis" completion "$shell" >"$SHARED/completion.$shell"
done
"$work/multis" man | gzip -9 --no-name >"$SHARED/multis.1.gz"

rm -f "$dir"/multis-* "$dir"/multis_* "$dir/SHA256SUMS"
for ARCH in "$@"; do
	export ARCH BUILD=$work/$ARCH
	mkdir "$BUILD"
	echo "release: multis $VERSION for $ARCH"
	GOARCH=$ARCH go build -tags goolm -trimpath -buildvcs=false -ldflags "-s -w -funcalign=16 -X main.version=$VERSION" -o "$BUILD/multis" ./cmd/multis
	sed 's|/usr/local/bin/multis|/usr/bin/multis|' deploy/multis.service >"$BUILD/multis.service"
	cp config/example.yaml "$BUILD/config.example.yaml"
	(umask 022 && tool nfpm package --config deploy/release/nfpm.yaml --packager deb --target "$dir/multis_${DEB_VERSION}_$ARCH.deb")
	tool cyclonedx-gomod bin -json -noserial -notimestamp -std -version "$VERSION" -output "$dir/multis-linux-$ARCH.sbom.json" "$BUILD/multis"
	mv "$BUILD/multis" "$dir/multis-linux-$ARCH"
done
cd "$dir"
sha256sum -- multis-* multis_* >SHA256SUMS
cat SHA256SUMS
