#!/usr/bin/env bash
# docs/cluster.md on a real Slurm of one node, as it is printed there: three tasks of an array, one of them stopped half-way
# and queued again, and the merged file compared with that of one machine. Needs root and Debian's slurm-wlm and munge; changes
# nothing outside its folder but /run/munge. Usage: test/cluster/slurm.sh [FOLDER]
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="${1:-$(mktemp -d)}"
mkdir -p "$work/bin" "$work/spool" "$work/state" /run/munge
cd "$work"
printf '#!/bin/sh\nexec node "%s/bin/graduate.js" "$@"\n' "$root" > bin/graduate
chmod +x bin/graduate
export PATH="$work/bin:$PATH" SLURM_CONF="$work/slurm.conf"

# The table and the job of the page.
sed -e '1s/rfstime/time/; 1s/status/event/' "$root/test/tables/gbsg.csv" > table.csv
sed -n '/^#!\/bin\/sh/,/^```/p' "$root/docs/cluster.md" | sed '$d' > tune.sbatch
tune="$(sed -n 's/ --workers 1 --shard auto//; /^graduate tune/p' tune.sbatch)"

stop() { pkill -F "$work/slurmd.pid" 2>/dev/null; pkill -F "$work/slurmctld.pid" 2>/dev/null; pkill -F "$work/munged.pid" 2>/dev/null; true; }
trap stop EXIT
host="$(hostname -s)"
cat > slurm.conf <<X
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
X
head -c 1024 /dev/urandom > munge.key
chmod 600 munge.key
munged --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" --log-file="$work/munged.log" \
  --seed-file="$work/munge.seed" --force
slurmctld -c
slurmd -c
for _ in $(seq 60); do sinfo -h -o %T 2>/dev/null | grep -q idle && break; sleep 1; done
sinfo --version; sinfo

job="$(sbatch --parsable tune.sbatch)"
# The second task is stopped once it has made a run, and Slurm makes it start again.
for _ in $(seq 600); do [ "$(grep -c '"tune":1' runs.2-of-3.jsonl 2>/dev/null || true)" -ge 1 ] 2>/dev/null && break; sleep 0.1; done
scontrol requeue "${job}_2"
echo "task 2 was queued again with $(grep -c '"tune":1' runs.2-of-3.jsonl) of its runs made"
while squeue -h -j "$job" | grep -q .; do sleep 1; done
grep -h . tune-*.log | grep -E '^shard|already' || true

graduate merge runs.*-of-3.jsonl --out runs.jsonl
$tune > outcome.txt
rm -rf alone && mkdir alone && cd alone && ln -s ../table.csv table.csv
$tune > /dev/null
graduate merge runs.jsonl --out runs.jsonl
cd ..
cmp runs.jsonl alone/runs.jsonl
echo "the merged file is the same bytes as that of one machine: $(wc -l < runs.jsonl) runs"
