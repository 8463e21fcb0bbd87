#!/bin/sh
# Pools the stores of all shards into all.db, and writes the answer of the run that was not cut into answer.json. A shard that is missing, not of this run or
# not at its end is an error, and an older answer stays.
set -eu
here=${BATCH_FOLDER:-$(dirname "$0")}
. "$here/settings.sh"
shard=1
while [ "$shard" -le "$SHARDS" ]; do
    set -- "$@" "$STORES/shard_$shard.db"
    shard=$((shard + 1))
done
rm -f "$STORES/all.part" # of a merge that lacked a shard
"$PARITAS" merge "$@" -o "$STORES/all.part" --json --quiet >"$STORES/answer.part"
mv "$STORES/all.part" "$STORES/all.db"
mv "$STORES/answer.part" "$STORES/answer.json"
