#!/usr/bin/env bash
# A scheduler on this machine, and a worker on each host over SSH.
#
#   ssh.sh copy HOST...               copies the certificates of a worker to the hosts
#   ssh.sh scheduler ADDRESS          starts the scheduler here
#   ssh.sh workers ADDRESS HOST...    starts a worker on each host
#   ssh.sh stop HOST...               ends these workers, and the scheduler
#
# ADDRESS is an address of this machine that the hosts can reach, such as tls://10.0.0.1:8786.
# HOST is a name that `ssh HOST` accepts without a password.
set -euo pipefail

KEYS=${KEYS:-keys}                          # here: the folder of `lsmtune hosts init`
BIN=${BIN:-lsmtune/bin}                     # on the hosts: the folder of the program lsmtune
WORKER_KEYS=${WORKER_KEYS:-lsmtune-keys}    # on the hosts: the certificates of a worker
WORKER_HOME=${WORKER_HOME:-lsmtune-worker}  # on the hosts: a folder on the disk to measure

copy() {
    for host in "$@"; do
        ssh "$host" "mkdir -p -m 700 $WORKER_KEYS"
        scp -p "$KEYS/ca.pem" "$KEYS/worker.pem" "$KEYS/worker-key.pem" "$host:$WORKER_KEYS/"
    done
}

scheduler() {
    nohup lsmtune hosts start --listen "$1" --certificates "$KEYS" >scheduler.log 2>&1 </dev/null &
    echo $! >scheduler.pid
}

workers() {
    local address=$1
    for host in "${@:2}"; do
        ssh "$host" "PATH=$BIN:\$PATH
            nohup lsmtune worker $address --certificates $WORKER_KEYS --home $WORKER_HOME \
                >$WORKER_HOME.log 2>&1 </dev/null &
            echo \$! >$WORKER_HOME.pid"
    done
}

# Ends a process only if it is still one of lsmtune.
end='pid=$(cat $file.pid) && grep -q lsmtune /proc/$pid/cmdline && kill $pid; rm -f $file.pid'

stop() {
    for host in "$@"; do
        ssh "$host" "file=$WORKER_HOME; $end"
    done
    bash -c "file=scheduler; $end"
}

case ${1:-} in
copy | scheduler | workers | stop) "$@" ;;
*) sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
