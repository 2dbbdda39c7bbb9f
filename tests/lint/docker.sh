#!/bin/sh
# docker.sh SOURCE - the image has the package of every library that the program links, and every
# file that the Dockerfiles copy exists. Without a built program or dpkg the first check is skipped.
set -eu
cd "$1"

sed -n 's/^COPY \([a-z][^ ]*\) .*/\1/p' docker/Dockerfile | while read -r source; do
    [ -e "$source" ] || {
        echo "docker: docker/Dockerfile copies $source, which is not there"
        exit 1
    }
done

# the base image of each stage, and each stage that files are copied from, exists
for file in docker/Dockerfile docker/*.Dockerfile; do
    stages=$(sed -n 's/^FROM .* AS \([a-z]*\)$/\1/p' "$file")
    sed -n 's/^FROM \([^ ]*\).*/\1/p' "$file" | while read -r image; do
        case " writ debian:12 debian:12-slim node:24-bookworm-slim $(echo "$stages" | tr '\n' ' ') " in
        *" $image "*) ;;
        *)
            echo "docker: $file begins with $image, which docker/test does not know"
            exit 1
            ;;
        esac
    done
    sed -n 's/^COPY --from=\([^ ]*\) .*/\1/p' "$file" | while read -r stage; do
        echo "$stages" | grep -qx -- "$stage" || {
            echo "docker: $file copies from $stage, which is no stage of it"
            exit 1
        }
    done
done

# has_packages PROGRAM STAGE - the packages of the libraries that a program links are in the
# stage of the Dockerfile that begins with "FROM debian:12-slim STAGE"
has_packages() {
    program=$1
    stage=$(awk -v from="FROM debian:12-slim$2" '/^FROM / { on = $0 == from } on' docker/Dockerfile)
    [ -x "$program" ] || return 0
    readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r library; do
        case $library in
        libc.so.* | libm.so.* | libasan.so.* | libubsan.so.* | libtsan.so.* | ld-linux* | libwrit-*) continue ;;
        esac
        path=$(ldd "$program" | sed -n "s|.*$library => \\([^ ]*\\) .*|\\1|p")
        package=$(dpkg -S "$(readlink -f "$path")" 2>/dev/null || dpkg -S "$path")
        package=${package%%:*}
        echo "$stage" | grep -qw -- "$package" || {
            echo "docker: $library is needed by $program, and $package is not in its stage of docker/Dockerfile"
            exit 1
        }
    done
}
# the images are of Debian 12, and so are the names of their packages
if grep -qx VERSION_CODENAME=bookworm /etc/os-release && command -v readelf >/dev/null; then
    has_packages "${WRIT_BIN:-}" ""
    has_packages "${WRIT_BUILD_DIR:-}/tests/tool-server" " AS tools"
fi
for script in docker/setup docker/healthy docker/prepare; do
    [ -x "$script" ] || {
        echo "docker: $script cannot be executed"
        exit 1
    }
done
echo "docker: ok"
