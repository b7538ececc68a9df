#!/bin/sh
# The first process of the small Linux. GUEST:READY means that the machine is up; a shell on the serial line follows.
export PATH=/bin:/sbin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mkdir -p /dev/pts /run/network
mount -t devpts pts /dev/pts
while read -r module; do insmod "/lib/modules/$module.ko" 2>/dev/null; done </lib/modules/order

hostname small-linux
ip link set lo up
acpid -d -c /etc/acpi -a /etc/acpi.map -M /etc/acpi.map >/dev/null 2>&1 &
httpd -p 80 -h /www
nc -ll -p 7 -e cat &

for port in /sys/class/virtio-ports/*; do
  read -r name 2>/dev/null <"$port/name" || continue
  mkdir -p /dev/virtio-ports
  ln -s "/dev/${port##*/}" "/dev/virtio-ports/$name"
done
agent=/dev/virtio-ports/org.qemu.guest_agent.0
if [ -e "$agent" ]; then
  qemu-ga -d -m virtio-serial -p "$agent" -t /run -l /tmp/agent.log && echo GUEST:AGENT >/dev/console
fi

# Takes into use what is added while the machine runs: cards, CPUs and memory.
echo online >/sys/devices/system/memory/auto_online_blocks 2>/dev/null
while :; do
  for card in /sys/class/net/eth*; do
    card=${card##*/}
    [ -e "/sys/class/net/$card" ] && [ ! -e "/run/network/$card" ] || continue
    : >"/run/network/$card"
    ip link set "$card" up
    udhcpc -i "$card" -s /etc/address.sh -t 3 -T 2 -A 2 -b >/dev/null 2>&1 &
  done
  for card in /run/network/*; do
    [ -e "/sys/class/net/${card##*/}" ] || rm -f "$card"
  done
  for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
    read -r online 2>/dev/null <"$cpu" && [ "$online" = 0 ] && echo 1 >"$cpu"
  done
  sleep 1
done &

read -r uptime _ </proc/uptime
echo "GUEST:READY $uptime" >/dev/console
while :; do
  setsid -c sh -c 'stty -echo; PS1= exec sh' <>/dev/ttyS0 >&0 2>&1
  sleep 1
done
