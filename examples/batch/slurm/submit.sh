#!/bin/sh
# Submits the array of shards, and the merge that waits for all of them.
set -eu
BATCH_FOLDER=$(cd "$(dirname "$0")/.." && pwd) # Slurm runs a copy of a script, elsewhere
export BATCH_FOLDER
. "$BATCH_FOLDER/settings.sh"
toys=$(sbatch --parsable --array="$FIRST-$SHARDS" "$BATCH_FOLDER/slurm/toys.sbatch")
sbatch --dependency="afterok:${toys%%;*}" --kill-on-invalid-dep=yes "$BATCH_FOLDER/slurm/merge.sbatch"
