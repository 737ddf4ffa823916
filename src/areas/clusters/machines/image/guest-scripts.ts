/** What a guest says on its console when its kernel runs our programs. */
export const BOOTED = 'tenantry-worker: booted';

/** Where things are in a worker, whoever runs it. */
export const GUEST = {
  product: '/opt/tenantry',
  node: '/usr/bin/node',
  settings: '/run/tenantry',
  data: '/var/lib/tenantry',
} as const;

/** Names of the files with a worker's settings. */
export const SETTINGS = {
  hostname: 'hostname',
  hosts: 'hosts',
  resolver: 'resolv.conf',
  mac: 'mac',
  address: 'address',
  gateway: 'gateway',
  join: 'join.json',
} as const;

/**
 * The first program of a guest, in the memory that its kernel begins with: finds the disks (a: the image, b: its own, c: its settings) and goes
 * on in the image. With `tenantry.probe` it only tells that it came so far.
 */
export const FIRST_INIT = `#!/bin/busybox sh
export PATH=/bin
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
read -r line < /proc/cmdline
disk=vd
probe=
for word in $line; do
  case $word in
    tenantry.disk=*) disk=\${word#*=} ;;
    tenantry.probe) probe=1 ;;
  esac
done
modules=/modules/$($b uname -r)
if [ -f $modules/order ]; then
  while read -r module; do $b insmod $modules/$module; done < $modules/order
fi
fail() {
  echo "tenantry-worker: $1"
  $b poweroff -f
}
# Large programs come in few pieces: each of them is a way to the host and back.
[ -d /sys/block/\${disk}a ] && echo 2048 > /sys/block/\${disk}a/queue/read_ahead_kb
$b mount -t ext4 -o ro,noload /dev/\${disk}a /image || fail 'the image cannot be mounted'
echo '${BOOTED}' "$($b uname -r)"
[ -z "$probe" ] || $b poweroff -f
$b mount -t ext4 -o noinit_itable,noatime /dev/\${disk}b /image/var || fail 'its disk cannot be mounted'
$b mount -t tmpfs -o mode=755 run /image/run
$b mkdir -m 700 /image${GUEST.settings}
$b tar -x -f /dev/\${disk}c -C /image${GUEST.settings} || fail 'its settings cannot be read'
$b mount --move /proc /image/proc
$b mount --move /sys /image/sys
$b mount --move /dev /image/dev
exec $b switch_root /image /bin/busybox init
`;

/** What busybox' init does, as the process that all others are children of. */
export const INITTAB = `::sysinit:/etc/start
::respawn:/etc/agent
::shutdown:/bin/sync
`;

/** Network, name, groups of processes: what the agent finds when it starts. */
export const START = `#!/bin/sh
cd ${GUEST.settings}
mount -t tmpfs -o mode=1777 tmp /tmp
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup
mkdir -p /var/lib /var/log /var/tmp
chmod 1777 /var/tmp
hostname -F ${SETTINGS.hostname}
cp ${SETTINGS.hosts} /run/hosts
cp ${SETTINGS.resolver} /run/resolv.conf
ip link set lo up
read -r mac < ${SETTINGS.mac}
for device in /sys/class/net/*; do
  read -r found < $device/address
  [ "$found" = "$mac" ] && break
done
device=\${device##*/}
ip address add "$(cat ${SETTINGS.address})" dev $device
ip link set $device up
ip route add default via "$(cat ${SETTINGS.gateway})" dev $device
echo 1 > /proc/sys/net/ipv4/ip_forward
modules=/lib/modules/$(uname -r)
if [ -f $modules/order ]; then
  while read -r module; do insmod $modules/$module; done < $modules/order
fi
`;

/**
 * The node agent; one that ends is started again, not at once. Certificates of the world's authorities are looked for when one is needed: to read
 * all of them first takes an emulated machine longer than to boot.
 */
export const AGENT = `#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/var/lib UV_THREADPOOL_SIZE=2 SSL_CERT_DIR=/etc/ssl/certs
${GUEST.node} --use-openssl-ca ${GUEST.product}/dist/worker.js --join ${GUEST.settings}/${SETTINGS.join} --data ${GUEST.data} < /dev/null
echo "tenantry-worker: the agent ended with $?"
sleep 1
`;
