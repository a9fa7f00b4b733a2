#!/bin/sh
# Starts the server (`keyward start`) or runs another command, with the runtime of this folder.
self=$0
if [ -L "$self" ]; then self=$(readlink -f "$self"); fi
home=$(cd -P "${self%/*}/.." && pwd) || exit 1
if [ "${1-}" = start ]; then
  shift
  exec "$home/runtime/node" "$home/apps/server/src/main.mjs" "$@"
fi
exec "$home/runtime/node" "$home/apps/server/src/cli.mjs" "$@"
