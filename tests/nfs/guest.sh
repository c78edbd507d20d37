#!/bin/busybox sh
# SPDX-License-Identifier: MIT
#
# The first process of the virtual machine: an NFS server and three clients, each in a network of
# its own. It prints lines that begin with RESULT, and ends the machine.
# Programs of BusyBox come before others of their name: those are called by their whole path.
export PATH=/sbin:/bin
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs run /run
say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }
for module in $(cat /modules/order); do insmod "/modules/$module" || say "no $module"; done

# ---- The server. A restart of a real one has a time of grace, in which nobody gets a lock.
hostname server
/sbin/ip link set lo up
/sbin/ip link add br0 type bridge
/sbin/ip addr add 10.9.0.1/24 dev br0
/sbin/ip link set br0 up
mkdir -p /srv/x /var/lib/nfs/v4recovery /var/lib/nfs/sm
mount -t tmpfs x /srv/x
echo '/srv/x *(rw,no_root_squash,no_subtree_check,fsid=0,sync,insecure)' >/etc/exports
: >/var/lib/nfs/etab
: >/var/lib/nfs/rmtab
mount -t nfsd nfsd /proc/fs/nfsd
echo 10 >/proc/fs/nfsd/nfsv4gracetime
echo 15 >/proc/fs/nfsd/nfsv4leasetime
exportfs -r
rpc.mountd -N 3
rpc.nfsd -N 3 -V 4.2 4
say "threads of the server: $(cat /proc/fs/nfsd/threads)"

# ---- The clients. Without a name of its own, each would be the same one to the server.
mkdir -p /mnt/n
for i in 1 2 3; do
    unshare -n -u -m sh -c "hostname client$i; exec sleep 100000" &
    eval "client$i=$!"
done
sleep 1
on() { # CLIENT COMMAND...
    local pid
    eval "pid=\$client$1"
    shift
    nsenter -t "$pid" -n -u -m "$@"
}
for i in 1 2 3; do
    eval "pid=\$client$i"
    /sbin/ip link add "v$i" type veth peer name "w$i"
    /sbin/ip link set "v$i" master br0 up
    /sbin/ip link set "w$i" netns "$pid"
    on $i /sbin/ip link set lo up
    on $i /sbin/ip addr add "10.9.0.1$i/24" dev "w$i"
    on $i /sbin/ip link set "w$i" up
done
for i in 1 2 3; do
    on $i mount -t nfs4 -o "vers=4.2,nosharecache,addr=10.9.0.1,clientaddr=10.9.0.1$i" \
        10.9.0.1:/ /mnt/n || say "client $i has no mount"
done
on 1 grep ' nfs4 ' /proc/mounts
sleep 12

# ---- Writers of one shard
write() { # NAME SECONDS CLIENTS...: a writer for each
    local name=$1 seconds=$2 writer=0 pids='' failed=0
    shift 2
    nfs-actor make "/srv/x/$name" 6000
    rm -f /run/ack* /run/err*
    for client in "$@"; do
        on "$client" nfs-actor write "/mnt/n/$name" a $((writer * 1000)) 1000 "$seconds" \
            >"/run/ack$writer" 2>"/run/err$writer" &
        pids="$pids $!"
        writer=$((writer + 1))
    done
    for pid in $pids; do wait "$pid" || failed=$((failed + 1)); done
    sed 's/^/    /' /run/err*
    cat /run/ack* | sort >/run/acknowledged
    nfs-actor read "/srv/x/$name" a | sort >/run/stored
    cat /run/stored /run/stored /run/acknowledged | sort | uniq -c | awk '$1 == 1' >/run/lost
    locks=$(ls -A "/srv/x/$name/a/c" | grep -c 'zb-lock$')
    echo "RESULT $name acknowledged=$(wc -l </run/acknowledged) stored=$(wc -l </run/stored)" \
        "lost=$(wc -l </run/lost) failed=$failed locks=$locks"
}
seconds=$(sed 's/.*seconds=\([0-9]*\).*/\1/' /proc/cmdline)
say three clients, six writers
write shared "$seconds" 1 2 3 1 2 3
say one client, two writers
write one "$((seconds / 4))" 1 1
say three clients, six writers that take the file system for one of this machine
export ZARRBRIDGE_LOCKS=local
write local "$seconds" 1 2 3 1 2 3
unset ZARRBRIDGE_LOCKS

# ---- A client that has seen that there is no chunk, before another one stores it
look() { # NAME
    local missed=0 rounds=0
    nfs-actor make "/srv/x/$1" 200
    while [ $rounds -lt 10 ]; do
        on 2 nfs-actor read "/mnt/n/$1" c >/dev/null
        on 1 nfs-actor fill "/mnt/n/$1" $((rounds * 10)) 10
        rounds=$((rounds + 1))
        [ "$(on 2 nfs-actor read "/mnt/n/$1" c | wc -l)" = $((rounds * 10)) ] ||
            missed=$((missed + 1))
    done
    echo "RESULT $1 rounds=$rounds missed=$missed"
}
look fresh
ZARRBRIDGE_LOCKS=local look stale
say done
sync
echo o >/proc/sysrq-trigger
sleep 100
