#!/bin/sh
# docker.sh SOURCE - the image has the package of every library that the program is linked to, and
# what the Dockerfiles copy is there. Without a built program or dpkg the first check is left out.
set -eu
cd "$1"

sed -n 's/^COPY \([a-z][^ ]*\) .*/\1/p' docker/Dockerfile | while read -r source; do
    [ -e "$source" ] || {
        echo "docker: docker/Dockerfile copies $source, which is not there"
        exit 1
    }
done

program=${WRIT_BIN:-}
if [ -x "$program" ] && command -v dpkg >/dev/null && command -v readelf >/dev/null; then
    readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r library; do
        case $library in
        libc.so.* | libm.so.* | libasan.so.* | libubsan.so.* | libtsan.so.* | ld-linux*) continue ;;
        esac
        path=$(ldd "$program" | sed -n "s|.*$library => \\([^ ]*\\) .*|\\1|p")
        package=$(dpkg -S "$(readlink -f "$path")" 2>/dev/null || dpkg -S "$path")
        package=${package%%:*}
        grep -qw -- "$package" docker/Dockerfile || {
            echo "docker: $library is needed, and $package is not in docker/Dockerfile"
            exit 1
        }
    done
fi
for script in docker/setup docker/healthy; do
    [ -x "$script" ] || {
        echo "docker: $script cannot be executed"
        exit 1
    }
done
echo "docker: ok"
