#!/bin/bash
# Tune on the nodes of a Slurm job: sbatch slurm.sh
# The first node runs the scheduler and lsmtune, each other node one worker.
#SBATCH --job-name=lsmtune
#SBATCH --nodes=5
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=08:00:00
#SBATCH --signal=TERM@120
set -euo pipefail

KEYS=$HOME/lsmtune-keys                 # all files of `lsmtune hosts init`, without ca-key.pem
STUDIES=$HOME/lsmtune-data              # the studies, also for the next job
DISK=${TMPDIR:-/tmp}/lsmtune-worker     # on each node: a folder on the disk to measure

workers=$((SLURM_JOB_NUM_NODES - 1))
address=tls://$(hostname -I | cut -d ' ' -f 1):8786

trap 'kill $(jobs -p)' EXIT

lsmtune hosts start --listen "$address" --certificates "$KEYS" &
# All cores of a node: since Slurm 22.05, a step gets one core unless it asks for more.
srun --relative=1 --nodes="$workers" --ntasks="$workers" --cpus-per-task="$SLURM_CPUS_ON_NODE" \
    lsmtune worker "$address" --certificates "$KEYS" --home "$DISK" &
for _ in {1..60}; do
    free=$(lsmtune hosts list "$address" --certificates "$KEYS" --json | grep -c '"problem": null') || true
    [ "$free" = "$workers" ] && break
    sleep 5
done

lsmtune tune --study on-slurm --hosts "$address" --certificates "$KEYS" --home "$STUDIES"
