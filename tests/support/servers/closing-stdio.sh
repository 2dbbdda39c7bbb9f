#!/bin/sh
# closing-stdio.sh RECORD - a server over stdio that closes one of its own streams when a call's argument
# `deed` says so, and keeps running for every later request. Node.js cannot: it keeps copies of them.
trap '' TERM
echo "{\"started\":$$}" >>"$1"
answer() {
    printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",%s}}\n' \
        "$id" "$1"
}
while IFS= read -r line; do
    id=${line#*'"id":'}
    id=${id%%[!0-9]*}
    case $line in
    *'"method":"initialize"'*)
        server='"serverInfo":{"name":"closing","version":"1"}'
        answer '"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'"$server"
        ;;
    *'"method":"server/discover"'*) answer '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}' ;;
    *'"method":"tools/list"'*) answer '"tools":[{"name":"do","inputSchema":{"type":"object"}}]' ;;
    *'"method":"tools/call"'*'closes its output and keeps running'*)
        echo '{"ran":"closes its output and keeps running"}' >>"$1"
        exec 1>&-
        ;;
    *'"method":"tools/call"'*'closes its input, then answers'*)
        echo '{"ran":"closes its input, then answers"}' >>"$1"
        exec 0<&-
        answer '"content":[{"type":"text","text":"first"}]'
        ;;
    esac
done
while :; do sleep 1; done
