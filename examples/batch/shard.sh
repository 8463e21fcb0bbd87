#!/bin/sh
# One shard of a test by toys. Its number: Slurm's array index, from 1, or HTCondor's process number, from 0, after FIRST.
# A job that was stopped and is started again goes on with the toys that its store has.
set -eu
here=${BATCH_FOLDER:-$(dirname "$0")}
. "$here/settings.sh"
shard=${SLURM_ARRAY_TASK_ID:-$((${CONDOR_PROCESS:?no number of a shard: neither SLURM_ARRAY_TASK_ID nor CONDOR_PROCESS is set} + FIRST))}
[ "$shard" -le "$SHARDS" ] || exit 0 # HTCondor queues a job for each shard, also for those before FIRST
threads=${SLURM_CPUS_PER_TASK:-${CONDOR_CPUS:-1}}
exec "$PARITAS" hypotest-toys "$WORKSPACE" --mu "$MU" --ntoys "$TOYS" --seed "$SEED" --shard "$shard/$SHARDS" --store "$STORES/shard_$shard.db" --resume \
    --threads "$threads" --device cpu --json --quiet -o "$STORES/shard_$shard.json"
