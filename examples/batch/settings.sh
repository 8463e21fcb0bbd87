# What is run: read by shard.sh and merge.sh; each setting may come from the environment instead.
: "${PARITAS:=paritas}"           # the program
: "${WORKSPACE:=workspace.json}"
: "${MU:=1}"                      # the tested value of the parameter of interest
: "${TOYS:=1000000}"              # of each hypothesis, over all shards
: "${SEED:=0}"
: "${SHARDS:=100}"
: "${FIRST:=1}"                   # the first shard to draw; the stores of those before it are there
: "${STORES:=.}"                  # the folder of the shards' stores and of the answer
